#if os(Linux)
import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// Removes the content codings of a body in bounded steps.
///
/// A call of ``next(from:at:)`` consumes at most 64 KiB of input and produces at most 64 KiB of output, so a loop can serve other
/// connections between two calls. A call ends early after half a millisecond.
///
/// Memory is bounded too: in addition to the buffers, about 48 KiB for gzip and deflate, at most 17 MiB for br and 9 MiB for zstd. The
/// caller enforces limits on the size of the output, and on its ratio to the input.
///
/// The decoder is a class because the states of the libraries must not be copied. It must not be used by two threads at a time.
package final class ContentDecoder {
    package enum Step {
        /// At most ``pieceSize`` bytes.
        case output(Data)
        /// The input is consumed, and there is no more output.
        case needsInput
        /// The call reached its limit without output. Call again to continue.
        case again
        /// The body cannot be decoded. Every later call returns the same result.
        case failed(Failure)
    }

    /// The reason why a body cannot be decoded.
    package enum Failure: Sendable, Equatable {
        case damaged
        /// The body ends before the end mark of its coding.
        case truncated
        /// Bytes follow the end mark of the coding.
        case trailingData
        /// The body requires a window of more than 8 MiB (zstd) or 16 MiB (br).
        case windowTooLarge
        case noMemory
    }

    /// The maximum size of an output piece in bytes.
    package static var pieceSize: Int { 64 << 10 }

    /// The number of bytes, of the input and between two codings, that are decoded between two checks of the clock.
    private static var sliceSize: Int { 8 << 10 }
    /// The time in nanoseconds after which a call decodes no further slice.
    private static var budget: Int64 { 500_000 }
    /// The time in nanoseconds that costs as much as a byte. A call that takes the whole time costs about as much as a full piece.
    private static var timePerByte: Int64 { 8 }

    private static var maximumCodings: Int { 2 }

    /// The total size between two codings so far, in bytes.
    package private(set) var intermediate: Int64 = 0
    /// The cost of the last call of ``next(from:at:)`` in bytes: those of its input, between two codings or of its output, or its time in
    /// bytes, whichever is most.
    package private(set) var cost = 0

    private let stream: any CodingStream
    private var hasMore = false
    private var failure: Failure?

    /// Creates a decoder. Returns nil if memory is short, or if the number of codings is neither one nor two.
    ///
    /// - Parameter codings: The codings in the order in which they were applied, as in ``Plan/decode(_:)``.
    package init?(_ codings: [ContentCoding]) {
        guard codings.count <= ContentDecoder.maximumCodings, let last = codings.last,
            let stream = ContentDecoder.stream(for: last)
        else {
            return nil
        }
        if codings.count == 1 {
            self.stream = stream
        } else {
            guard let second = ContentDecoder.stream(for: codings[0]) else { return nil }
            self.stream = ChainedStream(stream, second, bufferSize: ContentDecoder.sliceSize)
        }
    }

    /// Returns the file of the first library that these codings need and that could not be loaded.
    static func missingLibrary(for codings: [ContentCoding]) -> String? {
        if codings.contains(.br), brotli.is_complete == 0 { return String(cString: brotli.file) }
        if codings.contains(.zstd), zstd.is_complete == 0 { return String(cString: zstd.file) }
        return nil
    }

    private static func stream(for coding: ContentCoding) -> (any CodingStream)? {
        switch coding {
        case .gzip: InflateStream(gzip: true)
        case .deflate: InflateStream(gzip: false)
        case .br: BrotliStream()
        case .zstd: ZstdStream()
        }
    }

    /// Decodes from `input`, starting at `position`, which is advanced past the consumed bytes.
    ///
    /// Call it again with the same input until the step is `.needsInput` or `.failed`.
    package func next(from input: UnsafeRawBufferPointer, at position: inout Int) -> Step {
        cost = 0
        if let failure { return .failed(failure) }
        guard position < input.count || hasMore else { return .needsInput }
        guard let piece = malloc(ContentDecoder.pieceSize) else {
            failure = .noMemory
            return .failed(.noMemory)
        }
        let output = UnsafeMutableRawBufferPointer(start: piece, count: ContentDecoder.pieceSize)
        let produced = decode(input, at: &position, into: output)
        if produced > 0 { return .output(ContentDecoder.data(piece, count: produced)) }
        free(piece)
        if let failure { return .failed(failure) }
        return position < input.count || hasMore ? .again : .needsInput
    }

    /// Ends the input. Call it after a step of `.needsInput`.
    ///
    /// - Returns: Nil if every stream has reached its end mark, or if there was no input: a response to HEAD or with an empty body may have
    ///   a `Content-Encoding`.
    package func finish() -> Failure? {
        failure ?? (stream.isComplete && !hasMore ? nil : .truncated)
    }

    /// Decodes slice by slice until the piece is full, or until the limit on input or time of one call is reached.
    ///
    /// The limit on time is necessary because input without output can be expensive: 64 KiB of empty deflate blocks, each with its own
    /// codes, take 7 ms.
    private func decode(
        _ input: UnsafeRawBufferPointer,
        at position: inout Int,
        into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        let (start, begin) = (position, MonotonicTime.now)
        let end = min(input.count, start + ContentDecoder.pieceSize)
        var (produced, between) = (0, 0)
        var time: Int64 = 0
        repeat {
            let sliceEnd = min(end, position + ContentDecoder.sliceSize)
            let progress = stream.decode(
                UnsafeRawBufferPointer(rebasing: input[position..<sliceEnd]),
                into: UnsafeMutableRawBufferPointer(rebasing: output[produced...])
            )
            position += progress.consumed
            produced += progress.produced
            between += progress.intermediate
            (hasMore, failure) = (progress.hasMore, progress.failure)
            time = MonotonicTime.now.nanoseconds - begin.nanoseconds
        } while failure == nil && produced < output.count && (position < end || hasMore)
            && time < ContentDecoder.budget
        intermediate += Int64(between)
        cost = max(max(position - start, between), max(produced, Int(time / ContentDecoder.timePerByte)))
        return produced
    }

    /// Creates `Data` from a piece without a copy, and releases the unused rest of the piece.
    private static func data(_ piece: UnsafeMutableRawPointer, count: Int) -> Data {
        let shrunk = count < pieceSize ? realloc(piece, count) ?? piece : piece
        return Data(bytesNoCopy: shrunk, count: count, deallocator: .free)
    }
}

