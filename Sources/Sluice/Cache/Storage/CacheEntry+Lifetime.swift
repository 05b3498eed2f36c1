import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheEntry {
    /// The tolerance in seconds for time stamps later than the current time. Smaller adjustments of the clock are
    /// normal.
    static let clockTolerance = 60.0

    /// The size of the entry in bytes, including its key, its head and a fixed overhead.
    var byteCount: Int {
        var count =
            192 + body.count + key.name.utf8.count + key.partition.utf8.count + variant.utf8.count
        if let response { count += response.url.utf8.count + response.head.headers.byteCount + 128 }
        for tag in tags { count += tag.utf8.count + 16 }
        return count
    }

    /// True if the entry may be returned: it has not expired and does not lie in the future because the clock was set
    /// back.
    func isLive(at now: Date) -> Bool {
        Lifetime(of: self).isLive(at: now.timeIntervalSinceReferenceDate)
    }

    /// The period in which an entry may be returned, in seconds since the reference date.
    struct Lifetime {
        /// The start: the time at which the entry was stored, or its last access if accesses extend the lifetime.
        var began: Double
        /// The end.
        var ends: Double
        /// The duration by which each access extends the lifetime; 0 if it does not.
        let renewal: Double

        init(of entry: CacheEntry) {
            renewal = entry.renewal?.longSeconds ?? 0
            ends = entry.expires?.timeIntervalSinceReferenceDate ?? .infinity
            // An expiration that is NaN counts as expired.
            if ends.isNaN { ends = -.infinity }
            began = renewal > 0 ? ends - renewal : entry.stored.timeIntervalSinceReferenceDate
        }

        /// Returns the time of the last access that storage knows of, as far as the entry shows.
        func told(_ entry: CacheEntry) -> Double {
            max(renewal > 0 && ends < .infinity ? began : -.infinity, entry.stored.timeIntervalSinceReferenceDate)
        }

        func isLive(at now: Double) -> Bool {
            ends == .infinity || now < ends && began <= now + CacheEntry.clockTolerance
        }

        /// Extends the lifetime if accesses do so.
        mutating func extend(at now: Double) {
            guard renewal > 0, ends < .infinity else { return }
            began = now
            ends = now + renewal
        }
    }
}
