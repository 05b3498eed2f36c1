extension Circuit {
    /// When a circuit opens, for how long, and what closes it again; what makes no sense is taken as the nearest that does.
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

        /// The number of the slice of the window that a time lies in.
        func slice(of now: Instant) -> Int64 {
            let slices = ((now - start) / sliceLength).rounded(.down)
            return Int64(min(max(slices, -1e18), 1e18))
        }

        /// When a slice is over.
        func end(of slice: Int64) -> Instant {
            start + sliceLength * (slice + 1)
        }

        /// How long a circuit stays open that has opened so many times in a row.
        func pause(opened times: Int) -> Duration {
            var seconds = openFor / .seconds(1)
            let maximum = maximumOpenFor / .seconds(1)
            // What grows at all is at the maximum by then.
            for _ in 1..<max(1, min(times, 1000)) where seconds < maximum { seconds *= growth }
            return seconds < maximum ? .seconds(seconds) : maximumOpenFor
        }
    }
}
