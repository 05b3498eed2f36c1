import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A point in time, by the continuous clock and as a date.
struct Moment: Sendable {
    let now: ContinuousClock.Instant
    let date: Date

    init(now: ContinuousClock.Instant, date: Date) {
        self.now = now
        self.date = date
    }

    init(_ time: any TimeSource) {
        self.init(now: time.now, date: time.date)
    }
}
