#if os(Linux)
import SluiceHTTP
import Synchronization

/// The flow-control window of one stream: the bytes that the server may send before the reader consumes them (RFC 9113 §5.2).
///
/// A window starts small, so an unread response uses little memory. If the reader consumes half of the window within two round trips, the
/// window limits the speed. It grows to twice the bytes of a round trip at the reader's speed, and at least eightfold.
struct FlowWindow {
    static let initialSize = 256 << 10
    static let maximumSize = 32 << 20
    /// The window of a connection. It is replenished on receipt, so no stream waits for the reader of another.
    static let connectionSize = 64 << 20
    /// The minimum credit that is returned to the server at once.
    private static let minimumCredit = 128 << 10

    private(set) var size: Int
    /// The number of bytes passed to the reader in the current measurement.
    private var delivered = 0
    /// The start of the current measurement, or nil before the first byte.
    private var began: MonotonicTime?

    init(size: Int = FlowWindow.initialSize) {
        self.size = size
    }

    /// Records bytes that were passed to the reader.
    ///
    /// - Parameters:
    ///   - count: The number of bytes.
    ///   - unread: The number of all bytes that were passed to the reader and have not been read.
    ///   - roundTrip: The round-trip time.
    ///   - now: The current time.
    /// - Returns: True if the window has grown.
    mutating func recordDelivered(
        _ count: Int,
        unread: @autoclosure () -> Int,
        roundTrip: Duration,
        at now: MonotonicTime
    ) -> Bool {
        delivered += count
        let start = began ?? now
        began = start
        guard delivered >= size / 2 else { return false }
        let elapsed = now.since(start)
        let isSlow = size == FlowWindow.maximumSize || elapsed > roundTrip * 2
        let unread = isSlow ? 0 : unread()
        let read = delivered - unread
        guard read >= size / 2 else { return false }
        delivered = unread
        began = now
        if isSlow { return false }
        let perRoundTrip = Double(read) * (roundTrip / max(elapsed, .nanoseconds(1)))
        size = Int(min(max(Double(size) * 8, perRoundTrip * 2), Double(FlowWindow.maximumSize)))
        return true
    }

    /// Returns true once the credit for the server is an eighth of the window, so that a frame is sent for it.
    func isEnough(_ credit: Int) -> Bool { credit >= max(FlowWindow.minimumCredit, size / 8) }
}

/// The bytes that the large initial windows of one client's streams may have. Limits the memory of responses that nobody reads. A
/// response counts until it has been read.
///
/// A stream that is alone on its connection takes half of the available bytes, which saves a long download one or two round trips.
final class WindowBudget: Sendable {
    static let size = 16 << 20

    private let available = Atomic(WindowBudget.size)

    /// Bytes that were taken from a budget, and are returned when the share is released.
    final class Share: Sendable {
        private let budget: WindowBudget
        private let bytes: Int

        init(of budget: WindowBudget, bytes: Int) {
            self.budget = budget
            self.bytes = bytes
        }

        deinit {
            budget.giveBack(bytes)
        }
    }

    /// Takes half of the available bytes for a window. Returns 0 if that is no more than the window that every stream has.
    func take() -> Int {
        var bytes = available.load(ordering: .relaxed)
        while bytes / 2 > FlowWindow.initialSize {
            let (exchanged, current) = available.compareExchange(
                expected: bytes,
                desired: bytes - bytes / 2,
                ordering: .relaxed
            )
            if exchanged { return bytes / 2 }
            bytes = current
        }
        return 0
    }

    private func giveBack(_ bytes: Int) {
        available.add(bytes, ordering: .relaxed)
    }
}
#endif
