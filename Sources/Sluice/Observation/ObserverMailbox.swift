import Dispatch
import SluiceHTTP

/// The events that wait for an observer.
final class ObserverMailbox: Sendable {
    /// An event on its way to all who want it; a class, so that handing it on copies a pointer.
    final class Note: Sendable {
        let event: RequestEvent
        let request: ObservedRequest

        init(_ event: RequestEvent, _ request: ObservedRequest) {
            self.event = event
            self.request = request
        }
    }

    private struct State {
        var waiting: [Note] = []
        var missed = 0
        var isDelivering = false
    }

    /// Beyond so many the newest are dropped.
    static let capacity = 65_536
    /// How long the first event waits for others: waking a thread for each would cost more than the event.
    static let delay = DispatchTimeInterval.milliseconds(5)

    let interests: RequestEvent.Kinds
    private let observer: any RequestObserver
    /// The observer, if it need not wait for its events.
    private let immediate: (any ImmediateObserver)?
    private let state = Locked(State())
    private let queue = DispatchQueue(label: "sluice.observer")

    init(_ observer: any RequestObserver) {
        self.observer = observer
        immediate = observer as? any ImmediateObserver
        interests = observer.interests
    }

    func post(_ note: Note) {
        if let immediate { return immediate.observe(note.event, of: note.request) }
        let begins = state.withLock { state in
            guard state.waiting.count < ObserverMailbox.capacity else {
                state.missed += 1
                return false
            }
            state.waiting.append(note)
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        if begins { deliverSoon() }
    }

    /// Waits until the observer has been told of all that was posted before.
    func deliverAll() async {
        await queue.result { [self] in deliver() }
    }

    private func deliverSoon() {
        queue.asyncAfter(deadline: .now() + Self.delay) { [self] in deliver() }
    }

    /// Delivers what waits; what comes meanwhile waits for the next time.
    private func deliver() {
        let (notes, missed) = state.withLock { state in
            defer {
                state.waiting = []
                state.missed = 0
            }
            return (state.waiting, state.missed)
        }
        for note in notes { observer.observe(note.event, of: note.request) }
        if missed > 0 { observer.missed(missed) }
        let goesOn = state.withLock { state in
            state.isDelivering = !state.waiting.isEmpty || state.missed > 0
            return state.isDelivering
        }
        if goesOn { deliverSoon() }
    }
}

/// An observer that is so quick that queueing its events would take longer; it is told on the pipeline's own threads, several at
/// a time.
protocol ImmediateObserver: RequestObserver {}
