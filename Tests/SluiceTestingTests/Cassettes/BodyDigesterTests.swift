import Foundation
import SluiceHTTP
import Testing

@testable import SluiceTesting

/// Digests by which a cassette compares bodies that it does not hold in memory.
@Suite struct BodyDigesterTests {
    private static func digest(
        _ pieces: [Data],
        _ type: String,
        _ redaction: CassetteRedaction = .standard
    ) throws -> BodyDigest {
        var digester = BodyDigester([.contentType: type], redaction)
        for piece in pieces { digester.append(piece) }
        return try digester.finish()
    }

    private static func digest(_ text: String, boundary: String) throws -> BodyDigest {
        try digest([Data(text.utf8)], "multipart/form-data; boundary=\"\(boundary)\"")
    }

    /// Returns the bytes in pieces of random lengths.
    private static func pieces(of bytes: Data, _ random: inout SeededGenerator) -> [Data] {
        var rest = bytes[...]
        var pieces: [Data] = []
        while !rest.isEmpty {
            let count = Int.random(in: 0...min(rest.count, 40_000), using: &random)
            pieces.append(Data(rest.prefix(Bool.random(using: &random) ? count : min(3, rest.count))))
            rest = rest.dropFirst(pieces.last?.count ?? 0)
        }
        return pieces
    }

    private struct Part {
        let name: String
        var content: String
    }

    private static func form(_ parts: [Part], boundary: String) -> String {
        parts.map {
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"\($0.name)\"\r\n\r\n\($0.content)\r\n"
        }.joined() + "--\(boundary)--\r\n"
    }

    private static func randomText(_ count: Int, _ random: inout SeededGenerator) -> String {
        // Line breaks and hyphens look like the beginning of a boundary, but no boundary of the tests has these letters.
        let letters = Array("\r\n--bxyz{}\":")
        return String((0..<count).map { _ in letters.randomElement(using: &random) ?? "x" })
    }

    @Test func bodyOfAnyOtherTypeHasTheDigestOfItsBytes() throws {
        var random = SeededGenerator(seed: 1)
        for type in ["application/octet-stream", "application/json", "", "multipart/form-data"] {
            for count in [0, 1, 1000, 300_000] {
                let bytes = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
                let digest = try Self.digest(Self.pieces(of: bytes, &random), type)
                #expect(digest.length == Int64(count))
                #expect(digest.sha256 == SystemSHA256.hexDigest(of: bytes))
                #expect(digest == BodyDigest(of: bytes))
            }
        }
    }

    /// The digest of a form depends on its fields only, however it is split and whatever its boundary is.
    @Test func formHasTheSameDigestWithAnyBoundaryAndAnySplit() async throws {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<20 {
            let parts = (0..<Int.random(in: 0...4, using: &random)).map { number in
                let isLong = Int.random(in: 0..<5, using: &random) == 0
                let count = Int.random(in: 0...(isLong ? 100_000 : 30), using: &random)
                return Part(name: "field\(number)", content: Self.randomText(count, &random))
            }
            let expected = try Self.digest(Self.form(parts, boundary: "qq"), boundary: "qq")
            for boundary in ["b0undary", "a", "----WebKitFormBoundary7MA4YWxkTrZu0gW", "with space"] {
                let form = Data(Self.form(parts, boundary: boundary).utf8)
                let type = "multipart/form-data; boundary=\"\(boundary)\""
                let digest = try Self.digest(Self.pieces(of: form, &random), type)
                #expect(digest == expected, "\(boundary): \(parts)")
                // Lets other tests go on, some of which measure time.
                await Task.yield()
            }
        }
    }

