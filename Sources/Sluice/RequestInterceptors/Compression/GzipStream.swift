import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension HTTPBody.Stream {
    /// The minimum number of compressed bytes per chunk. Smaller pieces would become small chunks on the wire.
    private static let pieceSize = 32 << 10

    /// Returns a stream that compresses the bytes with gzip as they are read.
    ///
    /// - Parameters:
    ///   - level: The compression level.
    ///   - length: The announced length of the source, which is verified here because the compressed length does not
    ///     reveal it; nil if it is not known.
    /// - Returns: A stream. Each time it is opened it starts at the source's first byte.
    func gzipped(level: Int, length: Int64?) -> HTTPBody.Stream {
        HTTPBody.Stream { [self] in
            guard let encoder = GzipEncoder(level: level) else { return { throw SluiceError.noCompression } }
            let next = open()
            var count: Int64 = 0
            var isOver = false
            return {
                if isOver { return nil }
                var output = Data()
                while output.count < HTTPBody.Stream.pieceSize {
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
        SluiceError(.internalFailure, "The request's body could not be compressed: there is no memory for it.")
    }

    fileprivate static func lengthMismatch(_ length: Int64, _ given: String) -> SluiceError {
        SluiceError(.bodyLengthMismatch, "The request's body announced \(length) bytes and gave \(given).")
    }
}
