import SluiceHTTP

/// The bytes that a server may send on one stream before its reader has taken any of them (RFC 9113 §5.2).
///
/// A window begins small, so that a response nobody reads holds little memory. Whenever a reader has taken a whole window within four
/// round trips, the window is what limits the speed, and it doubles.
struct FlowWindow {
    /// The window of a new stream.
    static let initialSize = 128 << 10
    /// The size at which a window grows no more.
    static let maximumSize = 8 << 20
    /// The window of a connection. Its bytes are given back as they come, so that no stream waits for another's reader.
    static let connectionSize = 32 << 20

    private(set) var size = FlowWindow.initialSize
    private var taken = 0
    private var began: MonotonicTime

    init(at now: MonotonicTime) {
        began = now
    }

    /// Notes that bytes have gone to the reader.
    ///
    /// - Parameters:
    ///   - count: The bytes.
    ///   - unread: All bytes that have gone to the reader and were not read yet.
    ///   - roundTrip: The time that a byte and its answer take.
    ///   - now: The time.
    /// - Returns: True if the window has grown.
    mutating func take(
        _ count: Int,
        unread: @autoclosure () -> Int,
        roundTrip: Duration,
        at now: MonotonicTime
    ) -> Bool {
        taken += count
        guard taken >= size else { return false }
        let unread = unread()
        guard taken - unread >= size else { return false }
        let elapsed = now.since(began)
        taken = unread
        began = now
        guard size < FlowWindow.maximumSize, elapsed <= roundTrip * 4 else { return false }
        size *= 2
        return true
    }
}
