import Dispatch
import SluiceHTTP

/// The events that wait for an observer.
final class ObserverMailbox: Sendable {
    private struct State {
        var waiting: [(RequestEvent, ObservedRequest)] = []
        var missed = 0
        var isDelivering = false
    }

    /// Beyond so many the newest are dropped.
    static let capacity = 65_536

    let interests: RequestEvent.Kinds
    private let observer: any RequestObserver
    private let state = Locked(State())
    private let queue = DispatchQueue(label: "sluice.observer")

    init(_ observer: any RequestObserver) {
        self.observer = observer
        interests = observer.interests
    }

    func post(_ event: RequestEvent, of request: ObservedRequest) {
        let begins = state.withLock { state in
            guard state.waiting.count < ObserverMailbox.capacity else {
                state.missed += 1
                return false
            }
            state.waiting.append((event, request))
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        if begins { queue.async { [self] in deliver() } }
    }

    /// Waits until the observer has been told of all that was posted before.
    func deliverAll() async {
        await queue.result {}
    }

    /// Delivers until nothing waits; those that come meanwhile wake nobody.
    private func deliver() {
        while true {
            let (events, missed) = state.withLock { state in
                let next = (state.waiting, state.missed)
                state.waiting = []
                state.missed = 0
                state.isDelivering = !next.0.isEmpty || next.1 > 0
                return next
            }
            if events.isEmpty && missed == 0 { return }
            for (event, request) in events { observer.observe(event, of: request) }
            if missed > 0 { observer.missed(missed) }
        }
    }
}
