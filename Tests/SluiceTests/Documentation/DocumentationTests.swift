import Foundation
import Testing

/// Compares the pages with the code of this folder, of `SluiceRedisTests` and of the examples: every Swift block of a page is compiled and
/// run there.
@Suite struct DocumentationTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    private static let root = (0..<3).reduce(folder) { url, _ in url.deletingLastPathComponent() }

    /// All pages: the README, the page for contributors, the articles and the guides.
    static var pages: [String] {
        ["README.md", "CONTRIBUTING.md"]
            + ["Sources/Sluice/Sluice.docc", "Docs"].flatMap { folder in
                let path = root.appending(path: folder).path
                let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
                return names.filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
            }
    }

    private static let pagesWithoutCode = [
        "Docs/Performance.md", "Docs/Reliability.md", "Docs/Security.md", "Docs/Stability.md",
        "Sources/Sluice/Sluice.docc/Deployment.md",
    ]

    @Test func pagesAreFound() {
        #expect(Self.pages.count > 25)
    }

    @Test(arguments: pages)
    func everyBlockOfAPageIsCompiled(_ page: String) throws {
        let text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
        let code = try Self.codeFiles().map { lines(try String(contentsOf: $0, encoding: .utf8)) }
            .joined(separator: "\n")
        let blocks = text.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
            .filter { block in
                // Blocks of a package manifest cannot be compiled here.
                ![".package", ".product", "// swift-tools-version"].contains { block.hasPrefix($0) }
            }
        #expect(!blocks.isEmpty || Self.pagesWithoutCode.contains(page))
        for block in blocks {
            let isCompiled = code.contains(lines(block))
            #expect(isCompiled, "No test contains this block:\n\(block)")
        }
    }

    @Test func theImageOfTheServiceHasThePackagesOfThePageOnDeployment() throws {
        func packages(_ path: String) throws -> String? {
            try String(contentsOf: Self.root.appending(path: path), encoding: .utf8).split(separator: "\n")
                .first { $0.contains("--no-install-recommends") }.map(String.init)
        }
        let ofPage = try #require(try packages("Sources/Sluice/Sluice.docc/Deployment.md"))
        #expect(try packages("Examples/Service/Dockerfile") == ofPage)
    }

    /// Returns the files that are compiled and run. The code of the article on Redis needs the product for it, and code that needs other
    /// packages is in the tests of an example, which `Examples/check` runs.
    private static func codeFiles() throws -> [URL] {
        let examples = root.appending(path: "Examples")
        let folders =
            [folder, root.appending(path: "Tests/SluiceRedisTests/Documentation")]
            + (try names(in: examples)).map { examples.appending(path: "\($0)/Tests") }.flatMap { tests in
                ((try? names(in: tests)) ?? []).map { tests.appending(path: $0) }
            }
        return try folders.flatMap { folder in try names(in: folder).map { folder.appending(path: $0) } }
            .filter { $0.pathExtension == "swift" }
    }

    private static func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
    }

    /// Returns the text without indentation, empty lines and imports, which differ between a page and a class, and without `@main`,
    /// because tests have their own entry point.
    private func lines(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("import ") }
            .joined(separator: "\n").replacing("@main struct", with: "struct")
    }
}
