import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Now, by the clock that never goes back and by the time of day: what a decision about tokens depends on.
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
