import Foundation
import Sluice
import Synchronization

/// The outcomes of the requests.
final class Ledger: Sendable {
    private struct State {
        var outcomes: [String: Int] = [:]
        var unexpected: [String] = []
        var count = 0
        var unexpectedCount = 0
        /// The requests in progress.
        var running: [Int: (kind: String, began: ContinuousClock.Instant)] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    /// Records an allowed outcome of a request.
    func note(_ kind: String, _ outcome: String) {
        state.withLock { state in
            state.outcomes["\(kind) \(outcome)", default: 0] += 1
            state.count += 1
        }
    }

    /// Records an outcome that is not allowed.
    func noteUnexpected(_ kind: String, _ outcome: String) {
        state.withLock { state in
            state.count += 1
            state.unexpectedCount += 1
            if state.unexpected.count < 20 { state.unexpected.append("\(kind): \(outcome)") }
        }
    }

    /// Records a request that begins. Returns a number for ``end(_:)``.
    func begin(_ kind: String) -> Int {
        state.withLock { state in
            state.last += 1
            state.running[state.last] = (kind, .now)
            return state.last
        }
    }

    func end(_ request: Int) {
        state.withLock { $0.running[request] = nil }
    }

    /// The request that has been in progress for the longest time; nil if there is none.
    var longest: (kind: String, time: Duration)? {
        state.withLock(\.running).values.min { $0.began < $1.began }.map { ($0.kind, ContinuousClock.now - $0.began) }
    }

    var count: Int { state.withLock(\.count) }
    var unexpectedCount: Int { state.withLock(\.unexpectedCount) }
    /// The first outcomes that are not allowed.
    var unexpected: [String] { state.withLock(\.unexpected) }

    /// Every kind of outcome with its count, in alphabetical order.
    var summary: String {
        state.withLock(\.outcomes).sorted { $0.key < $1.key }
            .map { "\($0.key): \($0.value)" }
            .joined(separator: "\n")
    }
}
