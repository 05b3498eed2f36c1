import Foundation
import Testing

@testable import Sluice

/// Chunks of the given lengths, each filled with a different byte.
private struct Chunks: AsyncSequence, Sendable {
    let lengths: [Int]

    var whole: Data { lengths.enumerated().reduce(Data()) { $0 + Self.chunk($1.offset, $1.element) } }

    private static func chunk(_ index: Int, _ length: Int) -> Data {
        Data(repeating: UInt8(truncatingIfNeeded: index), count: length)
    }

    struct Iterator: AsyncIteratorProtocol {
        let lengths: [Int]
        var index = 0

        mutating func next() async -> Data? {
            guard index < lengths.count else { return nil }
            defer { index += 1 }
            return Chunks.chunk(index, lengths[index])
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(lengths: lengths) }
}

@Suite(.enabled(if: PythonServer.canRun, "python3 is not installed"), .serialized, .timeLimit(.minutes(10)))
struct MultipartTests {
    private typealias Part = MultipartServer.Part

    private let server: MultipartServer
    private let client: APIClient

    init() throws {
        server = try MultipartServer()
        client = APIClient(baseURL: server.url)
    }

    private func send(_ form: MultipartForm) async throws -> MultipartServer.Reading {
        var body = try form.body()
        body.contentType = form.contentType
        let request = client.codable.request("", as: MultipartServer.Reading.self)
        let reading = try await request.post().body(body).sender().value
        #expect(reading.type == "multipart/\(form.subtype.rawValue)")
        #expect(
            reading.defects
                == (form.parts.isEmpty ? ["StartBoundaryNotFoundDefect", "MultipartInvariantViolationDefect"] : [])
        )
        if let length = body.length { #expect(Int64(reading.length) == length) }
        return reading
    }

    private static func file(_ data: Data) throws -> URL {
        let url = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try data.write(to: url)
        return url
    }

    private static func pattern(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
    }

    /// Computes the digest with another program.
    private static func sha256(_ data: Data) throws -> String {
        let url = try file(data)
        defer { try? FileManager.default.removeItem(at: url) }
        return try RealServer.sha256(url)
    }

    @Test func parsesAllKindsOfParts() async throws {
        let data = Self.pattern(300_000)
        let file = try Self.file(Self.pattern(1_000_000))
        defer { try? FileManager.default.removeItem(at: file) }
        let chunks = Chunks(lengths: [1, 0, 300_000, 7])
        var form = MultipartForm()
        form.append(.text("Ada", name: "user"))
        form.append(.text("", name: "empty"))
        form.append(.text("{}", name: "meta", contentType: "application/json", headers: ["X-Extra": "more"]))
        form.append(.data(data, name: "picture", fileName: "a.png", contentType: "image/png"))
        form.append(.file(file, name: "archive", fileName: "a.tar.gz"))
        form.append(.stream(chunks, length: 300_008, name: "stream"))
        let reading = try await send(form)
        #expect(!reading.isChunked)
        let digests = try [data, Self.pattern(1_000_000), chunks.whole].map { try Self.sha256($0) }
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        let expected = [
            Part(name: "user", type: "text/plain", hasType: false, length: 3, text: "Ada"),
            Part(name: "empty", type: "text/plain", hasType: false, length: 0, sha256: empty, text: ""),
            Part(name: "meta", type: "application/json", extra: "more", length: 2, text: "{}"),
            Part(name: "picture", fileName: "a.png", type: "image/png", length: 300_000, sha256: digests[0]),
            Part(
                name: "archive",
                fileName: "a.tar.gz",
                type: "application/gzip",
                length: 1_000_000,
                sha256: digests[1]
            ),
            Part(name: "stream", type: "application/octet-stream", length: 300_008, sha256: digests[2]),
        ]
        #expect(reading.parts.count == expected.count)
        for (part, expected) in zip(reading.parts, expected) {
            var expected = expected
            expected.disposition = "form-data"
            if expected.sha256 == nil { expected.sha256 = part.sha256 }
            #expect(part == expected)
        }
    }

