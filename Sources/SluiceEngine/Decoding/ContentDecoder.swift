#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Glibc
import SluiceHTTP

/// Removes the content codings of a body in bounded steps.
///
/// No call of ``next(from:at:)`` takes more than 64 KiB of input or makes more than 64 KiB of output, so a loop that serves many
/// connections can go on with another one between two calls. A call that has taken half a millisecond ends sooner.
///
/// Memory is bounded too: beside the buffers about 48 KiB for gzip and deflate, 17 MiB at most for br and 9 MiB for zstd. Limits on
/// size and ratio are the caller's, by ``decoded``.
///
/// A class, since the libraries' states must not be copied. Not for two threads at a time.
package final class ContentDecoder {
    /// A step's result.
    package enum Step {
        /// At most ``pieceSize`` bytes.
        case output(Data)
        /// The input is used up and nothing is left to give out.
        case needsInput
        /// The call took as much as one may and made no output; the next one goes on.
        case again
        /// The body cannot be decoded. Every later call says the same.
        case failed(Flaw)
    }

    /// The reason why a body cannot be decoded.
    package enum Flaw: Sendable, Equatable {
        case damaged
        /// The body ends before its coding's end mark.
        case truncated
        /// Bytes follow the coding's end mark.
        case trailingData
        /// The body asks for a window of more than 8 MiB (zstd) or 16 MiB (br).
        case windowTooLarge
        case noMemory
    }

    /// The largest piece of output, in bytes.
    package static var pieceSize: Int { 64 << 10 }

    /// The size of the input, and of what lies between two codings, that is decoded between two looks at the clock, in bytes.
    private static var sliceSize: Int { 8 << 10 }
    /// The time after which a call takes no further slice, in nanoseconds.
    private static var budget: Int64 { 500_000 }

    /// The total size of the output so far, in bytes.
    package private(set) var decoded: Int64 = 0

    private let stream: any CodingStream
    private var hasMore = false
    private var flaw: Flaw?

    /// Creates a decoder; nil without memory, or unless there are one or two codings.
    ///
    /// - Parameter codings: In the order in which they were applied, as ``Plan/decode(_:)`` has them.
    package init?(_ codings: [ContentCoding]) {
        guard codings.count <= 2, let last = codings.last, let stream = ContentDecoder.stream(for: last) else {
            return nil
        }
        if codings.count == 1 {
            self.stream = stream
        } else {
            guard let second = ContentDecoder.stream(for: codings[0]) else { return nil }
            self.stream = ChainedStream(stream, second, bufferSize: ContentDecoder.sliceSize)
        }
    }

    private static func stream(for coding: ContentCoding) -> (any CodingStream)? {
        switch coding {
        case .gzip: InflateStream(gzip: true)
        case .deflate: InflateStream(gzip: false)
        case .br: BrotliStream()
        case .zstd: ZstdStream()
        }
    }

    /// Decodes from `input`, beginning at `position`, which is moved behind the bytes that were taken.
    ///
    /// To be called again with the same input until the step is `.needsInput` or `.failed`.
    package func next(from input: UnsafeRawBufferPointer, at position: inout Int) -> Step {
        if let flaw { return .failed(flaw) }
        guard position < input.count || hasMore else { return .needsInput }
        guard let piece = malloc(ContentDecoder.pieceSize) else {
            flaw = .noMemory
            return .failed(.noMemory)
        }
        let output = UnsafeMutableRawBufferPointer(start: piece, count: ContentDecoder.pieceSize)
        let made = decode(input, at: &position, into: output)
        decoded += Int64(made)
        if made > 0 { return .output(ContentDecoder.data(piece, count: made)) }
        free(piece)
        if let flaw { return .failed(flaw) }
        return position < input.count || hasMore ? .again : .needsInput
    }

    /// Ends the input, to be called after a step of `.needsInput`.
    ///
    /// - Returns: Nil if every stream has reached its end mark, or if there was no input at all: a response to HEAD or with an empty
    ///   body may have a `Content-Encoding`.
    package func finish() -> Flaw? {
        flaw ?? (stream.isComplete && !hasMore ? nil : .truncated)
    }

    /// Decodes slice by slice until the piece is full, or as much was taken or as much time has passed as one call may use.
    ///
    /// Input that makes no output can cost far more than such that does: 64 KiB of empty deflate blocks, each with codes of its own,
    /// take 7 ms.
    private func decode(
        _ input: UnsafeRawBufferPointer,
        at position: inout Int,
        into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        let end = min(input.count, position + ContentDecoder.pieceSize)
        let begin = MonotonicTime.now
        var made = 0
        repeat {
            let sliceEnd = min(end, position + ContentDecoder.sliceSize)
            let progress = stream.decode(
                UnsafeRawBufferPointer(rebasing: input[position..<sliceEnd]),
                into: UnsafeMutableRawBufferPointer(rebasing: output[made...])
            )
            position += progress.taken
            made += progress.made
            (hasMore, flaw) = (progress.hasMore, progress.flaw)
        } while flaw == nil && made < output.count && (position < end || hasMore)
            && MonotonicTime.now.nanoseconds - begin.nanoseconds < ContentDecoder.budget
        return made
    }

    /// Makes data of a piece without a copy; the unused rest of the piece is given back.
    private static func data(_ piece: UnsafeMutableRawPointer, count: Int) -> Data {
        let kept = count < pieceSize ? realloc(piece, count) ?? piece : piece
        return Data(bytesNoCopy: kept, count: count, deallocator: .free)
    }
}
#endif
