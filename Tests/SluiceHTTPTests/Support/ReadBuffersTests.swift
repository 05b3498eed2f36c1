import Testing

@testable import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite struct ReadBuffersTests {
    private static func fill(_ byte: UInt8, _ count: Int) -> (UnsafeMutableRawBufferPointer) -> Int {
        { buffer in
            let count = min(count, buffer.count)
            for index in 0..<count { buffer[index] = byte }
            return count
        }
    }

    private static func address(_ data: Data) -> UnsafeRawPointer? { data.withUnsafeBytes { $0.baseAddress } }

    @Test func bufferIsReusedAfterItsPieceIsReleased() {
        let buffers = ReadBuffers(size: 4096)
        var first = buffers.piece(upTo: 4096, Self.fill(1, 4096))
        let place = first.flatMap(Self.address)
        #expect(first == Data(repeating: 1, count: 4096))
        let second = buffers.piece(upTo: 4096, Self.fill(2, 4096))
        #expect(second.flatMap(Self.address) != place)
        #expect(first == Data(repeating: 1, count: 4096), "A retained piece must not be overwritten")
        first = nil
        let third = buffers.piece(upTo: 4096, Self.fill(3, 4096))
        #expect(third.flatMap(Self.address) == place)
        #expect(second == Data(repeating: 2, count: 4096))
    }

    @Test func sliceOfAPieceRetainsItsBuffer() {
        let buffers = ReadBuffers(size: 4096)
        let rest = buffers.piece(upTo: 4096, Self.fill(1, 4096))?.dropFirst(4000)
        let other = buffers.piece(upTo: 4096, Self.fill(2, 4096))
        #expect(rest == Data(repeating: 1, count: 96))
        #expect(other?.count == 4096)
    }

    @Test func fewBytesKeepNoBuffer() {
        let buffers = ReadBuffers(size: 4096)
        var places: Set<UnsafeMutableRawPointer?> = []
        var pieces: [Data?] = []
        for byte in 0..<10 {
            let piece = buffers.piece(upTo: 4096) { buffer in
                places.insert(buffer.baseAddress)
                return Self.fill(UInt8(byte), 511)(buffer)
            }
            pieces.append(piece)
        }
        #expect(places.count == 1, "Each piece is read into the buffer of the one before")
        for (byte, piece) in pieces.enumerated() { #expect(piece == Data(repeating: UInt8(byte), count: 511)) }
    }

    @Test func changingAPieceDoesNotChangeItsCopies() {
        let buffers = ReadBuffers(size: 4096)
        var piece = buffers.piece(upTo: 4096, Self.fill(1, 1000)) ?? Data()
        let copy = piece
        piece.append(contentsOf: [7, 7])
        piece[0] = 9
        #expect(copy == Data(repeating: 1, count: 1000))
        #expect(piece.count == 1002)
        #expect(piece.first == 9)
    }

    @Test(arguments: [(0, 0), (-1, nil), (1, 1), (50, 50), (5000, 64)] as [(Int, Int?)])
    func pieceHasTheFilledBytesUpToTheBufferSize(filled: Int, count: Int?) {
        let buffers = ReadBuffers(size: 64)
        #expect(buffers.piece(upTo: 4096) { filled < 0 ? -1 : Self.fill(1, filled)($0) }?.count == count)
        #expect(buffers.piece(upTo: -5, Self.fill(1, 10))?.count == 1)
    }

    @Test func piecesOutliveTheirReadBuffers() {
        var pieces: [Data] = []
        do {
            let buffers = ReadBuffers(size: 64)
            for byte in 0..<20 { pieces.append(buffers.piece(upTo: 64, Self.fill(UInt8(byte), 64)) ?? Data()) }
        }
        for (byte, piece) in pieces.enumerated() { #expect(piece == Data(repeating: UInt8(byte), count: 64)) }
    }
}
