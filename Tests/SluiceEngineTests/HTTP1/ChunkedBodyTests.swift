#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// Chunked bodies and the trailer section after them (RFC 9112 §7.1).
@Suite struct ChunkedBodyTests {
    private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static func reading(_ body: String, limit: Int = 4096) -> ResponseReading {
        ResponseReading(head + body, limit: limit)
    }

    @Test(arguments: [
        ("0\r\n\r\n", ""), ("000000000000000\r\n\r\n", ""), ("2\r\nok\r\n0\r\n\r\n", "ok"),
        ("2\r\nok\r\n1\r\n!\r\n0\r\n\r\n", "ok!"), ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
        ("a\r\n0123456789\r\n00\r\n\r\n", "0123456789"), ("000000000000002\r\nok\r\n0\r\n\r\n", "ok"),
        ("4\r\n\r\n0\r\r\n0\r\n\r\n", "\r\n0\r"), ("2;a=b\r\nok\r\n0;c\r\n\r\n", "ok"),
        ("2;\r\nok\r\n0\r\n\r\n", "ok"),
        ("2 ;a\r\nok\r\n0 \t ;\r\n\r\n", "ok"), ("2;a=\"x;\ty\" ; é\r\nok\r\n0\r\n\r\n", "ok"),
    ])
    func chunksAreJoined(text: String, body: String) {
        let reading = Self.reading(text)
        #expect(reading.events.dropFirst() == (body.isEmpty ? ["end"] : ["body \(body)", "end"]))
        #expect(reading.parser.isReusable)
        #expect(reading.parser.trailers.isEmpty)
        #expect(reading.rest == 0)
    }

    @Test(arguments: [
        "\r\n", "xyz\r\nabc\r\n0\r\n\r\n", "-1\r\n", "+1\r\na", "0x1\r\na", " 1\r\na", "1 \r\na", "1\t\r\na",
        "1 2\r\na", " ;a\r\nb", "1 \na",
        "1\na\r\n0\r\n\r\n", "1\r\r\na", "1\ra", ";a\r\n", "g\r\n", "G\r\n", ":\r\n", "@\r\n", "`\r\n", "/\r\n",
        "1000000000000000\r\n", "0000000000000000\r\n\r\n", "ffffffffffffffffff\r\n",
        "1\r\nab\r\n0\r\n\r\n", "2\r\nok0\r\n\r\n", "2\r\nok\n0\r\n\r\n", "2\r\nok\r0\r\n\r\n",
        "2\r\nok\r\r\n0\r\n\r\n",
        "1;a\nb\r\nx\r\n", "1;a\rb\r\nx\r\n", "1;a\0b\r\nx\r\n", "1;\u{7F}\r\nx\r\n", "1;\u{1}\r\nx\r\n",
        "2\r\nok\r\n\r\n", "2\r\nok\r\n\r\n0\r\n\r\n",
    ])
    func rejectsMalformedChunks(text: String) {
        #expect(Self.reading(text).events.last == ResponseReading.failed(.malformedChunk))
    }

    /// Up to the largest chunk size. The data of the chunk is not needed.
    @Test(arguments: [("fffffffffffffff", Int64(1) << 60 - 1), ("000000000000010", 16), ("7f", 127)])
    func chunkSizeHasUpTo15Digits(digits: String, count: Int64) {
        let reading = ResponseReading(Self.head + digits + "\r\nx", thenClose: false)
        #expect(reading.events.last == "body x")
        #expect(reading.parser.bytesLeft == nil)
        var body = ChunkedBody()
        var position = 0
        let bytes = Array((digits + "\r\n").utf8) + [UInt8](repeating: 120, count: 200)
        let step = try? bytes.withUnsafeBytes { try body.next(in: $0, from: &position) }
        let start = digits.utf8.count + 2
        #expect(step == .data(start..<start + Int(min(count, 200))))
    }

    @Test(arguments: [(4096, true), (4097, false)])
    func extensionsOfOneChunkAreLimited(length: Int, fits: Bool) {
        let text = "1" + ";" + String(repeating: "x", count: length - 1) + "\r\na\r\n0\r\n\r\n"
        let last = Self.reading(text).events.last
        #expect(last == (fits ? "end" : ResponseReading.failed(.chunkExtensionsTooLong)))
    }