    @Test func parsesStreamWithoutLength() async throws {
        let chunks = Chunks(lengths: [100, 500_000])
        let reading = try await send([
            .text("a", name: "b"), .stream(chunks, name: "s", fileName: "s.bin"), .text("c", name: "d"),
        ])
        #expect(reading.isChunked)
        #expect(reading.parts.map(\.name) == ["b", "s", "d"])
        #expect(reading.parts[1].sha256 == (try Self.sha256(chunks.whole)))
        #expect(reading.parts[2].text == "c")
    }

    @Test func parsesNestedForms() async throws {
        let innermost = MultipartForm(.related).adding(.text("root", contentType: "text/html"), .data(Self.pattern(10)))
        let inner = MultipartForm(.mixed).adding(
            .text("A", fileName: "a.txt"),
            .nested(innermost),
            .text("", fileName: "b.txt")
        )
        let reading = try await send([
            .nested(inner, name: "files"), .nested(MultipartForm().adding(.text("v", name: "n")), name: "form"),
            .text("x", name: "y"),
        ])
        #expect(reading.parts.map(\.type) == ["multipart/mixed", "multipart/mixed", "text/plain"])
        #expect(reading.parts.map(\.name) == ["files", "form", "y"])
        let files = try #require(reading.parts[0].parts)
        #expect(files.map(\.type) == ["text/plain", "multipart/related", "text/plain"])
        #expect(files.map(\.disposition) == ["attachment", nil, "attachment"])
        #expect(files.map(\.fileName) == ["a.txt", nil, "b.txt"])
        #expect(files.map(\.text) == ["A", nil, ""])
        #expect(files[1].parts?.map(\.type) == ["text/html", "application/octet-stream"])
        #expect(files[1].parts?.map(\.length) == [4, 10])
    }

    @Test(arguments: ["größe 😀", "a;b=c, 'd' (e) <f> %41", "日本語.txt", "e\u{301}"])
    func transfersNamesUnchanged(name: String) async throws {
        let reading = try await send([.text("v", name: name, fileName: name)])
        #expect(reading.parts.map(\.name) == [name])
        #expect(reading.parts.map(\.fileName) == [name])
    }

    @Test func escapesNamesLikeBrowsers() async throws {
        let reading = try await send([.text("v", name: "a\"b\nc", fileName: "a\"b\nc")])
        #expect(reading.parts.map(\.name) == ["a%22b%0D%0Ac"])
        #expect(reading.parts.map(\.fileName) == ["a%22b%0Ac"])
    }

    /// Contents that start or end like a boundary.
    @Test(
        arguments: [
            "\r", "\n", "\r\n", "\r\n\r\n", "--", "\r\n--", "-", "\r\n--sluice", "a\r", "\ra",
            "Content-Type: x/y\r\n\r\n",
            "--b--", "b",
        ]
    )
    func transfersContentThatLooksLikeFraming(text: String) async throws {
        let reading = try await send([.text(text, name: "a"), .text(text, name: "b")])
        #expect(reading.parts.map(\.text) == [text, text])
    }

    @Test(arguments: ["b", "a b", "'()+_,-./:=?", String(repeating: "x", count: 70)])
    func acceptsAnyBoundary(boundary: String) async throws {
        let form = MultipartForm(boundary: boundary).adding(.text("1", name: "a"), .text("2", name: "b"))
        #expect(try await send(form).parts.map(\.text) == ["1", "2"])
    }

    @Test func sendsFormWithoutParts() async throws {
        #expect(try await send([]).parts.isEmpty)
    }

    @Test func parsesThousandsOfParts() async throws {
        let file = try Self.file(Data("from a file".utf8))
        defer { try? FileManager.default.removeItem(at: file) }
        var form = MultipartForm()
        for number in 0..<2000 {
            if number % 2 == 0 {
                form.append(.text("\(number)", name: "\(number)"))
            } else {
                form.append(.file(file, name: "\(number)"))
            }
        }
        let reading = try await send(form)
        #expect(reading.parts.map(\.name) == (0..<2000).map { "\($0)" })
        #expect(reading.parts.map(\.text) == (0..<2000).map { $0 % 2 == 0 ? "\($0)" : "from a file" })
    }
}
