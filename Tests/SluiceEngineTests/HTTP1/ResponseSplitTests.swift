#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// Responses in pieces. The result equals that of the whole response, and the work is linear in the number of bytes.
@Suite struct ResponseSplitTests {
    private static let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static let messages: [String] = [
        "", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 200\r\n\r\nold", "HTTP/1.1 204 No Content\r\nA: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: 1\r\nB:\t two words \r\nContent-Length: 12\r\nConnection: keep-alive\r\n\r\ntwelve bytesrest",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        chunkedHead + "5\r\nhello\r\n1;a=b\r\n \r\n00a;c\r\nlong world\r\n0;d\r\nX-T: 1\r\nHost: a\r\n\r\nnext",
        chunkedHead + "0\r\n\r\n", chunkedHead + "5\r\nhell", chunkedHead + "2\r\nokX",
        chunkedHead + "2\r\nok\r\n0\r\nbad\r\n\r\n",
        chunkedHead + "2\r\nok\r\n0\r\nA: x\ry\r\n\r\n", chunkedHead + "1;\u{1}",
        chunkedHead + "2\r\nok\r\n0\r\nA: 1\r\n" + String(repeating: "y", count: 300),
        "HTTP/1.1 101 Switching\r\n\r\n", "HTTP/1.1 200 OK\r\nA : 1\r\n\r\n", "HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: 1\nB: 2\r\n\r\n", "HTTP/1.1 200 OK\r\nA: \rB\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: \0B\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\rX\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "HELLO\r\n\r\n",
        "HTTP/2 200 \r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 300) + "\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 150) + "\r" + String(repeating: "x", count: 150)
            + "\r\n\r\n",
        "HTTP/1.1 200 " + String(repeating: "x", count: 300), "XTTP/1.1 200 " + String(repeating: "x", count: 300),
        "HTTP/1.1 200 OK\r\n" + String(repeating: "a:b\r\n", count: 60) + "\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
    ]

    @Test(arguments: messages)
    func everySplitOfAMessageGivesTheSameEvents(message: String) {
        let bytes = Array(message.utf8)
        var random = SplitGenerator(state: UInt64(bytes.count) &* 0x9E37_79B9 &+ 1)
        for limit in [220, 40, 17, 5, 4096] {
            let whole = ResponseReading(bytes, limit: limit)
            func check(_ cuts: [Int]) {
                let cut = ResponseReading(bytes, cutAt: cuts, limit: limit)
                #expect(cut.events == whole.events, "Cut at \(cuts), with a limit of \(limit)")
                if whole.events.last == "end" { #expect(cut.rest == whole.rest) }
                #expect(cut.parser.isReusable == whole.parser.isReusable)
                #expect(
                    ResponseReading.text(of: cut.parser.trailers) == ResponseReading.text(of: whole.parser.trailers)
                )
                #expect(cut.longestLeftover <= limit)
            }
            for cut in bytes.indices { check([cut]) }
            check(Array(bytes.indices))
            for _ in 0..<50 {
                let count = Int.random(in: 0...12, using: &random)
                check((0..<count).map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted())
            }
        }
    }

    /// Counts the examined bytes instead of measuring time. A line feed ends the search, so it does not count.
    @Test(arguments: [1000, 10_000, 100_000])
    func lineReceivedByteByByteIsScannedOnce(length: Int) {
        let bytes = Array("HTTP/1.1 204 OK\r\nA: \(String(repeating: "x", count: length))\r\n\r\n".utf8)
        let reading = ByteByByteParsing(bytes)
        #expect(reading.isComplete)
        let others = bytes.filter { $0 != 10 }
        #expect(reading.parser.examinedBytes == others.count)
    }

    @Test func chunkFramingIsConsumedAsItArrives() {
        let head = Array(Self.chunkedHead.utf8)
        let chunk = Array(("1;" + String(repeating: "x", count: 1000) + "\r\na\r\n").utf8)
        let bytes = head + Array(repeating: chunk, count: 60).joined() + Array("0\r\n\r\n".utf8)
        let reading = ResponseReading(bytes, cutAt: Array(bytes.indices))
        #expect(reading.events.last == "end")
        // Only lines of the head and the trailer section are prepended to the next piece.
        #expect(reading.longestLeftover < head.count)
        let others = head.filter { $0 != 10 }
        #expect(reading.parser.examinedBytes == others.count + 1)
        // One call for each byte, and one more for each event.
        #expect(reading.calls <= 2 * bytes.count)
    }

    /// A piece of the body is as large as the input allows.
    @Test func bodyIsDeliveredInTheFewestPieces() {
        let data = String(repeating: "x", count: 100_000)
        let known = ResponseReading("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n\(data)")
        #expect(known.calls == 3)
        let chunked = ResponseReading(Self.chunkedHead + "186a0\r\n\(data)\r\n0\r\n\r\n")
        #expect(chunked.calls == 3)
    }

    @Test func smallChunksTakeConstantCallsEach() {
        let text = Self.chunkedHead + String(repeating: "1\r\na\r\n", count: 10_000) + "0\r\n\r\n"
        let reading = ResponseReading(text)
        #expect(reading.events.last == "end")
        #expect(reading.calls == 10_002)
    }
}

/// Feeds a parser byte by byte from one growing buffer, so that tests of long lines take linear time.
private struct ByteByByteParsing {
    private(set) var parser = ResponseParser(for: .get, headLimit: 1 << 20)
    private(set) var isComplete = false

    init(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var position = 0
            for end in 1...bytes.count {
                let input = UnsafeRawBufferPointer(rebasing: bytes[..<end])
                loop: while true {
                    switch parser.next(in: input, from: &position) {
                    case .needsMore: break loop
                    case .end, .failed:
                        isComplete = parser.isComplete
                        break loop
                    case .head, .body, .informational: break
                    }
                }
            }
        }
    }
}

/// SplitMix64, so that each run uses the same cuts.
private struct SplitGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
#endif
