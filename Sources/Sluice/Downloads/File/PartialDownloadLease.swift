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
        var waiting: [Int: Waiter<Void>] = [:]
    }

    private enum ClaimResult { case granted, denied, ending }

    private let claims = Locked<[String: Claim]>([:])

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
            let result = claims.withLock { claims -> ClaimResult in
                if let claim = claims[path] { return claim.lease.isEnding ? .ending : .denied }
                claims[path] = Claim(lease: lease)
                return .granted
            }
            switch result {
            case .granted: return true
            case .denied: return false
            case .ending: await waitForRelease(of: path)
            }
        }
    }

    /// Claims a partial file that nobody holds, in order to remove it. Senders that want it wait for the release.
    ///
    /// - Parameter path: The path of the partial file.
    /// - Returns: The lease for the release; nil if a sender holds the file.
    func claimToRemove(_ path: String) -> PartialDownloadLease? {
        let lease = PartialDownloadLease()
        lease.end()
        return claims.withLock { claims in
            guard claims[path] == nil else { return nil }
            claims[path] = Claim(lease: lease)
            return lease
        }
    }

    /// Releases a partial file after it is closed. Does nothing if another lease holds it.
    func release(_ path: String, from lease: PartialDownloadLease) {
        let claim = claims.withLock { claims in
            claims[path]?.lease === lease ? claims.removeValue(forKey: path) : nil
        }
        for waiter in claim?.waiting.values ?? [:].values { waiter.resume() }
    }

    private func waitForRelease(of path: String) async {
        await claims.wait(cancelled: ()) { waiter in
            let isWaiting = claims.withLock { claims in
                // A new sender may hold the file by now, and is not about to release it.
                guard !Task.isCancelled, claims[path]?.lease.isEnding == true else { return false }
                claims[path]?.waiting[waiter.id] = waiter
                return true
            }
            if !isWaiting { waiter.resume() }
        } leave: { id in
            claims.withLock { $0[path]?.waiting.removeValue(forKey: id) }
        }
    }
}
