import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheEntry {
    /// How far ahead of the clock a time may lie that was written in the past: clocks of one machine are set by less.
    static let clockTolerance = 60.0

    /// The bytes it takes, its key and head included, and what any tier needs besides.
    var byteCount: Int {
        var count =
            192 + body.count + key.name.utf8.count + key.partition.utf8.count + variant.utf8.count
        if let response { count += response.url.utf8.count + response.head.headers.byteCount + 128 }
        for tag in tags { count += tag.utf8.count + 16 }
        return count
    }

    /// Whether it may be given out: it is not gone, and not from a future that the clock has since been set back from.
    func isLive(at now: Date) -> Bool {
        Lifetime(of: self).isLive(at: now.timeIntervalSinceReferenceDate)
    }

    /// From when to when an entry may be given out, in seconds since the reference date.
    struct Lifetime {
        /// When it began: when it was kept, or was asked for last if that puts its end off.
        var began: Double
        /// When it ends.
        var ends: Double
        /// How far each access puts its end off; 0 where it does not.
        let renewal: Double

        init(of entry: CacheEntry) {
            renewal = entry.renewal?.longSeconds ?? 0
            ends = entry.expires?.timeIntervalSinceReferenceDate ?? .infinity
            // A date that is no number is no date to rely on.
            if ends.isNaN { ends = -.infinity }
            began = renewal > 0 ? ends - renewal : entry.stored.timeIntervalSinceReferenceDate
        }

        /// When storage was told last that the entry was asked for, as far as the entry itself says.
        func told(_ entry: CacheEntry) -> Double {
            max(renewal > 0 && ends < .infinity ? began : -.infinity, entry.stored.timeIntervalSinceReferenceDate)
        }

        func isLive(at now: Double) -> Bool {
            ends == .infinity || now < ends && began <= now + CacheEntry.clockTolerance
        }

        /// Puts the end off, if an access does.
        mutating func extend(at now: Double) {
            guard renewal > 0, ends < .infinity else { return }
            began = now
            ends = now + renewal
        }
    }
}
