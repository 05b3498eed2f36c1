#if os(Linux)
import Foundation
import Testing

@testable import SluiceEngine

@Suite(.timeLimit(.minutes(10))) struct ContentDecoderBoundsTests {
    private static let zeros = Data(count: 16 << 20)

    /// 1 GiB of zeros in at most about 1 MiB.
    static let bombs: [ContentDecoderTests.Sample] = [
        .init(codings: [.gzip], body: CodingSamples.repetitions(of: CodingSamples.gzip(zeros), 64)),
        .init(codings: [.zstd], body: CodingSamples.repetitions(of: CodingSamples.zstd(zeros), 64)),
        .init(codings: [.br], body: CodingSamples.brBomb),
    ]

    @Test(arguments: bombs)
    func decompressionBombIsDecodedInBoundedSteps(bomb: ContentDecoderTests.Sample) throws {
        let decoder = try #require(ContentDecoder(bomb.codings))
        #expect(bomb.body.count < 2 << 20)
        var output = 0
        bomb.body.withUnsafeBytes { body in
            var position = 0
            var steps = 0
            loop: while true {
                let before = position
                let step = decoder.next(from: body, at: &position)
                steps += 1
                #expect(position - before <= 64 << 10)
                switch step {
                case .output(let data):
                    #expect((1...ContentDecoder.pieceSize).contains(data.count))
                    output += data.count
                case .again: break
                case .needsInput: break loop
                case .failed(let flaw):
                    Issue.record("\(flaw)")
                    break loop
                }
                if steps > 1 << 20 {
                    Issue.record("The decoder does not finish.")
                    break
                }
            }
        }
        #expect(decoder.finish() == nil)
        #expect(output == 1 << 30)
    }

    /// A body that starts with some bytes and then repeats others without end.
    struct Endless: Sendable, CustomTestStringConvertible {
        let name: String
        let codings: [ContentCoding]
        let start: Data
        let part: Data
        var testDescription: String { name }

        var body: Data { start + CodingSamples.repetitions(of: part, (1 << 20) / part.count) }
    }

    private static let gzipHeader: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
    static let endless = [
        Endless(name: "stored blocks", codings: [.gzip], start: Data(gzipHeader), part: Data([0, 0, 0, 0xFF, 0xFF])),
        Endless(name: "gzip members", codings: [.gzip], start: Data(), part: CodingSamples.gzip(Data())),
        Endless(name: "padding", codings: [.gzip], start: CodingSamples.gzip(Data()), part: Data([0])),
        Endless(
            name: "a file name",
            codings: [.gzip],
            start: Data([0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3]),
            part: Data("a".utf8)
        ),
        Endless(name: "raw stored blocks", codings: [.deflate], start: Data(), part: Data([0, 0, 0, 0xFF, 0xFF])),
        // Empty metadata blocks (RFC 7932 §9.2).
        Endless(name: "metadata", codings: [.br], start: Data([0x0C]), part: Data([0x06])),
        Endless(
            name: "zstd blocks",
            codings: [.zstd],
            start: Data([0x28, 0xB5, 0x2F, 0xFD, 0, 0x68]),
            part: Data([0, 0, 0])
        ),
        Endless(name: "zstd frames", codings: [.zstd], start: Data(), part: CodingSamples.zstd(Data())),
        Endless(
            name: "skippable frames",
            codings: [.zstd],
            start: Data(),
            part: Data([0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0])
        ),
        Endless(
            name: "stored blocks of metadata",
            codings: [.br, .gzip],
            start: Data(gzipHeader) + [0, 1, 0, 0xFE, 0xFF, 0x0C],
            part: Data([0, 4, 0, 0xFB, 0xFF, 0x06, 0x06, 0x06, 0x06])
        ),
    ]

    @Test func nestedDecompressionBombIsDecodedInBoundedSteps() throws {
        let body = CodingSamples.gzip(CodingSamples.gzip(Self.zeros))
        #expect(body.count < 1 << 10)
        let decoding = try #require(Decoding([.gzip, .gzip], body))
        #expect(decoding.flaw == nil)
        #expect(decoding.output.count == Self.zeros.count)
        #expect(decoding.largestPiece <= ContentDecoder.pieceSize)
        #expect(decoding.steps < 1 << 16)
    }

    /// A turn of a transaction ends once the costs of its steps exceed four pieces.
    @Test(arguments: [[.deflate], [.deflate, .gzip]] as [[ContentCoding]])
    func stepWithLittleOutputCostsAsMuchAsAPiece(codings: [ContentCoding]) throws {
        let count = 1 << 14
        let slow = CodingSamples.slowRaw(count)
        let body = codings.count == 1 ? slow : CodingSamples.gzip(slow)
        let decoder = try #require(ContentDecoder(codings))
        var output = 0
        body.withUnsafeBytes { input in
            var position = 0
            while true {
                switch decoder.next(from: input, at: &position) {
                case .output(let data): output += data.count
                case .again: break
                case .needsInput: return
                case .failed(let flaw):
                    Issue.record("\(flaw)")
                    return
                }
                // Other steps end after half a millisecond, or with a full piece.
                if position < input.count { #expect(decoder.cost > 60_000) }
            }
        }
        #expect(output == count)
        let between: Int64 = codings.count == 1 ? 0 : Int64(slow.count)
        #expect(decoder.intermediate == between)
        #expect(decoder.finish() == nil)
    }

    @Test(arguments: endless)
    func inputWithoutOutputIsConsumedInBoundedSteps(body: Endless) throws {
        let decoder = try #require(ContentDecoder(body.codings))
        body.body.withUnsafeBytes { input in
            var position = 0
            for step in 1... {
                let before = position
                let result = decoder.next(from: input, at: &position)
                let (taken, left) = (position - before, input.count - position)
                #expect(taken <= 64 << 10)
                switch result {
                case .again:
                    break
                case .needsInput:
                    #expect(left == 0)
                    return
                case .output, .failed:
                    Issue.record("Unexpected output or flaw at \(position).")
                    return
                }
                // On a slow machine a step may end earlier, but not before 8 KiB.
                if step > 4 * (1 << 20) / (8 << 10) {
                    Issue.record("The decoder does not finish.")
                    return
                }
            }
        }
    }

    /// Frames with a window (RFC 8878 §3.1.1.1.2) and a block of one byte. libzstd decodes them without a window if the content
    /// size is present.
    @Test(
        arguments: [
            ([0, 0x88], .windowTooLarge),
            ([0, 0x69], .windowTooLarge),
            ([0, 0xFF], .windowTooLarge),
            ([0, 0x68], nil),
            ([0, 0x00], nil),
            ([0x80, 0x88, 1, 0, 0, 0], .windowTooLarge),
            ([0x80, 0x68, 1, 0, 0, 0], nil),
            // A single segment, whose content is the window: 1 byte, 8 MiB + 1 byte, 2^56 bytes.
            ([0xA0, 1, 0, 0, 0], nil),
            ([0xA0, 1, 0, 0x80, 0], .windowTooLarge),
            ([0xE0, 0, 0, 0, 0, 0, 0, 0, 1], .windowTooLarge),
        ] as [([UInt8], ContentDecoder.Failure?)]
    )
    func rejectsZstdWindowsOverEightMebibytes(header: [UInt8], flaw: ContentDecoder.Failure?) throws {
        // A last raw block of one byte.
        let body = Data([0x28, 0xB5, 0x2F, 0xFD] + header + [0x09, 0, 0, 0x61])
        for (frames, size) in [(0, Int.max), (0, 1), (1, .max), (1, 3)] {
            let earlier = CodingSamples.repetitions(of: CodingSamples.zstd, frames)
            let decoding = try #require(Decoding([.zstd], earlier + body, piecesOf: size))
            #expect(decoding.flaw == flaw, "after \(frames) frames, in pieces of \(size)")
            #expect(decoding.output.count == frames * CodingSamples.text.count + (flaw == nil ? 1 : 0))
        }
    }

    /// RFC 7932 §9.1 reserves this value. libbrotli uses it for its larger windows.
    @Test func rejectsLargeBrotliWindows() throws {
        let decoding = try #require(Decoding([.br], Data([0x11, 30, 0x03])))
        #expect(decoding.flaw == .windowTooLarge || decoding.flaw == .damaged)
    }
}
#endif
