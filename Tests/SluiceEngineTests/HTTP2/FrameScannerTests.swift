#if os(Linux)
import Testing

@testable import SluiceEngine

@Suite struct FrameScannerTests {
    private static let frames = [
        HTTP2Frame(.settings), HTTP2Frame(.data, stream: 1, [UInt8](repeating: 9, count: 300)),
        HTTP2Frame(.ping, [UInt8](repeating: 1, count: 8)), HTTP2Frame(.reset, stream: 0x7fff_ffff, [0, 0, 0, 8]),
        HTTP2Frame(.data, stream: 3, [UInt8](repeating: 0, count: 70_000)),
    ]

    @Test(arguments: [1, 2, 8, 9, 10, 13, 1000, 100_000])
    func headersAreFoundHoweverTheBytesArrive(_ size: Int) {
        let bytes = FrameScannerTests.frames.flatMap(\.bytes)
        var scanner = FrameScanner()
        var found: [FrameScanner.Header] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { scanner.scan($0) { found.append($0) } }
        }
        let expected = FrameScannerTests.frames.map {
            FrameScanner.Header(length: $0.payload.count, type: $0.type, stream: $0.stream)
        }
        #expect(found == expected)
    }

    @Test func reservedBitOfTheStreamIsIgnored() {
        var scanner = FrameScanner()
        var found: [FrameScanner.Header] = []
        ([0, 0, 0, 0, 0, 0x80, 0, 0, 5] as [UInt8]).withUnsafeBytes { scanner.scan($0) { found.append($0) } }
        #expect(found == [FrameScanner.Header(length: 0, type: 0, stream: 5)])
    }
}
#endif
