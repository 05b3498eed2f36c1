import Foundation
import Sluice
import Synchronization

/// The outcomes of the requests.
final class Ledger: Sendable {
    private struct State {
        var outcomes: [String: Int] = [:]
        var wrongs: [String] = []
        var count = 0
        var wrongCount = 0
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
    func noteWrong(_ kind: String, _ what: String) {
        state.withLock { state in
            state.count += 1
            state.wrongCount += 1
            if state.wrongs.count < 20 { state.wrongs.append("\(kind): \(what)") }
        }
    }

    var count: Int { state.withLock(\.count) }
    var wrongCount: Int { state.withLock(\.wrongCount) }
    /// The first outcomes that are not allowed.
    var wrongs: [String] { state.withLock(\.wrongs) }

    /// Every kind of outcome with its count, in alphabetical order.
    var summary: String {
        state.withLock(\.outcomes).sorted { $0.key < $1.key }
            .map { "\($0.key): \($0.value)" }
            .joined(separator: "\n")
    }
}
