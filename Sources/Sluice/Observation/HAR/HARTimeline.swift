import SluiceHTTP

/// The durations of an exchange.
struct HARTimeline {
    /// The time before it was sent.
    let waiting: Duration
    /// The time from then to its end, as measured by a clock.
    let exchanging: Duration

    func timings(of outcome: TransportOutcome) -> HAR.Timings {
        let waiting = max(waiting, .zero)
        switch outcome {
        case .success(let response):
            let metrics = response.metrics
            guard metrics.total > .zero else { return timings(blocked: waiting) { $0.wait = exchanging.milliseconds } }
            return timings(of: metrics, blocked: waiting + metrics.queued)
        case .failure(let error):
            // A failure has no metrics, but the error tells which phase it reached.
            let time = exchanging.milliseconds
            return timings(blocked: waiting) { timings in
                switch error.code {
                case .cannotResolveHost: timings.dns = time
                case .cannotConnect, .connectTimedOut, .proxyFailed: timings.connect = time
                case .tlsFailed:
                    timings.connect = time
                    timings.ssl = time
                default: timings.wait = time
                }
            }
        }
    }

    private func timings(blocked: Duration, _ change: (inout HAR.Timings) -> Void) -> HAR.Timings {
        var timings = HAR.Timings(blocked: blocked > .zero ? blocked.milliseconds : nil)
        change(&timings)
        return timings
    }

    private func timings(of metrics: TransferMetrics, blocked: Duration) -> HAR.Timings {
        timings(blocked: blocked) { timings in
            let connected = max(metrics.connect, metrics.tls)
            if connected > .zero {
                timings.dns = max(metrics.nameLookup, .zero).milliseconds
                timings.connect = max(connected - metrics.nameLookup, .zero).milliseconds
                if metrics.tls > .zero { timings.ssl = max(metrics.tls - metrics.connect, .zero).milliseconds }
            }
            // The end of sending is not known, so it is included in the wait.
            timings.wait = max(metrics.firstByte - connected, .zero).milliseconds
            timings.receive = max(metrics.total - max(metrics.firstByte, connected), .zero).milliseconds
        }
    }
}

extension Duration {
    /// The duration in milliseconds, rounded to microseconds; 0 for a negative duration.
    var milliseconds: Double { (max(self, .zero) / .milliseconds(1)).toMicroseconds }
}

extension Double {
    /// The number of milliseconds, rounded to microseconds, which removes floating-point noise from sums.
    var toMicroseconds: Double { (self * 1000).rounded() / 1000 }
}
