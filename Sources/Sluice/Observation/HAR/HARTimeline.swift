import SluiceHTTP

/// Where the time of an exchange went.
struct HARTimeline {
    /// Before it was sent.
    let waiting: Duration
    /// From then to its end, as a clock measured it.
    let exchanging: Duration

    func timings(of outcome: TransportOutcome) -> HAR.Timings {
        let waiting = max(waiting, .zero)
        switch outcome {
        case .success(let response):
            let metrics = response.metrics
            guard metrics.total > .zero else { return timings(blocked: waiting) { $0.wait = exchanging.milliseconds } }
            return timings(of: metrics, blocked: waiting + metrics.queued)
        case .failure(let error):
            // There are no metrics of what failed, but the error says how far it came.
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
            // When the request had been sent is not known; it is part of the wait.
            timings.wait = max(metrics.firstByte - connected, .zero).milliseconds
            timings.receive = max(metrics.total - max(metrics.firstByte, connected), .zero).milliseconds
        }
    }
}

extension Duration {
    /// Milliseconds, to the microsecond; none for a negative duration.
    var milliseconds: Double { (max(self, .zero) / .milliseconds(1)).toMicroseconds }
}

extension Double {
    /// Milliseconds to the microsecond, which keeps sums of them short.
    var toMicroseconds: Double { (self * 1000).rounded() / 1000 }
}
