import Foundation
import Testing

/// Holds the pages and the code of this folder together: what a page shows is compiled and run here.
@Suite struct DocumentationTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    private static let root = (0..<3).reduce(folder) { url, _ in url.deletingLastPathComponent() }

    /// The README, the page for contributors, the articles and the guides: all that there are, so that none can be forgotten.
    static var pages: [String] {
        ["README.md", "CONTRIBUTING.md"]
            + ["Sources/Sluice/Sluice.docc", "Docs"].flatMap { folder in
                let path = root.appending(path: folder).path
                let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
                return names.filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
            }
    }

    @Test func thePagesAreFound() {
        #expect(Self.pages.count > 25)
    }

    @Test(arguments: pages)
    func everyBlockOfAPageIsCompiledHere(_ page: String) throws {
        let text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
        let files = try FileManager.default.contentsOfDirectory(at: Self.folder, includingPropertiesForKeys: nil)
        let code = try files.map { lines(try String(contentsOf: $0, encoding: .utf8)) }.joined(separator: "\n")
        let blocks = text.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
            .filter { block in
                // What stands in a manifest.
                ![".package", ".product", "// swift-tools-version"].contains { block.hasPrefix($0) }
            }
        // What is measured and what is feared is told without code.
        #expect(!blocks.isEmpty || ["Docs/Reliability.md", "Docs/Security.md"].contains(page))
        for block in blocks {
            let isCompiled = code.contains(lines(block))
            #expect(isCompiled, "This is in no test:\n\(block)")
        }
    }

    /// The text without indentation, empty lines and imports, which differ between a page and a class; and without what makes a type
    /// the program's entry, of which a test has another.
    private func lines(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("import ") }
            .joined(separator: "\n").replacing("@main struct", with: "struct")
    }
}
