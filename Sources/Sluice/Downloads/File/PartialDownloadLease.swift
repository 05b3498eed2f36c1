import SluiceHTTP

/// A sender's claim to its partial file. While the sender is about to release the file, the next sender waits for it.
final class PartialDownloadLease: Sendable {
    private let state = Locked(false)

    init() {}

    /// True if the sender will release its partial file soon.
    var isEnding: Bool { state.withLock { $0 } }

    /// Announces that the sender was cancelled or is done.
    func end() {
        state.withLock { $0 = true }
    }
}

/// The partial files that this process holds. A file lock does not show that its holder is about to release it.
final class PartialDownloadClaims: Sendable {
    static let shared = PartialDownloadClaims()

    private struct Claim {
        let lease: PartialDownloadLease
        var waiting: [Int: UnsafeContinuation<Void, Never>] = [:]
    }

    private struct State {
        var claims: [String: Claim] = [:]
        var lastID = 0
    }

    private enum ClaimResult { case granted, denied, ending(Int) }

    private let state = Locked(State())

    /// Claims a partial file, and waits if its holder is about to release it.
    ///
    /// - Parameters:
    ///   - path: The path of the partial file.
    ///   - lease: The lease of the claiming sender.
    /// - Returns: True if the claim was granted; false if another sender holds the file and is not about to end.
    /// - Throws: `cancelled` if the task or the lease ends first.
    func claim(_ path: String, for lease: PartialDownloadLease) async throws(SluiceError) -> Bool {
        while true {
            if Task.isCancelled || lease.isEnding { throw .cancelled }
            let result = state.withLock { state -> ClaimResult in
                if let claim = state.claims[path] {
                    guard claim.lease.isEnding else { return .denied }
                    state.lastID &+= 1
                    return .ending(state.lastID)
                }
                state.claims[path] = Claim(lease: lease)
                return .granted
            }
            switch result {
            case .granted: return true
            case .denied: return false
            case .ending(let id): await waitForRelease(of: path, as: id)
            }
        }
    }

    /// Releases a partial file after it is closed. Does nothing if another lease holds it.
    func release(_ path: String, from lease: PartialDownloadLease) {
        let claim = state.withLock { state in
            state.claims[path]?.lease === lease ? state.claims.removeValue(forKey: path) : nil
        }
        for waiter in claim?.waiting.values ?? [:].values { waiter.resume() }
    }

    private func waitForRelease(of path: String, as id: Int) async {
        defer { state.synchronize() }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isWaiting = state.withLock { state in
                    // A new sender may hold the file by now, and is not about to release it.
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
