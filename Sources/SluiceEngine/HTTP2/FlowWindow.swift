import SluiceHTTP

/// The bytes that a server may send on one stream before its reader has taken any of them (RFC 9113 §5.2).
///
/// A window begins small, so that a response nobody reads holds little memory. Where a reader takes half of it within two round trips, the
/// window is what limits the speed, and it grows eightfold.
struct FlowWindow {
    /// The window of a new stream.
    static let initialSize = 256 << 10
    /// The size at which a window grows no more.
    static let maximumSize = 32 << 20
    /// The window of a connection. Its bytes are given back as they come, so that no stream waits for another's reader.
    static let connectionSize = 64 << 20
    /// The fewest bytes that are given back to the server at once.
    private static let smallestCredit = 128 << 10

    private(set) var size = FlowWindow.initialSize
    private var taken = 0
    private var credit = 0
    /// The moment since which bytes are counted; nil before the first.
    private var began: MonotonicTime?

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
        credit += count
        let start = began ?? now
        began = start
        guard taken >= size / 2 else { return false }
        let isSlow = size == FlowWindow.maximumSize || now.since(start) > roundTrip * 2
        let unread = isSlow ? 0 : unread()
        guard taken - unread >= size / 2 else { return false }
        taken = unread
        began = now
        if !isSlow { size = min(size * 8, FlowWindow.maximumSize) }
        return !isSlow
    }

    /// Takes the bytes that the server may send again, once they are an eighth of the window; 0 until then.
    mutating func takeCredit() -> Int {
        guard credit >= max(FlowWindow.smallestCredit, size / 8) else { return 0 }
        defer { credit = 0 }
        return credit
    }
}
