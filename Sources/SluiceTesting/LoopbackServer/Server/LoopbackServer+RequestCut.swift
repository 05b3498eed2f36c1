/// Where connections break off while a request is read.
struct RequestCut: Sendable {
    let count: Int
    let cut: LoopbackResponse.Cut
    /// How many more connections; nil for all.
    var times: Int?

    /// What happens to a connection of whose request so many bytes have been read, at the cost of one of the times.
    mutating func takeTurn(afterReading count: Int) -> LoopbackResponse.Cut? {
        guard count >= self.count, times != 0 else { return nil }
        times = times.map { $0 - 1 }
        return cut
    }
}

extension LoopbackServer {
    /// Breaks connections off in the middle of requests, from now on.
    ///
    /// ```swift
    /// server.cutOffRequests(after: 1000, by: .reset, times: 1)      // a long upload fails once, and is then taken
    /// ```
    ///
    /// A request that is cut off is not among ``requests``; one that is no longer than `count` is answered.
    ///
    /// - Parameters:
    ///   - count: How many bytes of a request are read, its head and the framing of chunks included. With 0 the connection breaks off as
    ///     soon as a request begins to come.
    ///   - cut: What happens to the connection; closed by default.
    ///   - times: How many connections break off, nil for all; 0 ends an earlier call's.
    public func cutOffRequests(after count: Int, by cut: LoopbackResponse.Cut = .close, times: Int? = nil) {
        routes.cutRequests(times == 0 ? nil : RequestCut(count: max(0, count), cut: cut, times: times))
    }
}
