extension HTTPBody {
    /// True if a file has to be opened or a deferred body created before the first byte is sent.
    package var needsPreparation: Bool {
        switch source {
        case .none, .data, .stream: false
        case .file, .deferred: true
        }
    }

    /// Opens the file or creates the deferred body, so that a missing source fails the request before a byte is sent.
    ///
    /// - Parameters:
    ///   - limit: The request's total time, counted from now. If the preparation takes longer, or the task is
    ///     cancelled, this function throws without waiting for the preparation to end.
    ///   - time: The clock that measures the limit.
    /// - Returns: A body in memory or a stream.
    /// - Throws: A ``SluiceError``, of code ``SluiceError/Code/bodyUnavailable`` if the source failed.
    package func prepared(
        within limit: Duration?,
        on time: any TimeSource = SystemTime()
    ) async throws(SluiceError) -> HTTPBody {
        guard needsPreparation else { return self }
        return try await TimedWork.outcome(within: limit, on: time) { () async throws(SluiceError) in try await opened()
        }
    }

    private func opened() async throws(SluiceError) -> HTTPBody {
        switch source {
        case .none, .data, .stream:
            return self
        case .file(let url):
            return try await .opened(url)
        case .deferred(let prepare):
            let body: HTTPBody
            do {
                body = try await prepare()
            } catch let error as SluiceError {
                throw error
            } catch {
                throw SluiceError(.bodyUnavailable, "The request's body could not be made.", underlyingError: error)
            }
            return try await body.opened()
        }
    }
}
