import SluiceFoundation
import SluiceHTTP

/// The expiration of cache entries.
///
/// ```swift
/// try await cache.set(session, for: "session", expiration: .seconds(900).extendedOnAccess)
/// try await cache.set(catalogue, for: "catalogue", expiration: .days(7).inMemory(.seconds(300)))
/// ```
public struct CacheExpiration: Sendable, Hashable {
    enum Term: Sendable, Hashable {
        case never
        case after(Duration)
        case date(Date)
    }

    package struct TierExpiration: Sendable, Hashable {
        var term: Term
        var isExtended = false
    }

    private var tier: TierExpiration
    /// The expiration in memory; nil for the same.
    private(set) var memory: TierExpiration?

    private init(_ term: Term) {
        tier = TierExpiration(term: term)
    }

    init(_ tier: TierExpiration) {
        self.tier = tier
    }

    /// Never. The entry stays until it is removed or evicted.
    public static let never = CacheExpiration(.never)

    /// The given number of seconds after the entry was stored; immediately if it is not positive or NaN.
    public static func seconds(_ seconds: Double) -> CacheExpiration {
        .after(Duration(longSeconds: seconds))
    }

    /// The given number of minutes after the entry was stored; immediately if it is not positive or NaN.
    public static func minutes(_ minutes: Double) -> CacheExpiration {
        .seconds(minutes * 60)
    }

    /// The given number of hours after the entry was stored; immediately if it is not positive or NaN.
    public static func hours(_ hours: Double) -> CacheExpiration {
        .seconds(hours * 3600)
    }

    /// The given number of 24-hour days after the entry was stored; immediately if it is not positive or NaN.
    public static func days(_ days: Double) -> CacheExpiration {
        .seconds(days * 86_400)
    }

    /// The given duration after the entry was stored; immediately if it is not positive.
    public static func after(_ duration: Duration) -> CacheExpiration {
        CacheExpiration(.after(duration))
    }

    /// A fixed date.
    public static func date(_ date: Date) -> CacheExpiration {
        CacheExpiration(.date(date))
    }

    /// The same expiration, counted from the last access. A fixed date does not change.
    ///
    /// In memory, each access counts. Storage records an access only after an eighth of the lifetime, or a minute if
    /// that is shorter, so that not every hit is a write.
    public var extendedOnAccess: CacheExpiration {
        var extended = self
        extended.tier.isExtended = true
        return extended
    }

    /// The same expiration in storage, and another one in memory.
    ///
    /// An entry that has expired in memory is read from storage, and kept in memory for that time again. In memory, an
    /// entry may also outlive its copy in storage. Without storage, the expiration in memory is the only one.
    ///
    /// - Parameter expiration: The expiration in memory.
    /// - Returns: An expiration with both.
    public func inMemory(_ expiration: CacheExpiration) -> CacheExpiration {
        var both = self
        both.memory = expiration.tier
        return both
    }

    /// Returns the expiration date of an entry stored at a time; nil for never.
    package func date(from now: Date) -> Date? {
        switch tier.term {
        case .never: nil
        case .after(let duration): now + duration.longSeconds
        case .date(let date): date
        }
    }

    /// The duration by which each access extends the lifetime; nil if it does not.
    package var renewal: Duration? {
        guard tier.isExtended, case .after(let duration) = tier.term, duration > .zero else { return nil }
        return duration
    }
}

extension Duration {
    /// The maximum duration, in seconds: about 3,000 years. It is small enough to avoid overflow.
    private static let longest = 1e11

    /// Creates a duration, clamped to the maximum; NaN becomes zero.
    init(longSeconds seconds: Double) {
        self = seconds.isNaN ? .zero : .seconds(max(-Self.longest, min(seconds, Self.longest)))
    }

    /// The duration in seconds, clamped to the maximum.
    var longSeconds: Double {
        max(-Self.longest, min(self / .seconds(1), Self.longest))
    }
}
