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
