import Foundation
import Testing

/// Runs every target on the inputs that earlier fuzzing runs kept, including all that once failed.
struct CorpusTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Corpus")

    @Test(arguments: FuzzTarget.all.map(\.name))
    func keptInputsViolateNoInvariant(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let folder = Self.corpus.appending(path: name)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        #expect(!files.isEmpty)
        for file in files.sorted() {
            let input = try Data(contentsOf: folder.appending(path: file))
            do {
                try input.withUnsafeBytes { try target.check($0) }
            } catch {
                Issue.record("\(name)/\(file): \(error)")
            }
        }
    }

    @Test func everyCorpusFolderBelongsToATarget() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path())
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }

    @Test func everyTargetAcceptsEmptyInput() throws {
        for target in FuzzTarget.all { try target.check(UnsafeRawBufferPointer(start: nil, count: 0)) }
    }
}
