import CZlib
import SluiceFoundation
import SluiceHTTP

/// Compresses bytes incrementally to gzip (RFC 1952). The header has no name and no date, so that the same input gives
/// the same output.
///
/// A class, because zlib keeps a pointer to its stream, which must not be moved or copied. Not thread-safe.
final class GzipEncoder {
    private static let pieceSize = 64 << 10
    private let stream: UnsafeMutablePointer<z_stream>
    private let buffer: UnsafeMutableBufferPointer<UInt8>

    /// Creates an encoder; nil if there is not enough memory.
    ///
    /// - Parameter level: From 1, the fastest, to 9, the smallest. Other values are clamped.
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

    /// Compresses bytes and appends the output that is ready, which is often none.
    func compress(_ input: Data, into output: inout Data) {
        for start in stride(from: 0, to: input.count, by: GzipEncoder.pieceSize) {
            let piece = input.dropFirst(start).prefix(GzipEncoder.pieceSize)
            piece.withUnsafeBytes { bytes in
                // zlib only reads from this pointer.
                let base = bytes.bindMemory(to: UInt8.self).baseAddress
                stream.pointee.next_in = UnsafeMutablePointer(mutating: base)
                stream.pointee.avail_in = UInt32(bytes.count)
                run(Z_NO_FLUSH, into: &output)
            }
        }
    }

    /// Ends the output. Call it once, after all input.
    func finish(into output: inout Data) {
        stream.pointee.next_in = nil
        stream.pointee.avail_in = 0
        run(Z_FINISH, into: &output)
    }

    private func run(_ flush: Int32, into output: inout Data) {
        repeat {
            stream.pointee.next_out = buffer.baseAddress
            stream.pointee.avail_out = UInt32(buffer.count)
            // Fails only if there is nothing to do, and then produces no output.
            deflate(stream, flush)
            let count = buffer.count - Int(stream.pointee.avail_out)
            if let base = buffer.baseAddress, count > 0 { output.append(base, count: count) }
        } while stream.pointee.avail_out == 0
    }

    /// Compresses bytes in one call, unless the result would not be smaller.
    ///
    /// - Parameters:
    ///   - input: The bytes.
    ///   - level: The compression level.
    /// - Returns: The compressed bytes; nil if they are not fewer, or if there is not enough memory.
    static func smaller(_ input: Data, level: Int) -> Data? {
        guard let encoder = GzipEncoder(level: level) else { return nil }
        var output = Data()
        encoder.compress(input, into: &output)
        guard output.count < input.count else { return nil }
        encoder.finish(into: &output)
        return output.count < input.count ? output : nil
    }
}

extension RequestBody.Stream {
    /// The minimum number of compressed bytes per chunk. Smaller pieces would become small chunks on the wire.
    private static let pieceSize = 32 << 10

    /// Returns a stream that compresses the bytes with gzip as they are read.
    ///
    /// - Parameters:
    ///   - level: The compression level.
    ///   - length: The announced length of the source, which is verified here because the compressed length does not
    ///     reveal it; nil if it is not known.
    /// - Returns: A stream. Each time it is opened it starts at the source's first byte.
    func gzipped(level: Int, length: Int64?) -> RequestBody.Stream {
        RequestBody.Stream { [self] in
            guard let encoder = GzipEncoder(level: level) else { return { throw SluiceError.noCompression } }
            let next = open()
            var count: Int64 = 0
            var isOver = false
            return {
                if isOver { return nil }
                var output = Data()
                while output.count < RequestBody.Stream.pieceSize {
                    guard let chunk = try await next() else {
                        if let length, count < length { throw SluiceError.lengthMismatch(length, "only \(count)") }
                        isOver = true
                        encoder.finish(into: &output)
                        break
                    }
                    count += Int64(chunk.count)
                    if let length, count > length { throw SluiceError.lengthMismatch(length, "more") }
                    encoder.compress(chunk, into: &output)
                }
                return output
            }
        }
    }
}

extension SluiceError {
    fileprivate static var noCompression: SluiceError {
        SluiceError(.internalFailure, "The request's body could not be compressed: there is not enough memory.")
    }

    fileprivate static func lengthMismatch(_ length: Int64, _ actual: String) -> SluiceError {
        SluiceError(.bodyLengthMismatch, "The request's body was expected to have \(length) bytes, but had \(actual).")
    }
}
