#if os(Linux)
import SluiceHTTP

extension UploadPipe {
    /// Reads a source to its end into the pipe, and checks its announced length.
    ///
    /// The chunk that completes the length is held back until the source has ended. A body that is too long therefore fails before the
    /// server can treat it as complete.
    package func pump(_ stream: HTTPBody.Stream, length: Int64?) async {
        let next = stream.open()
        var count: Int64 = 0
        do {
            while let chunk = try await next() {
                count += Int64(chunk.count)
                let isComplete = count == length
                while isComplete, count == length, let more = try await next() { count += Int64(more.count) }
                if let length, count > length { return finish(.failure(.mismatch(length, "more"))) }
                guard await write(chunk) else { return }
                if isComplete { break }
            }
            if let length, count < length { return finish(.failure(.mismatch(length, "only \(count)"))) }
            finish(.success(()))
        } catch let error as SluiceError {
            finish(.failure(error))
        } catch {
            finish(
                .failure(SluiceError(.bodyUnavailable, "The request's body could not be read.", underlyingError: error))
            )
        }
    }
}

extension SluiceError {
    fileprivate static func mismatch(_ length: Int64, _ given: String) -> SluiceError {
        SluiceError(.bodyLengthMismatch, "The request's body announced \(length) bytes and gave \(given).")
    }
}
#endif
