import Foundation
import SluiceTesting
import Testing

@testable import Sluice

@Suite struct CompressBodyTests {
    private static let words = Data(String(repeating: "so many words ", count: 200).utf8)

    private static func sent(
        _ body: RequestBody,
        headers: HTTPHeaders = ["Content-Type": "application/json"],
        by interceptor: CompressBody = CompressBody()
    ) async throws -> HTTPRequest {
        try await Attempts(.post, headers: headers, body: body).next(interceptor)
    }

    @Test func compressesLargeBodyReproducibly() async throws {
        let request = try await Self.sent(.data(Self.words))
        #expect(request.headers == ["Content-Type": "application/json", "Content-Encoding": "gzip"])
        #expect(request.body.isReplayable)
        let bytes = try await request.body.bytes()
        #expect(request.body.length == Int64(bytes.count))
        #expect(bytes.starts(with: [0x1F, 0x8B, 8]))
        #expect(bytes.count < Self.words.count / 10)
        // The gzip header has neither name nor time, so equal input gives equal output.
        let again = try await Self.sent(.data(Self.words)).body.bytes()
        #expect(again == bytes)
        #expect(bytes[4..<8] == Data(count: 4))
    }

    @Test(
        arguments: [
            ["Content-Encoding": "br"], ["content-encoding": "identity"], ["Content-Type": "image/png"],
            ["Content-Type": "IMAGE/JPEG; q=1"], ["Content-Type": "video/mp4"], ["Content-Type": "audio/ogg"],
            ["Content-Type": "application/zip"], ["Content-Type": "application/gzip"], ["Content-Type": "font/woff2"],
            ["Content-Type": "application/epub+zip"], ["Content-Range": "bytes 0-9/10"],
            ["Content-Type": "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
            ["Content-Digest": "sha-256=:x:"], ["Digest": "x"], ["Content-MD5": "x"],
        ] as [HTTPHeaders]
    )
    func skipsCompressedAndDigestBoundBodies(_ headers: HTTPHeaders) async throws {
        let request = try await Self.sent(.data(Self.words), headers: headers)
        #expect(request.headers == headers)
        #expect(request.body.length == Int64(Self.words.count))
    }

    @Test(arguments: ["image/svg+xml", "image/bmp", "text/plain", "application/x-ndjson", "nonsense", ""])
    func compressesOtherTypes(_ type: String) async throws {
        let request = try await Self.sent(.data(Self.words), headers: ["Content-Type": type])
        #expect(request.headers[.contentEncoding] == "gzip")
    }

    @Test func skipsSmallEmptyAndExcludedBodies() async throws {
        let small = CompressBody(minimumSize: 2801)
        #expect(try await !Self.sent(.data(Self.words), by: small).headers.contains(.contentEncoding))
        let enough = CompressBody(minimumSize: 2800)
        #expect(try await Self.sent(.data(Self.words), by: enough).headers.contains(.contentEncoding))
        #expect(try await !Self.sent(.none, by: CompressBody(minimumSize: 0)).headers.contains(.contentEncoding))
        #expect(
            try await !Self.sent(.data(Data()), by: CompressBody(minimumSize: -1)).headers.contains(.contentEncoding)
        )
        let excluded = CompressBody { $0.method == .put }
        #expect(try await !Self.sent(.data(Self.words), by: excluded).headers.contains(.contentEncoding))
    }

    @Test(arguments: [1_500, 100_000])
    func sendsIncompressibleBodyUnchanged(_ count: Int) async throws {
        var generator = SeededGenerator(seed: 1)
        let noise = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
        let request = try await Self.sent(.data(noise))
        #expect(!request.headers.contains(.contentEncoding))
        #expect(try await request.body.bytes() == noise)
    }

    @Test func compressesStreams() async throws {
        for length in [Int64(Self.words.count * 3), nil] {
            for isReplayable in [true, false] {
                let stream = RequestBody.stream(
                    Repeated(chunk: Self.words, count: 3),
                    length: length,
                    isReplayable: isReplayable
                )
                let request = try await Self.sent(stream)
                #expect(request.headers[.contentEncoding] == "gzip")
                #expect(request.body.length == nil)
                #expect(request.body.isReplayable == isReplayable)
                let bytes = try await request.body.bytes()
                if isReplayable { #expect(try await request.body.bytes() == bytes) }
                #expect(bytes.count < Self.words.count)
            }
        }
    }

    @Test(arguments: [8_399, 8_401])
    func checksLengthOfCompressedStream(_ length: Int) async throws {
        let stream = RequestBody.stream(Repeated(chunk: Self.words, count: 3), length: Int64(length))
        let request = try await Self.sent(stream)
        let error = await #expect(throws: SluiceError.self) { try await request.body.bytes() }
        #expect(error?.code == .bodyLengthMismatch)
    }

    @Test func missingFileFailsRequest() async throws {
        let missing = URL(filePath: "/nowhere/\(UUID().uuidString)")
        let error = await #expect(throws: SluiceError.self) { try await Self.sent(.file(missing)) }
        #expect(error?.code == .bodyUnavailable)
    }

    @Test func sendsSmallFileUnchanged() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try Data("small".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let request = try await Self.sent(.file(file))
        #expect(!request.headers.contains(.contentEncoding))
        let body = try await request.body.prepared(within: nil)
        #expect(try await body.bytes() == Data("small".utf8))
    }

    @Test(arguments: [-5, 0, 1, 9, 10, .max])
    func acceptsAnyLevel(_ level: Int) async throws {
        #expect(try await Self.sent(.data(Self.words), by: CompressBody(level: level)).body.length ?? 0 < 100)
    }
}

extension RequestBody {
    fileprivate func bytes() async throws -> Data { try await pieces().reduce(Data(), +) }
}

/// The same chunk several times. Each iterator starts at the first one.
private struct Repeated: AsyncSequence, Sendable {
    let chunk: Data
    let count: Int

    func makeAsyncIterator() -> Iterator { Iterator(chunk: chunk, left: count) }

    struct Iterator: AsyncIteratorProtocol {
        let chunk: Data
        var left: Int

        mutating func next() async -> Data? {
            guard left > 0 else { return nil }
            left -= 1
            return chunk
        }
    }
}
