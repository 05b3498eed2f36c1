import SluiceHTTP
import Testing

/// The documented defaults, on which users rely.
@Suite struct TransferContextTests {
    @Test func defaultTimeoutsAreTenSecondsToConnectAndSixtyIdle() {
        let timeouts = TransferContext().timeouts
        #expect(timeouts.connect == .seconds(10))
        #expect(timeouts.idle == .seconds(60))
        #expect(timeouts.total == nil)
    }

    @Test func oneTimeoutCanBeTurnedOff() {
        let timeouts = Timeouts(idle: nil, total: .seconds(1))
        #expect(timeouts.connect == .seconds(10))
        #expect(timeouts.idle == nil)
        #expect(timeouts.total == .seconds(1))
    }

    @Test func defaultLimitsApplyToHeadsOnly() {
        let limits = TransferContext().limits
        #expect(limits.headers == 65_536)
        #expect(limits.body == nil)
    }

    @Test func defaultMetricsAreZero() {
        let metrics = TransferMetrics()
        let times = [
            metrics.queued, metrics.nameLookup, metrics.connect, metrics.tls, metrics.firstByte, metrics.total,
        ]
        #expect(times.allSatisfy { $0 == .zero })
        #expect(metrics.bytesSent == 0)
        #expect(metrics.bytesReceived == 0)
        #expect(metrics.remoteAddress == nil)
        #expect(!metrics.isConnectionReused)
    }
}
