import Sluice
import SluiceHTTP
import SluiceTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Random forms of all kinds of parts, each from a seed.
@Suite struct RandomFormTests {
    private static let sizes = [0, 1, 2, 100, 5000, 131_072, 262_143, 262_144, 262_145, 600_000]

    private static let noise: Data = {
        var random = SeededGenerator(seed: 0)
        return Data((0..<80_000).flatMap { _ in withUnsafeBytes(of: random.next(), Array.init) })
    }()

    private static func bytes(using random: inout SeededGenerator) -> Data {
        let count = sizes.randomElement(using: &random) ?? 0
        return noise.dropFirst(Int.random(in: 0...30_000, using: &random)).prefix(count)
    }

    /// Returns a form, and the expected contents between its boundaries.
    private static func form(
        depth: Int,
        files: inout [TemporaryFile],
        using random: inout SeededGenerator
    ) throws -> (form: MultipartForm, contents: [Data]) {
        var form = MultipartForm(depth == 0 ? .formData : .mixed, using: &random)
        var contents: [Data] = []
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            let name = String(
                (0..<Int.random(in: 1...5, using: &random)).map { _ in "aü\"\n😀\r".randomElement() ?? "b" }
            )
            let data = bytes(using: &random)
            switch Int.random(in: 0..<(depth < 3 ? 6 : 4), using: &random) {
            case 0:
                form.append(.data(data, name: name, headers: Bool.random(using: &random) ? ["X-Y": "z"] : [:]))
            case 1:
                let file = try TemporaryFile(data)
                files.append(file)
                form.append(.file(file.url, name: name))
            case 2, 3:
                var chunks = Chunks()
                var rest = data
                while !rest.isEmpty {
                    let count = Int.random(in: 0...400_000, using: &random)
                    chunks.chunks.append(rest.prefix(count))
                    rest = rest.dropFirst(count)
                }
                form.append(.stream(chunks, length: Int64(data.count), name: name, fileName: name))
            default:
                let inner = try self.form(depth: depth + 1, files: &files, using: &random)
                form.append(.nested(inner.form, name: name))
                contents += inner.contents
                continue
            }
            contents.append(data)
        }
        return (form, contents)
    }

    @Test(arguments: 0..<20)
    func lengthAndContentsOfRandomFormsAreCorrect(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var files: [TemporaryFile] = []
        defer { for file in files { file.remove() } }
        let (form, contents) = try Self.form(depth: 0, files: &files, using: &random)
        let body = try await form.body().prepared(within: nil)
        let pieces = try await body.pieces()
        var rest = pieces.reduce(Data(), +)
        #expect(Int64(rest.count) == body.length)
        #expect(pieces.allSatisfy { !$0.isEmpty && $0.count <= 262_144 })
        // The contents follow in order, each after a head.
        let emptyLine = Data("\r\n\r\n".utf8)
        for content in contents {
            repeat {
                rest = rest[try #require(rest.firstRange(of: emptyLine)).upperBound...]
            } while !rest.starts(with: content) || !rest.dropFirst(content.count).starts(with: Data("\r\n--".utf8))
            rest = rest.dropFirst(content.count)
        }
        #expect(rest.suffix(4) == Data("--\r\n".utf8))
    }
}
