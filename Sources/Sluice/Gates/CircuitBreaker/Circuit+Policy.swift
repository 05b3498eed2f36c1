extension Circuit {
    /// The rules by which a circuit opens, stays open and closes. Values out of range are clamped.
    struct Policy: Sendable {
        let failureRatio: Double
        let minimumRequests: Int
        let openFor: Duration
        let growth: Double
        let maximumOpenFor: Duration
        let trials: Int
        private let sliceLength: Duration
        private let start: Instant

        init(
            failureRatio: Double,
            minimumRequests: Int,
            window: Duration,
            openFor: Duration,
            growth: Double,
            maximumOpenFor: Duration,
            trials: Int,
            start: Instant = .now
        ) {
            let longest = Duration.seconds(1 << 31)
            self.failureRatio = failureRatio.isNaN ? 1 : min(max(0, failureRatio), 1)
            self.minimumRequests = max(1, minimumRequests)
            self.openFor = min(max(.zero, openFor), longest)
            self.growth = growth.isNaN ? 1 : max(1, growth)
            self.maximumOpenFor = min(max(openFor, maximumOpenFor), longest)
            self.trials = max(1, trials)
            sliceLength = max(.milliseconds(1), min(window, longest) / FailureWindow.sliceCount)
            self.start = start
        }

        /// The number of the time slice that contains a time.
        func slice(of now: Instant) -> Int64 {
            let slices = ((now - start) / sliceLength).rounded(.down)
            return Int64(min(max(slices, -1e18), 1e18))
        }

        /// The end of a time slice.
        func end(of slice: Int64) -> Instant {
            start + sliceLength * (slice + 1)
        }

        /// The time for which a circuit stays open after it has opened this many times in a row.
        func pause(opened times: Int) -> Duration {
            var seconds = openFor / .seconds(1)
            let maximum = maximumOpenFor / .seconds(1)
            // With any noticeable growth, 1,000 steps reach the maximum.
            for _ in 1..<max(1, min(times, 1000)) where seconds < maximum { seconds *= growth }
            return seconds < maximum ? .seconds(seconds) : maximumOpenFor
        }
    }
}
