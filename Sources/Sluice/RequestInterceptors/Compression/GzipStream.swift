import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension HTTPBody.Stream {
    /// Bytes that are compressed before a chunk goes on; small ones would make chunks of their own on the wire.
    private static let pieceSize = 32 << 10

    /// The same bytes in gzip's format, compressed as they are read.
    ///
    /// - Parameters:
    ///   - level: How hard to try.
    ///   - length: What the source must come to, where it has said so: the compressed bytes do not tell any more.
    /// - Returns: A stream; opened again, it begins with the source's first byte.
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
