import CZlib

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Compresses bytes as they come into gzip's format (RFC 1952), with no name and no date, so that the same bytes come out of the
/// same bytes.
///
/// A class, since zlib keeps a pointer to its stream, which must neither move nor be copied. Not for two threads at a time.
final class GzipEncoder {
    private static let pieceSize = 64 << 10
    private let stream: UnsafeMutablePointer<z_stream>
    private let buffer: UnsafeMutableBufferPointer<UInt8>

    /// Makes an encoder; nil where there is no memory for it.
    ///
    /// - Parameter level: From 1, the fastest, to 9, the smallest; what is beyond is taken for the nearer of them.
    init?(level: Int) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard sluice_gzip_begin(stream, Int32(min(max(level, 1), 9))) == Z_OK else {
            stream.deallocate()
            return nil
        }
        self.stream = stream
        buffer = .allocate(capacity: GzipEncoder.pieceSize)
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
        buffer.deallocate()
    }

    /// Takes bytes in; what can be given out already is appended, often nothing.
    func compress(_ input: Data, into output: inout Data) {
        for start in stride(from: 0, to: input.count, by: GzipEncoder.pieceSize) {
            let piece = input.dropFirst(start).prefix(GzipEncoder.pieceSize)
            piece.withUnsafeBytes { bytes in
                // zlib reads from here and never writes.
                let base = bytes.bindMemory(to: UInt8.self).baseAddress
                stream.pointee.next_in = UnsafeMutablePointer(mutating: base)
                stream.pointee.avail_in = UInt32(bytes.count)
                run(Z_NO_FLUSH, into: &output)
            }
        }
    }

    /// Ends the format; to be called once, behind all input.
    func finish(into output: inout Data) {
        stream.pointee.next_in = nil
        stream.pointee.avail_in = 0
        run(Z_FINISH, into: &output)
    }

    private func run(_ flush: Int32, into output: inout Data) {
        repeat {
            stream.pointee.next_out = buffer.baseAddress
            stream.pointee.avail_out = UInt32(buffer.count)
            // It can fail only if it has nothing to do, in which case it gives nothing out either.
            deflate(stream, flush)
            let count = buffer.count - Int(stream.pointee.avail_out)
            if let base = buffer.baseAddress, count > 0 { output.append(base, count: count) }
        } while stream.pointee.avail_out == 0
    }

    /// All of some bytes at once, unless they do not become fewer.
    ///
    /// - Parameters:
    ///   - input: The bytes.
    ///   - level: How hard to try.
    /// - Returns: Fewer bytes; nil where they would be as many or more, or where there is no memory.
    static func smaller(_ input: Data, level: Int) -> Data? {
        guard let encoder = GzipEncoder(level: level) else { return nil }
        var output = Data()
        encoder.compress(input, into: &output)
        guard output.count < input.count else { return nil }
        encoder.finish(into: &output)
        return output.count < input.count ? output : nil
    }
}
