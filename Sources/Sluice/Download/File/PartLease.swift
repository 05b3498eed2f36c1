import SluiceHTTP

/// How a sender holds its part: says that it is about to give it back, so that who wants it next knows to wait.
final class PartLease: Sendable {
    private let state = Locked(false)

    init() {}

    /// Whether the sender will give its part back soon.
    var isEnding: Bool { state.withLock { $0 } }

    /// Says that the sender was cancelled, or is done.
    func end() {
        state.withLock { $0 = true }
    }
}

/// Which parts this process holds. Locks of files know nothing of one that is about to be given back.
final class PartClaims: Sendable {
    static let shared = PartClaims()

    private struct Claim {
        let lease: PartLease
        var waiting: [Int: UnsafeContinuation<Void, Never>] = [:]
    }

    private struct State {
        var claims: [String: Claim] = [:]
        var lastID = 0
    }

    private enum Answer { case given, refused, ending(Int) }

    private let state = Locked(State())

    /// Claims a part; waits for one whose holder is about to give it back.
    ///
    /// - Parameters:
    ///   - path: The part.
    ///   - lease: The claimant's.
    /// - Returns: Whether it is the claimant's now: false where another holds it and does not end.
    /// - Throws: `cancelled` where the task or the lease ends before.
    func claim(_ path: String, for lease: PartLease) async throws(SluiceError) -> Bool {
        while true {
            if Task.isCancelled || lease.isEnding { throw .cancelled }
            let answer = state.withLock { state -> Answer in
                if let claim = state.claims[path] {
                    guard claim.lease.isEnding else { return .refused }
                    state.lastID &+= 1
                    return .ending(state.lastID)
                }
                state.claims[path] = Claim(lease: lease)
                return .given
            }
            switch answer {
            case .given: return true
            case .refused: return false
            case .ending(let id): await released(path, waitingAs: id)
            }
        }
    }

    /// Gives a part back, once it is closed; does nothing where another has it.
    func release(_ path: String, from lease: PartLease) {
        let claim = state.withLock { state in
            state.claims[path]?.lease === lease ? state.claims.removeValue(forKey: path) : nil
        }
        for waiter in claim?.waiting.values ?? [:].values { waiter.resume() }
    }

    private func released(_ path: String, waitingAs id: Int) async {
        defer { state.synchronize() }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isWaiting = state.withLock { state in
                    // Another may hold it by now, who is not about to give it back.
                    guard !Task.isCancelled, state.claims[path]?.lease.isEnding == true else { return false }
                    state.claims[path]?.waiting[id] = continuation
                    return true
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.claims[path]?.waiting.removeValue(forKey: id) }?.resume()
        }
    }
}
