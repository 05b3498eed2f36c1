#if os(Linux)
import Foundation
import Testing

@testable import SluiceEngine

/// A body decoded completely, in the same way as a transaction does it.
struct Decoding {
    private static let maximumSteps = 1 << 17

    private(set) var output = Data()
    private(set) var flaw: ContentDecoder.Failure?
    /// The number of steps.
    private(set) var steps = 0
    private(set) var largestPiece = 0
    /// The most bytes that one step consumed.
    private(set) var mostTaken = 0

    /// Decodes pieces of input, followed by the end of the body; nil if there is no memory.
    init?(_ codings: [ContentCoding], _ pieces: [Data]) {
        guard let decoder = ContentDecoder(codings) else { return nil }
        for piece in pieces {
            piece.withUnsafeBytes { decode($0, by: decoder) }
            if flaw != nil { return }
        }
        flaw = decoder.finish()
    }

    /// Decodes a body in pieces of `size` bytes.
    init?(_ codings: [ContentCoding], _ data: Data, piecesOf size: Int = .max) {
        let pieces = stride(from: 0, to: data.count, by: min(size, max(1, data.count))).map { start in
            Data(data.dropFirst(start).prefix(size))
        }
        self.init(codings, pieces)
    }

    private mutating func decode(_ input: UnsafeRawBufferPointer, by decoder: ContentDecoder) {
        var position = 0
        while true {
            let before = position
            let step = decoder.next(from: input, at: &position)
            steps += 1
            if steps > Self.maximumSteps {
                Issue.record("The decoder does not finish.")
                return
            }
            mostTaken = max(mostTaken, position - before)
            switch step {
            case .output(let data):
                largestPiece = max(largestPiece, data.count)
                output += data
            case .again:
                break
            case .needsInput:
                return
            case .failed(let found):
                flaw = found
                return
            }
        }
    }
}
#endif
