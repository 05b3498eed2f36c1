import Foundation
import SluiceHTTP

extension HTTPBody.Stream {
    /// Reads the stream to its end and checks it against the announced length.
    ///
    /// The chunk that completes the length is passed on only after the stream has ended, so that a body that is too
    /// long fails before the server receives it as complete.
    ///
    /// - Parameters:
    ///   - length: The announced length in bytes, if any.
    ///   - take: Called with each chunk that is not empty.
    /// - Throws: The error of the stream or of `take`, or ``SluiceError/Code/bodyLengthMismatch``.
    func read(length: Int64?, _ take: (Data) async throws(SluiceError) -> Void) async throws(SluiceError) {
        let next = open()
        func nextChunk() async throws(SluiceError) -> Data? {
            do {
                return try await next()
            } catch let error as SluiceError {
                throw error
            } catch {
                throw .unavailable("The request's body could not be read.", error)
            }
        }
        var count: Int64 = 0
        while let chunk = try await nextChunk() {
            count += Int64(chunk.count)
            let isComplete = count == length
            while isComplete, let more = try await nextChunk() { count += Int64(more.count) }
            if let length, count > length { throw .mismatch(length, "more") }
            if !chunk.isEmpty { try await take(chunk) }
            if isComplete { return }
        }
        if let length, count < length { throw .mismatch(length, "only \(count)") }
    }
}

extension SluiceError {
    fileprivate static func mismatch(_ length: Int64, _ given: String) -> SluiceError {
        SluiceError(.bodyLengthMismatch, "The request's body announced \(length) bytes and gave \(given).")
    }
}
