/// A sequence of stubs with its current position.
final class StubSequence: Sendable {
    private let stubs: [Stub]
    private let ending: Stub.SequenceEnd
    private let taken = Locked(0)

    init(_ stubs: [Stub], _ ending: Stub.SequenceEnd) {
        self.stubs = stubs
        self.ending = ending
    }

    /// Returns the next stub and advances the position.
    func take() throws(SluiceError) -> Stub {
        let turn = taken.withLock { taken in
            defer { taken += 1 }
            return taken
        }
        if turn < stubs.count { return stubs[turn] }
        switch ending {
        case .repeatLast: if let last = stubs.last { return last }
        case .startAgain: if !stubs.isEmpty { return stubs[turn % stubs.count] }
        case .fail: break
        }
        throw SluiceError(
            .stubExhausted,
            stubs.isEmpty
                ? "The stub is a sequence without answers."
                : "The stub has no more answers: all \(stubs.count) of its sequence have been given."
        )
    }
}
