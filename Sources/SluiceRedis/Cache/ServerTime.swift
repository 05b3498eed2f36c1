#if os(Linux)
import SluiceFoundation
import SluiceHTTP

/// The server's time, computed from a sample and the time since.
///
/// The clocks of the machines may differ by minutes. All times that they share are therefore the server's. The computation does not use this
/// machine's date, so that setting it has no effect.
struct ServerTime: Sendable {
    /// The server's time in seconds since 1970.
    private let seconds: Double
    private let taken: ContinuousClock.Instant

    /// Creates the time from a reply to `TIME`; nil for another reply.
    ///
    /// - Parameters:
    ///   - reply: The reply.
    ///   - sent: The instant at which the command was sent.
    ///   - received: The instant at which the reply arrived.
    init?(_ reply: RedisValue, sent: ContinuousClock.Instant, received: ContinuousClock.Instant) {
        guard let elements = reply.elements, elements.count == 2, let seconds = elements[0].int,
            let microseconds = elements[1].int,
            (1..<1 << 40).contains(seconds), (0..<1_000_000).contains(microseconds)
        else { return nil }
        self.seconds = Double(seconds) + Double(microseconds) / 1e6
        taken = sent + (received - sent) / 2
    }

    /// True if the sample is so recent that the clocks cannot have drifted apart.
    func isRecent(at now: ContinuousClock.Instant) -> Bool { now - taken < .seconds(60) }

    /// Returns the seconds by which the server's clock is ahead of this machine's.
    func offset(on clock: any SluiceClock) -> Double {
        seconds + (clock.now - taken) / .seconds(1) - clock.date.timeIntervalSince1970
    }
}
#endif