    @Test func secretPartsDoNotChangeTheDigest() throws {
        let long = String(repeating: "s3cret", count: FormNormalizer.partLimit)
        var digests: Set<BodyDigest> = []
        for secret in ["x", "another", long, long + "!"] {
            let parts = [Part(name: "title", content: "1"), Part(name: "password", content: secret)]
            let form = Self.form(parts, boundary: secret == "x" ? "b" : "c")
            digests.insert(try Self.digest(form, boundary: secret == "x" ? "b" : "c"))
        }
        #expect(digests.count == 1)
        let json = [#"{"token":"a","id":1}"#, #"{"token":"b","id":1}"#].map { [Part(name: "body", content: $0)] }
        let own = try json.map { try Self.digest(Self.form($0, boundary: "b"), boundary: "b") }
        #expect(own[0] == own[1])
        let open = try json.map {
            let type = "multipart/form-data; boundary=b"
            return try Self.digest([Data(Self.form($0, boundary: "b").utf8)], type, .none)
        }
        #expect(open[0] != open[1], "Nothing is secret without rules.")
    }

    @Test func everyOtherChangeChangesTheDigest() throws {
        let parts = [Part(name: "a", content: "1"), Part(name: "b", content: String(repeating: "x", count: 100_000))]
        var changed: [[Part]] = [parts, parts + [Part(name: "c", content: "")], parts.reversed(), [parts[0]]]
        changed.append([parts[0], Part(name: "b", content: parts[1].content + "y")])
        changed.append([parts[0], Part(name: "c", content: parts[1].content)])
        changed.append([Part(name: "a", content: "2"), parts[1]])
        let digests = try changed.map { try Self.digest(Self.form($0, boundary: "b"), boundary: "b") }
        #expect(Set(digests).count == changed.count)
    }

    /// Bytes that are no form have the same digest however they are split.
    @Test func malformedFormsHaveOneDigest() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<200 {
            let words = ["--b", "\r\n", "--", "\r", "\n", "x", "Content-Type: a/b", "\r\n--b\r\n", "\r\n\r\n"]
            let text = (0..<Int.random(in: 0...20, using: &random))
                .map { _ in words.randomElement(using: &random) ?? "" }.joined()
            let type = "multipart/mixed; boundary=b"
            let whole = try Self.digest([Data(text.utf8)], type)
            for _ in 0..<5 {
                #expect(try Self.digest(Self.pieces(of: Data(text.utf8), &random), type) == whole, "\(text)")
            }
            #expect(try Self.digest(text.utf8.map { Data([$0]) }, type) == whole, "\(text)")
        }
    }

    @Test func headWithoutAnEndTakesLittleMemory() throws {
        let start = Data("--b\r\nX: ".utf8)
        let piece = Data(repeating: UInt8(ascii: "x"), count: 10_000)
        var normalizer = FormNormalizer(boundary: "b", .standard)
        var count = normalizer.append(start).reduce(0) { $0 + $1.count }
        for _ in 0..<100 { count += normalizer.append(piece).reduce(0) { $0 + $1.count } }
        #expect(count > 900_000, "The bytes pass.")
    }

    @Test func headAroundTheLimitHasOneDigest() throws {
        var random = SeededGenerator(seed: 6)
        for length in (FormNormalizer.partLimit - 4)...(FormNormalizer.partLimit + 4) {
            let head = "\r\nX: " + String(repeating: "x", count: length - 5)
            let form = Data("--b\(head)\r\n\r\n\r\n--b--\r\n".utf8)
            let type = "multipart/mixed; boundary=b"
            let whole = try Self.digest([form], type)
            for _ in 0..<5 { #expect(try Self.digest(Self.pieces(of: form, &random), type) == whole, "\(length)") }
            #expect(try Self.digest([form.dropLast(20), form.suffix(20)], type) == whole)
        }
    }

    @Test(
        arguments: [
            ("", 1), (String(repeating: "a", count: 63), 1), (String(repeating: "A", count: 64), 1),
            (String(repeating: "a", count: 64), -1), ("../" + String(repeating: "a", count: 61), 1),
        ] as [(String, Int64)]
    )
    func invalidDigestIsRefused(_ text: String, _ length: Int64) {
        #expect(BodyDigest(length: length, sha256: text) == nil)
    }
}
