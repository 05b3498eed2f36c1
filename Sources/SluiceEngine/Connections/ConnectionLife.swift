#if os(Linux)
import SluiceHTTP
import Synchronization

/// The time during which a connection takes requests.
///
/// It ends with the lifetime of the connection, when newer certificates replace those of its TLS context or of its proxy's, and when the
/// pool retires it.
struct ConnectionLife: ~Copyable, Sendable {
    /// The time at which the dial began.
    let dialed: MonotonicTime
    private let context: TLSContext?
    private let proxyContext: TLSContext?
    /// The end of the lifetime in nanoseconds.
    private let limit: Atomic<Int64>

    init(since dialed: MonotonicTime, lifetime: Duration?, tls: TLSStream?) {
        self.dialed = dialed
        context = tls?.context
        proxyContext = tls?.outer?.context
        let lifetime = lifetime.map { Self.length(of: $0, random: .random(in: .min ... .max)) }
        limit = Atomic((lifetime.map { dialed + $0 } ?? .distantFuture).nanoseconds)
    }

    /// Returns the lifetime of one connection, between 80% and 100% of the maximum.
    ///
    /// Connections that were opened together, by one process or by many, are thus not replaced together.
    ///
    /// - Parameters:
    ///   - maximum: The maximum lifetime.
    ///   - random: 64 random bits.
    /// - Returns: The lifetime.
    static func length(of maximum: Duration, random: UInt64) -> Duration {
        let nanoseconds = maximum.nanoseconds
        guard nanoseconds > 0 else { return maximum }
        let range = UInt64(nanoseconds / 5) + 1
        return .nanoseconds(nanoseconds - Int64(random % range))
    }

    /// The end of the lifetime.
    var end: MonotonicTime { MonotonicTime(nanoseconds: limit.load(ordering: .relaxed)) }

    /// Returns true if the connection takes no further request.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - isFresh: True for the request that the connection was opened for. It is sent however short the lifetime is.
    /// - Returns: True if the life is over.
    func isOver(at now: MonotonicTime, isFresh: Bool = false) -> Bool {
        (isFresh ? isRetired : end <= now) || isOutdated
    }

    /// True if newer certificates than those of the connection are in use.
    var isOutdated: Bool { context?.isReplaced == true || proxyContext?.isReplaced == true }

    /// Ends the life now. Can be called on any thread.
    func retire() { limit.store(.min, ordering: .relaxed) }

    /// True after ``retire()``.
    var isRetired: Bool { limit.load(ordering: .relaxed) == .min }
}
#endif