/// A content coding that can be removed (RFC 9110 §8.4.1).
package enum ContentCoding: Sendable, Equatable {
    /// RFC 1952.
    case gzip
    /// RFC 1950, or RFC 1951 without the zlib format, which some servers send under this name.
    case deflate
    /// Brotli, RFC 7932.
    case br
    /// RFC 8878, with a window of at most 8 MiB (RFC 9659).
    case zstd

    /// Creates the coding for a registered name, ignoring case. Returns nil for any other name, including `identity`.
    init?(_ name: some StringProtocol) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .br
        case "zstd": self = .zstd
        default: return nil
        }
    }
}

extension ContentDecoder {
    /// The content codings of a body.
    package enum Plan: Sendable, Equatable {
        /// No coding, or only `identity`.
        case identity
        /// One or two codings in the order of the field, in which they were applied. The last one is removed first.
        case decode([ContentCoding])
        /// At least one unknown coding. The body is left encoded.
        case unknown
        /// More than two codings, known or not.
        case tooMany
    }

    /// The value of `Accept-Encoding` with all supported codings.
    package static var acceptEncoding: StaticString { "deflate, gzip, br, zstd" }

    /// Parses all `Content-Encoding` field lines as one list (RFC 9110 §8.4). Empty elements are ignored (§5.6.1.2).
    package static func plan(for headers: HTTPHeaders) -> Plan {
        let names = headers.contentCodings
        if names.isEmpty { return .identity }
        if names.count > maximumCodings { return .tooMany }
        let codings = names.compactMap { ContentCoding($0) }
        return codings.count == names.count ? .decode(codings) : .unknown
    }
}
#endif
