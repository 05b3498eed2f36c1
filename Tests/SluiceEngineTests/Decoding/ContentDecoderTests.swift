#if os(Linux)
import Foundation
import SluiceTesting
import Testing

@testable import SluiceEngine

@Suite(.timeLimit(.minutes(10))) struct ContentDecoderTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let codings: [ContentCoding]
        let body: Data
        var content = CodingSamples.text
        var testDescription: String { "\(codings), \(body.count) bytes" }
    }

    /// The text in each coding, and in chains of two codings.
    static let samples = [
        Sample(codings: [.gzip], body: CodingSamples.gzip(CodingSamples.text)),
        Sample(codings: [.deflate], body: CodingSamples.zlib(CodingSamples.text)),
        Sample(codings: [.deflate], body: CodingSamples.raw(CodingSamples.text)),
        Sample(codings: [.br], body: CodingSamples.br),
        Sample(codings: [.zstd], body: CodingSamples.zstd),
        Sample(codings: [.zstd], body: CodingSamples.zstd(CodingSamples.text)),
        Sample(codings: [.gzip, .br], body: CodingSamples.brOfGzip),
        Sample(codings: [.br, .gzip], body: CodingSamples.gzip(CodingSamples.br)),
        Sample(codings: [.zstd, .gzip], body: CodingSamples.gzip(CodingSamples.zstd)),
        Sample(codings: [.br, .zstd], body: CodingSamples.zstd(CodingSamples.br)),
        Sample(codings: [.gzip, .gzip], body: CodingSamples.gzip(CodingSamples.gzip(CodingSamples.text))),
        Sample(codings: [.deflate, .deflate], body: CodingSamples.raw(CodingSamples.raw(CodingSamples.text))),
    ]

    private static let noise = {
        var generator = SeededGenerator(seed: 1)
        return Data((0..<100_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }()
    private static let letters = Data(noise.map { 97 + $0 & 7 } + noise.map { 97 + $0 >> 5 })

    private static func large(_ codings: [ContentCoding], _ encode: (Data) -> Data) -> [Sample] {
        [noise, letters, letters.prefix(65_536), letters.prefix(65_537), Data(count: 500_000), Data(), Data([1])].map {
            Sample(codings: codings, body: encode($0), content: Data($0))
        }
    }

    /// Noise, compressible bytes, zeros, lengths at the boundary of a piece, one byte and no bytes.
    static let largeSamples =
        large([.gzip], CodingSamples.gzip) + large([.deflate], CodingSamples.zlib)
        + large([.deflate], CodingSamples.raw)
        + large([.br], CodingSamples.storedBr) + large([.zstd], CodingSamples.zstd)
        + large([.gzip, .zstd]) { CodingSamples.zstd(CodingSamples.gzip($0)) }
        + large([.zstd, .br]) { CodingSamples.storedBr(CodingSamples.zstd($0)) }
        + large([.br, .deflate]) { CodingSamples.zlib(CodingSamples.storedBr($0)) }

    @Test(arguments: largeSamples)
    func decodesAllCodingsInPiecesOfAnySize(sample: Sample) throws {
        for size in [.max, 64 << 10, 5000, 997] {
            let decoding = try #require(Decoding(sample.codings, sample.body, piecesOf: size))
            #expect(decoding.flaw == nil)
            #expect(decoding.output == sample.content)
            #expect(decoding.largestPiece <= ContentDecoder.pieceSize)
            #expect(decoding.mostTaken <= 64 << 10)
        }
    }

    @Test(arguments: samples)
    func everySplitDecodesToTheSameContent(sample: Sample) throws {
        for cut in 0...sample.body.count {
            let decoding = try #require(
                Decoding(sample.codings, [sample.body.prefix(cut), sample.body.dropFirst(cut)])
            )
            #expect(decoding.flaw == nil, "cut at \(cut)")
            #expect(decoding.output == sample.content, "cut at \(cut)")
        }
        let single = try #require(Decoding(sample.codings, sample.body, piecesOf: 1))
        #expect(single.flaw == nil)
        #expect(single.output == sample.content)
    }

    @Test(arguments: samples)
    func emptyInputBetweenBytesChangesNothing(sample: Sample) throws {
        let pieces = sample.body.flatMap { [Data([$0])] + Array(repeating: Data(), count: 20) }
        let decoding = try #require(Decoding(sample.codings, pieces))
        #expect(decoding.flaw == nil)
        #expect(decoding.output == sample.content)
    }

    @Test(arguments: samples)
    func everyPrefixOfABodyIsTruncated(sample: Sample) throws {
        for count in 1..<sample.body.count {
            for size in [Int.max, 1] {
                let decoding = try #require(Decoding(sample.codings, sample.body.prefix(count), piecesOf: size))
                #expect(decoding.flaw == .truncated, "\(count) bytes")
                #expect(sample.content.starts(with: decoding.output), "\(count) bytes")
            }
        }
    }

    @Test(arguments: samples)
    func noInputIsAnEmptyBody(sample: Sample) throws {
        let decoding = try #require(Decoding(sample.codings, [Data(), Data()]))
        #expect(decoding.flaw == nil)
        #expect(decoding.output.isEmpty)
    }

    /// Decoding a damaged body ends after a bounded number of steps, with the same error for each cut.
    @Test(arguments: samples)
    func decodingADamagedBodyEndsInBoundedSteps(sample: Sample) throws {
        for index in sample.body.indices {
            for mask: UInt8 in [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xFF] {
                var body = sample.body
                body[index] ^= mask
                let whole = try #require(Decoding(sample.codings, body))
                let single = try #require(Decoding(sample.codings, body, piecesOf: 1))
                #expect(whole.flaw == single.flaw, "\(index), \(mask)")
                #expect(whole.flaw != nil || whole.output == single.output, "\(index), \(mask)")
                let pieces = whole.output.count / ContentDecoder.pieceSize
                #expect(
                    whole.steps <= 4 + 2 * pieces && single.steps <= 3 * body.count + 2 * pieces,
                    "\(index), \(mask)"
                )
            }
        }
    }

    /// These three codings have a checksum.
    @Test(arguments: [samples[0], samples[1], samples[4]])
    func damagedContentIsDetectedByItsChecksum(sample: Sample) throws {
        for index in sample.body.indices.dropFirst(10) {
            var body = sample.body
            body[index] ^= 0x10
            let decoding = try #require(Decoding(sample.codings, body))
            #expect(decoding.flaw != nil || decoding.output == sample.content, "\(index)")
        }
    }

    @Test func concatenatedMembersAndFramesAreDecoded() throws {
        let parts = ["one, ", "", "two, ", "three"].map { Data($0.utf8) }
        let members = Data(parts.map(CodingSamples.gzip).joined())
        let frames = Data(parts.map { CodingSamples.zstd($0) }.joined())
        let bodies: [([ContentCoding], Data)] = [
            ([.gzip], members), ([.zstd], frames), ([.gzip, .br], CodingSamples.storedBr(members)),
            ([.gzip, .gzip], CodingSamples.gzip(members.prefix(40)) + CodingSamples.gzip(members.dropFirst(40))),
        ]
        for (codings, body) in bodies {
            for size in [Int.max, 7, 1] {
                let decoding = try #require(Decoding(codings, body, piecesOf: size))
                #expect(decoding.flaw == nil)
                #expect(String(decoding: decoding.output, as: UTF8.self) == "one, two, three")
            }
        }
    }

    @Test func skippableFramesAreSkipped() throws {
        let skippable = Data([0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 0xFF, 0xFF, 0xFF])
        let body = skippable + CodingSamples.zstd + skippable + skippable + CodingSamples.zstd + skippable
        for size in [Int.max, 1] {
            let decoding = try #require(Decoding([.zstd], body, piecesOf: size))
            #expect(decoding.flaw == nil)
            #expect(decoding.output == CodingSamples.text + CodingSamples.text)
        }
        #expect(try #require(Decoding([.zstd], skippable)).flaw == nil)
        #expect(try #require(Decoding([.zstd], skippable.dropLast())).flaw == .truncated)
    }

    @Test(
        arguments: [
            ([.gzip], CodingSamples.gzip(CodingSamples.text), [0], nil),
            ([.gzip], CodingSamples.gzip(CodingSamples.text), [UInt8](repeating: 0, count: 1000), nil),
            ([.gzip], CodingSamples.gzip(CodingSamples.text), [1], .trailingData),
            ([.gzip], CodingSamples.gzip(CodingSamples.text), [0, 0, 0x1F], .trailingData),
            ([.gzip], CodingSamples.gzip(CodingSamples.text), [0x1F], .truncated),
            ([.gzip], CodingSamples.gzip(CodingSamples.text), [0x1F, 0x8B], .truncated),
            ([.gzip], CodingSamples.gzip(CodingSamples.text), [0x1F, 0x8C], .damaged),
            ([.deflate], CodingSamples.zlib(CodingSamples.text), [0], .trailingData),
            ([.deflate], CodingSamples.raw(CodingSamples.text), [1, 2, 3, 4], nil),
            ([.deflate], CodingSamples.raw(CodingSamples.text), [1, 2, 3, 4, 5], .trailingData),
            ([.br], CodingSamples.br, [0], .trailingData),
            ([.br], CodingSamples.storedBr(CodingSamples.text), [3], .trailingData),
            ([.zstd], CodingSamples.zstd, [0], .trailingData),
            ([.zstd], CodingSamples.zstd, [0x28, 0xB5, 0x2F], .truncated),
            ([.zstd], CodingSamples.zstd, [0x28, 0xB5, 0x2F, 0xFC], .trailingData),
            ([.zstd], CodingSamples.zstd, [0x51, 0x2A, 0x4D, 0x19], .trailingData),
            ([.gzip, .br], CodingSamples.brOfGzip, [0], .trailingData),
            ([.br, .gzip], CodingSamples.gzip(CodingSamples.br + [0]), [], .trailingData),
            ([.br, .gzip], CodingSamples.gzip(CodingSamples.br), [0, 0], nil),
        ] as [([ContentCoding], Data, [UInt8], ContentDecoder.Failure?)]
    )
    func trailingDataOtherThanPaddingIsAFlaw(
        codings: [ContentCoding],
        body: Data,
        trailer: [UInt8],
        flaw: ContentDecoder.Failure?
    ) throws {
        for size in [Int.max, 1] {
            let decoding = try #require(Decoding(codings, body + trailer, piecesOf: size))
            #expect(decoding.flaw == flaw)
            #expect(decoding.output == CodingSamples.text)
        }
    }

    @Test(
        arguments: [
            ([.gzip], Data("{}".utf8)), ([.gzip], CodingSamples.zlib(CodingSamples.text)),
            ([.deflate], Data("{\"a\": 1}".utf8)), ([.zstd], Data("{}".utf8)), ([.zstd], CodingSamples.br),
            // A preset dictionary.
            ([.deflate], Data([0x78, 0x20, 0, 0, 0, 1, 0, 0, 0])),
            // Formats of libzstd that predate the standard.
            ([.zstd], Data([0x25, 0xB5, 0x2F, 0xFD, 0, 0, 0, 0])),
            ([.zstd], Data([0x27, 0xB5, 0x2F, 0xFD, 0, 0, 0, 0])),
            ([.gzip, .gzip], CodingSamples.gzip(CodingSamples.text)),
        ] as [([ContentCoding], Data)]
    )
    func inputOfAnotherFormatIsDamaged(codings: [ContentCoding], body: Data) throws {
        for size in [Int.max, 1] {
            #expect(try #require(Decoding(codings, body, piecesOf: size)).flaw == .damaged)
        }
    }

    @Test func flawIsReportedAgain() throws {
        let decoder = try #require(ContentDecoder([.gzip]))
        let body = CodingSamples.gzip(CodingSamples.text) + [1]
        body.withUnsafeBytes { body in
            var position = 0
            guard case .output(let data) = decoder.next(from: body, at: &position) else {
                Issue.record("Expected output.")
                return
            }
            #expect(data == CodingSamples.text)
            for _ in 0..<3 {
                guard case .failed(.trailingData) = decoder.next(from: body, at: &position) else {
                    Issue.record("Expected the flaw again.")
                    return
                }
            }
        }
        #expect(decoder.finish() == .trailingData)
    }
}
#endif
