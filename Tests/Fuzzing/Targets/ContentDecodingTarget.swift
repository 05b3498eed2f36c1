#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if os(Linux)
@testable import SluiceEngine
#endif

extension FuzzTarget {
    /// Decodes a body. The first byte selects the codings, the second the size of the pieces. Each step has a bounded size, the
    /// number of steps is limited, and the cuts do not change the result.
    static let contentDecoding = FuzzTarget("content-decoding") { bytes in
        #if os(Linux)
        guard bytes.count >= 2 else { return }
        let codings = codingsOfBodies[Int(bytes[0]) % codingsOfBodies.count]
        let body = UnsafeRawBufferPointer(rebasing: bytes[2...])
        let whole = try DecodedBody(body, codings, pieceSize: max(1, body.count))
        let cut = try DecodedBody(body, codings, pieceSize: Int(bytes[1]) + 1)
        // libzstd decodes a whole short frame without a window, so a damaged frame may exceed its window. The output before an
        // error depends on the cuts, since libbrotlidec holds output back. So does the coding of a chain that reports damage
        // first.
        if whole.isAll, cut.isAll, !codings.contains(.zstd) {
            let flaws = "\(String(describing: whole.flaw)) and \(String(describing: cut.flaw))"
            if codings.count == 1 {
                try require(whole.flaw == cut.flaw, "The whole body and its pieces have the flaws \(flaws).")
            }
            try require(
                (whole.flaw == nil) == (cut.flaw == nil),
                "The whole body and its pieces have the flaws \(flaws)."
            )
            if whole.flaw == nil {
                try require(whole.output == cut.output, "The pieces have another output than the whole.")
            }
        }
        if body.isEmpty { try require(whole.isAll && whole.flaw == nil, "An empty body has a flaw.") }
        #endif
    }

    #if os(Linux)
    /// The codings by selector: the characters 0 to 9 and :, modulo the count. 0 is the fifth.
    private static let codingsOfBodies: [[ContentCoding]] = [
        [.gzip], [.deflate], [.br], [.zstd],
        [.gzip, .gzip], [.gzip, .br], [.br, .gzip], [.zstd, .deflate], [.deflate, .zstd], [.br, .zstd], [.zstd, .br],
    ]
    #endif
}

#if os(Linux)
/// Decodes a body up to a size, in pieces that are allocated separately, so that a sanitizer finds reads beyond them.
private struct DecodedBody {
    private static let maximumSize = 1 << 20

    var output = Data()
    var flaw: ContentDecoder.Failure?
    /// False if the body exceeds the maximum size.
    var isAll = true

    init(_ body: UnsafeRawBufferPointer, _ codings: [ContentCoding], pieceSize: Int) throws {
        guard let decoder = ContentDecoder(codings) else { return }
        for start in stride(from: 0, to: body.count, by: pieceSize) {
            let piece = Array(body[start..<min(start + pieceSize, body.count)])
            try piece.withUnsafeBytes { try decode($0, by: decoder) }
            if flaw != nil || !isAll { return }
        }
        flaw = decoder.finish()
    }

    private mutating func decode(_ input: UnsafeRawBufferPointer, by decoder: ContentDecoder) throws {
        var position = 0
        var idleSteps = 0
        while isAll {
            let before = position
            let step = decoder.next(from: input, at: &position)
            try require(before <= position && position <= input.count, "The position is \(position).")
            switch step {
            case .output(let data):
                try require((1...ContentDecoder.pieceSize).contains(data.count), "A piece has \(data.count) bytes.")
                output += data
                isAll = output.count <= DecodedBody.maximumSize
                idleSteps = 0
            case .again:
                idleSteps = position > before ? 0 : idleSteps + 1
                // The decoder may take this many steps to move one step's input between two codings.
                try require(idleSteps < 1 << 12, "The decoder makes no progress.")
            case .needsInput:
                try require(position == input.count, "The decoder requests input but has not used all.")
                return
            case .failed(let found):
                flaw = found
                try require(decoder.finish() == found, "finish() reports another flaw.")
                return
            }
        }
    }
}
#endif
