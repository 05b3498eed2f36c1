#if os(Linux)
import Fetching
import Foundation
import XCTest

/// The completions, the manual page and the README of `fetch` agree with its options and exit statuses.
final class FetchManualTests: XCTestCase {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
    private static let example = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        .appending(path: "Examples/Fetch")
    private static let names = Set(CommandOption.all.flatMap { [$0.long, $0.short].compactMap(\.self) })
    private static let statuses = Set(ExitStatus.allCases.map { "\($0.rawValue)" })

    override func setUp() {
        try? FileManager.default.createDirectory(at: folder.appending(path: "films"), withIntermediateDirectories: true)
        try? Data().write(to: folder.appending(path: "file name"))
    }

    override func tearDown() {
        try? FileManager.default.removeItem(at: folder)
    }

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: example.appending(path: name), encoding: .utf8)
    }

    /// The words of a text that are names of options.
    private static func names(in text: some StringProtocol) -> Set<String> {
        let words = text.split { !($0.isLetter || $0.isNumber || $0 == "-") }.map { String($0) }
        return Set(words.filter { $0.wholeMatch(of: #/--[a-z][a-z0-9-]*|-[A-Za-z]/#) != nil })
    }

    func testUsageNamesOptionsAndStatuses() {
        let usage = FetchOptions.usage
        let lines = usage.split(separator: "\n").filter { $0.hasPrefix("  -") || $0.hasPrefix("      --") }
        XCTAssertEqual(lines.reduce(into: Set()) { $0.formUnion(Self.names(in: $1.prefix(25))) }, Self.names)
        XCTAssertEqual(Set(usage.matches(of: #/\n  (\d+) /#).map { String($0.output.1) }), Self.statuses)
        XCTAssertTrue(usage.split(separator: "\n").allSatisfy { $0.count <= 80 }, "the usage fits into a terminal")
    }

    func testManualNamesOptionsAndStatuses() throws {
        let manual = try Self.text("fetch.1").replacing("\\-", with: "-")
        let headings = manual.matches(of: #/\.TP\n(\.BR? .*)/#).map { $0.output.1 }
        XCTAssertEqual(headings.reduce(into: Set()) { $0.formUnion(Self.names(in: $1)) }, Self.names)
        XCTAssertEqual(
            Set(headings.compactMap { $0.wholeMatch(of: #/\.B (\d+)/#).map { String($0.output.1) } }),
            Self.statuses
        )
        XCTAssertTrue(Self.names(in: manual).isSubset(of: Self.names))
        let readMe = try Self.text("README.md")
        XCTAssertEqual(Set(readMe.matches(of: #/\n\| (\d+) \|/#).map { String($0.output.1) }), Self.statuses)
    }

    func testManualHasNoWarnings() throws {
        try XCTSkipUnless(RealServer.canRun("groff"), "groff is not installed")
        let page = Self.example.appending(path: "fetch.1").path
        // The output of the programs includes their errors.
        XCTAssertEqual(try RealServer.run("groff", "-ww", "-man", "-Tutf8", "-z", page), "")
    }

    /// Returns the completions that bash offers for words.
    private func completions(_ words: [String]) throws -> [String] {
        let script = """
            cd "$2" && source "$1" || exit
            shift 2
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
            _fetch
            for reply in "${COMPREPLY[@]}"; do echo "$reply"; done
            """
        let path = Self.example.appending(path: "completions/fetch.bash").path
        let output = try RealServer.run("bash", ["-c", script, "bash", path, folder.path] + words)
        return output.split(separator: "\n").map(String.init)
    }

    func testBashCompletesOptionsAndValues() throws {
        try XCTSkipUnless(RealServer.canRun("bash"), "bash is not installed")
        try RealServer.run("bash", "-n", Self.example.appending(path: "completions/fetch.bash").path)
        XCTAssertEqual(Set(try completions(["fetch", "-"])), Self.names)
        let cases: [([String], [String])] = [
            (["fetch", "--li"], ["--limit-rate"]), (["fetch", "--o"], ["--output", "--overwrite"]),
            (["fetch", "-o", "file"], ["file name"]), (["fetch", "--output", "=", "fi"], ["films", "file name"]),
            (["fetch", "-d", ""], ["films"]), (["fetch", "--directory", "="], ["films"]),
            (["fetch", "-i", "file"], ["file name"]),
            (["fetch", "-j", "1"], ["1", "16"]), (["fetch", "--limit-rate", "=", "5"], ["500k", "5M"]),
            (["fetch", "--sha256", ""], []), (["fetch", "-H", ""], []),
            (["fetch", "-q", "htt"], ["http://", "https://"]),
        ]
        for (words, expected) in cases {
            XCTAssertEqual(try completions(words).sorted(), expected.sorted(), "\(words)")
        }
    }

    func testZshCompletesOptionsAndValues() async throws {
        let text = try Self.text("completions/_fetch")
        let specifications = text.split(separator: "\n").filter { $0.hasPrefix("    '") }.map {
            $0.prefix { $0 != "[" }
        }
        XCTAssertEqual(specifications.reduce(into: Set()) { $0.formUnion(Self.names(in: $1)) }, Self.names)
        try XCTSkipUnless(RealServer.canRun("zsh", "tmux"), "zsh or tmux is not installed")
        try RealServer.run("zsh", "-n", Self.example.appending(path: "completions/_fetch").path)
        let terminal = try await Terminal(in: folder, shell: "zsh -f -i")
        do {
            let path = Self.example.appending(path: "completions").path
            try await terminal.run("fpath=('\(path)' $fpath); autoload -Uz compinit; compinit -u -D; clear")
            try await terminal.wait { $0 == [">"] }
            for (typed, completed) in [
                ("fetch --lim\t5M -d fi\t --js\t", "> fetch --limit-rate=5M -d films --json"),
                ("fetch -q -i file\thttps\t", "> fetch -q -i file\\ name https://"),
            ] {
                try await terminal.type(typed)
                try await terminal.wait { $0.last == completed }
                try await terminal.press("C-u")
                try await terminal.wait { $0.last == ">" }
            }
            try await terminal.type("fetch -\t")
            try await terminal.wait { lines in
                Self.names.isSubset(of: lines.reduce(into: Set()) { $0.formUnion(Self.names(in: $1)) })
            }
        } catch {
            await terminal.end()
            throw error
        }
        await terminal.end()
    }
}
#endif
