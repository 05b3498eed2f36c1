import Foundation
import SluiceTesting
import Testing

@testable import Sluice

/// Compares the page on the architecture, and the section of CONTRIBUTING.md on additions, with the sources: every file, folder, type
/// and member that they name exists.
@Suite struct ArchitectureTests {
    private static let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    private static let sources = SourceIndex(of: root.appending(path: "Sources"))

    private func page() throws -> String {
        try String(contentsOf: Self.root.appending(path: "Docs/Architecture.md"), encoding: .utf8)
    }

    @Test func namesOfThePageAreInTheSources() throws {
        let names = CodeSpan.all(in: try page())
        #expect(names.count > 200)
        #expect(names.filter { !Self.sources.contains($0) } == [])
    }

    @Test func namesOfAdditionsAreInTheSources() throws {
        let text = try String(contentsOf: Self.root.appending(path: "CONTRIBUTING.md"), encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n## ").first { $0.hasPrefix("Adding to Sluice") })
        let names = CodeSpan.all(in: section)
        #expect(names.count > 20)
        #expect(names.filter { !Self.sources.contains($0) } == [])
    }

    @Test func pageListsAllModulesAndFolders() throws {
        let rows = try page().split(separator: "\n").filter { $0.hasPrefix("| ") }.map(CodeSpan.spans)
        let modules = Self.sources.modules.filter { $0.key.hasPrefix("Sluice") }
        #expect(modules.count > 5)
        for (module, folders) in modules {
            let named =
                module == "Sluice"
                ? rows.flatMap { $0.first?.hasSuffix("/") == true ? $0 : [] }
                : rows.first { $0.first == module }.map { Array($0.dropFirst()) }
            #expect(named.map(Set.init) == Set(folders.map { "\($0)/" }), "\(module)")
        }
    }

    @Test(arguments: [
        "`Nowhere.swift`", "`NoSuchType`", "`Nowhere/`", "`Pipeline.noSuchMember`", "`Pipeline.noSuchMember(_:)`",
        "`NoSuchType.begin(_:)`", "`NoSuchType.Step.admit`", "`CallMachine.NoSuchStep.admit`",
        "`CallMachine.Step.admission`",
        // The type is declared elsewhere, and the member belongs to another one.
        "`HTTPCache.acquire`",
    ])
    func unknownNamesAreDetected(_ text: String) {
        let names = CodeSpan.all(in: "The type \(text) does it.")
        #expect(names.count == 1)
        #expect(names.allSatisfy { !Self.sources.contains($0) })
    }

    @Test(arguments: [
        "`Pipeline.swift`", "`Pipeline`", "`Pipeline/`", "`SluiceHTTP`", "`Pipeline.begin(_:_:caller:completion:)`",
        "`Pipeline.start`", "`CallMachine.Step.admit`", "`APIClient.Configuration`", "`Pipeline.within`",
    ])
    func namesOfTheSourcesAreAccepted(_ text: String) {
        let names = CodeSpan.all(in: text)
        #expect(names.count == 1)
        #expect(names.allSatisfy { Self.sources.contains($0) })
    }

    @Test func otherCodeIsIgnored() {
        let text = "`await`, `client.get(\"users/1\")`, `@unchecked Sendable`, `GET`\n```\n`NoSuchType`\n```\n"
        #expect(CodeSpan.all(in: text) == [])
    }

    @Test func requestOfThePageSucceeds() async throws {
        let server = try LoopbackServer()
        server.on("/users/1", .json(#"{"id":1,"name":"Ada"}"#))

        let client = APIClient(baseURL: server.url)
        let user: User = try await client.get("users/1").sender().value

        #expect(user == User(id: 1, name: "Ada"))
    }
}

/// A name in a code span of a page.
private enum CodeSpan: Equatable {
    case file(String)
    case folder(String)
    /// A type, or a member with the types around it.
    case declaration([String])

    /// The names in the code spans of a text. Code blocks do not count.
    static func all(in text: String) -> [CodeSpan] {
        text.components(separatedBy: "```").enumerated().filter { $0.offset.isMultiple(of: 2) }
            .flatMap { spans($0.element) }.compactMap(CodeSpan.init)
    }

    /// The contents of the code spans of a text.
    static func spans(_ text: some StringProtocol) -> [String] {
        text.components(separatedBy: "`").enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
    }

    init?(_ span: String) {
        if span.hasSuffix(".swift") {
            self = .file(span)
        } else if span.hasSuffix("/") {
            self = .folder(String(span.dropLast()))
        } else {
            guard let match = span.wholeMatch(of: /([A-Z]\w*(?:\.\w+)*)(?:\([\w:]*\))?/),
                // A method of HTTP or another word in capitals is not a name.
                span.contains(where: \.isLowercase)
            else { return nil }
            self = .declaration(match.1.split(separator: ".").map(String.init))
        }
    }
}

/// The declarations of all source files, by name.
private struct SourceIndex {
    private struct File {
        /// The types that the file declares or extends.
        var types: Set<String> = []
        var members: Set<String> = []
    }

    private static let typeKeywords: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
    private static let memberKeywords: Set<Substring> = ["func", "var", "let"]

    /// The folders at the top of each module.
    private(set) var modules: [String: Set<String>] = [:]
    private var names: Set<String> = []
    private var folders: Set<String> = []
    private var types: Set<String> = []
    private var files: [File] = []

    init(of root: URL) {
        for path in (try? FileManager.default.subpathsOfDirectory(atPath: root.path)) ?? [] {
            let parts = path.split(separator: "/").map(String.init)
            guard parts.last?.hasSuffix(".swift") == true else { continue }
            modules[parts[0], default: []].formUnion(parts.dropFirst().dropLast().prefix(1))
            folders.formUnion(parts.dropLast())
            names.formUnion(parts.suffix(1))
            guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else { continue }
            add(text)
        }
        // Modules without Swift code: the system libraries.
        let all = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        for name in all where modules[name] == nil { modules[name] = [] }
    }

    func contains(_ span: CodeSpan) -> Bool {
        switch span {
        case .file(let name): return names.contains(name)
        case .folder(let name): return folders.contains(name)
        case .declaration(let path):
            guard path.count > 1 else { return types.contains(path[0]) || modules[path[0]] != nil }
            guard path.dropLast().allSatisfy(types.contains) else { return false }
            return zip(path, path.dropFirst()).allSatisfy { type, member in
                files.contains { $0.types.contains(type) && $0.members.contains(member) }
            }
        }
    }

    private mutating func add(_ text: String) {
        var file = File()
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let line = Substring(line).drop { $0 == " " }
            if line.hasPrefix("//") { continue }
            if line.hasPrefix("case ") || line.hasPrefix("indirect case ") {
                file.members.formUnion(Self.cases(line))
                continue
            }
            let words = line.utf8.split { !$0.isOfWord }.map(Substring.init)
            if words.contains("init") { file.members.insert("init") }
            if words.first == "extension" {
                // The last word of the path of the type.
                let path = line.dropFirst("extension ".count).prefix { $0 == "." || $0.utf8.allSatisfy(\.isOfWord) }
                if let type = path.split(separator: ".").last { file.types.insert(String(type)) }
                continue
            }
            for (keyword, name) in zip(words, words.dropFirst()) {
                if Self.typeKeywords.contains(keyword) {
                    file.types.insert(String(name))
                    types.insert(String(name))
                    file.members.insert(String(name))
                } else if Self.memberKeywords.contains(keyword) {
                    file.members.insert(String(name))
                }
            }
        }
        files.append(file)
    }

    /// The names of the cases that a line declares, without the associated values.
    private static func cases(_ line: Substring) -> [String] {
        var depth = 0
        var text = ""
        for character in line {
            if character == "(" { depth += 1 }
            if depth == 0 { text.append(character) }
            if character == ")" { depth -= 1 }
        }
        return text.split(separator: ",").compactMap { part in
            part.split(separator: " ").first { !["indirect", "case"].contains($0) }.map { String($0) }
        }
    }
}

extension UInt8 {
    fileprivate var isOfWord: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
