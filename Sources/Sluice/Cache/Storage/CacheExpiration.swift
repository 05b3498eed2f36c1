#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// When what a cache keeps is gone.
///
/// ```swift
/// try await cache.set(session, for: "session", expiration: .seconds(900).extendedOnAccess)
/// try await cache.set(catalogue, for: "catalogue", expiration: .days(7))
/// ```
public struct CacheExpiration: Sendable, Hashable {
    private enum Term: Sendable, Hashable {
        case never
        case after(Duration)
        case date(Date)
    }

    private var term: Term
    private var isExtended = false

    private init(_ term: Term) {
        self.term = term
    }

    /// Never; it stays until it is removed, or others need its place.
    public static let never = CacheExpiration(.never)

    /// So many seconds after it was kept; at once if they are not positive, or no number.
    public static func seconds(_ seconds: Double) -> CacheExpiration {
        .after(Duration(longSeconds: seconds))
    }

    /// So many days of 24 hours after it was kept; at once if they are not positive, or no number.
    public static func days(_ days: Double) -> CacheExpiration {
        .seconds(days * 86_400)
    }

    /// So long after it was kept; at once if it is not positive.
    public static func after(_ duration: Duration) -> CacheExpiration {
        CacheExpiration(.after(duration))
    }

    /// At a date.
    public static func date(_ date: Date) -> CacheExpiration {
        CacheExpiration(.date(date))
    }

    /// The same, but counted from when it was asked for last; a date stays what it is.
    ///
    /// In memory each access counts; in storage it is noted when an eighth of the time has passed, so that a hit is not a write.
    public var extendedOnAccess: CacheExpiration {
        var extended = self
        extended.isExtended = true
        return extended
    }

    /// When something is gone that is kept at a time; nil for never.
    public func date(from now: Date) -> Date? {
        switch term {
        case .never: nil
        case .after(let duration): now + duration.longSeconds
        case .date(let date): date
        }
    }

    /// For how long each access puts it off; nil where it does not.
    public var renewal: Duration? {
        guard isExtended, case .after(let duration) = term, duration > .zero else { return nil }
        return duration
    }
}

extension Duration {
    /// So long that nobody sees its end, and short enough to count with: some 3,000 years, in seconds.
    private static let longest = 1e11

    /// Makes a duration of any number.
    init(longSeconds seconds: Double) {
        self = seconds.isNaN ? .zero : .seconds(max(-Self.longest, min(seconds, Self.longest)))
    }

    /// In seconds.
    var longSeconds: Double {
        max(-Self.longest, min(self / .seconds(1), Self.longest))
    }
}
