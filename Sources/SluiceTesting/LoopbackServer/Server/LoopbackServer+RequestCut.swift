/// A rule that interrupts connections while a request is read.
struct RequestCut: Sendable {
    let count: Int
    let cut: LoopbackResponse.Cut
    /// The number of further connections to interrupt, or nil for all.
    var times: Int?

    /// Returns how to end a connection after `count` bytes of its request, or nil to continue. Uses up one of `times`.
    mutating func takeTurn(afterReading count: Int) -> LoopbackResponse.Cut? {
        guard count >= self.count, times != 0 else { return nil }
        times = times.map { $0 - 1 }
        return cut
    }
}

extension LoopbackServer {
    /// Interrupts connections in the middle of requests from now on.
    ///
    /// ```swift
    /// server.cutOffRequests(after: 1000, by: .reset, times: 1)      // a long upload fails once, and is then taken
    /// ```
    ///
    /// An interrupted request does not appear in ``requests``. A request of at most `count` bytes is answered.
    ///
    /// - Parameters:
    ///   - count: The number of bytes of a request to read, including the head and chunked framing. With 0, the connection
    ///     is interrupted as soon as a request begins.
    ///   - cut: The way the connection ends. Closed by default.
    ///   - times: The number of connections to interrupt, or nil for all. 0 cancels an earlier call.
    public func cutOffRequests(after count: Int, by cut: LoopbackResponse.Cut = .close, times: Int? = nil) {
        routes.cutRequests(times == 0 ? nil : RequestCut(count: max(0, count), cut: cut, times: times))
    }
}