    /// Each byte of data allows another one, and 64 precede the last extension.
    @Test(arguments: [(64 << 10 + 64, true), (64 << 10 + 65, false)])
    func extensionsOfAllChunksAreLimited(sum: Int, fits: Bool) {
        let lengths = Array(repeating: 1024, count: sum / 1024) + (sum % 1024 > 0 ? [sum % 1024] : [])
        let chunks = lengths.map { "1;" + String(repeating: "x", count: $0 - 1) + "\r\na\r\n" }
        let last = Self.reading(chunks.joined() + "0\r\n\r\n").events.last
        #expect(last == (fits ? "end" : ResponseReading.failed(.chunkExtensionsTooLong)))
    }

    @Test func longBodyMayHaveAnExtensionInEachChunk() {
        let chunk = "400;" + String(repeating: "x", count: 1000) + "\r\n" + String(repeating: "a", count: 1024) + "\r\n"
        let last = Self.reading(String(repeating: chunk, count: 100) + "0\r\n\r\n").events.last
        #expect(last == "end")
    }

    @Test func endlessExtensionIsRejectedBeforeItsEnd() {
        let reading = ResponseReading(Self.head + "1;" + String(repeating: "x", count: 5000), thenClose: false)
        #expect(reading.events.last == ResponseReading.failed(.chunkExtensionsTooLong))
    }

    @Test func trailersAreNotMergedIntoTheHeaders() {
        let text =
            "HTTP/1.1 100 Continue\r\n\r\n" + Self.head + "0\r\nX-A: 1\r\nx-a:2\r\nB:\r\nContent-Length: 5\r\n"
            + "transfer-encoding: gzip\r\nHOST: x\r\nTrailer: x\r\nConnection: close\r\nSet-Cookie: a=b\r\n\r\nrest"
        let reading = ResponseReading(text)
        #expect(
            reading.events == [
                "informational HTTP/1.1 100", "head HTTP/1.1 200 Transfer-Encoding: chunked", "end",
            ]
        )
        let trailers = ResponseReading.text(of: reading.parser.trailers)
        #expect(trailers == "X-A: 1 | x-a: 2 | B:  | Connection: close | Set-Cookie: a=b")
        #expect(reading.parser.isReusable, "A Connection trailer must not affect reuse.")
        #expect(reading.rest == 4)
    }

    @Test(arguments: [
        "no colon", " A: 1", "A : 1", "A: 1\r\n 2", "A: 1\nB: 2", "A: \0", ": 1", "A: x\ry", "\rX", "\n",
        "HTTP/1.1 200 OK", "Content-Length : 5",
    ])
    func rejectsMalformedTrailers(line: String) {
        let events = Self.reading("0\r\n\(line)\r\n\r\n").events
        #expect(events.last == ResponseReading.failed(.malformedTrailer))
    }

    @Test func trailersCountTowardsTheLimitOnHeads() {
        let section = "X: 12345\r\n\r\n"
        let limit = Self.head.utf8.count + section.utf8.count
        let body = "2;extensions are not counted here\r\nok\r\n0\r\n"
        #expect(Self.reading(body + section, limit: limit).events.last == "end")
        for less in 1...section.utf8.count {
            let last = Self.reading(body + section, limit: limit - less).events.last
            #expect(last == ResponseReading.failed(.trailersTooLarge(limit: limit - less)))
        }
    }

    @Test(arguments: [(1000, true), (1001, false)])
    func numberOfTrailersIsLimited(count: Int, fits: Bool) {
        let text = "0\r\n" + String(repeating: "a:\r\n", count: count) + "\r\n"
        let last = Self.reading(text, limit: 1 << 20).events.last
        #expect(last == (fits ? "end" : ResponseReading.failed(.tooManyFields)))
    }

    @Test func parsesChunksOfTheRequestWriter() {
        var bytes = Array(Self.head.utf8)
        var whole: [UInt8] = []
        for count in [1, 9, 10, 15, 16, 17, 255, 256, 4096, 0, 65_537] {
            RequestWriter.appendChunkHead(count, to: &bytes)
            guard count > 0 else { continue }
            let data = [UInt8](repeating: UInt8(ascii: "a") + UInt8(count % 26), count: count)
            bytes += data
            whole += data
            bytes.append(contentsOf: UnsafeBufferPointer(start: RequestWriter.chunkEnd.utf8Start, count: 2))
        }
        bytes.append(contentsOf: UnsafeBufferPointer(start: RequestWriter.lastChunk.utf8Start, count: 5))
        let reading = ResponseReading(bytes)
        #expect(reading.events.dropFirst() == ["body \(String(decoding: whole, as: UTF8.self))", "end"])
    }
}
#endif
