import Foundation
import SluiceHTTP
import Testing

@testable import SluiceURLSession

@Suite struct TransactionDatesTests {
    private static let start = Date(timeIntervalSinceReferenceDate: 0)

    private func metrics(_ ends: [Double?], isReused: Bool = false) -> TransferMetrics {
        let dates = ends.map { seconds in seconds.map { Self.start + $0 } }
        var metrics = TransferMetrics()
        metrics.isConnectionReused = isReused
        metrics.set(
            TransactionDates(
                start: Self.start,
                nameLookupEnd: dates[0],
                secureConnectionStart: dates[1],
                secureConnectionEnd: dates[2],
                connectEnd: dates[3],
                responseStart: Self.start + 2
            )
        )
        return metrics
    }

    @Test(
        arguments: [
            // The session counts TLS as a part of the connection.
            ([0.25, 0.5, 1, 1], [0.25, 0.5, 1]), ([0.25, nil, nil, 0.5], [0.25, 0.5, 0]),
            ([nil, 0.5, 1, 1], [0, 0.5, 1]), ([nil, nil, nil, nil], [0, 0, 0]), ([-1, -1, -1, -1], [0, 0, 0]),
        ] as [([Double?], [Double])]
    )
    func phasesEndInOrder(_ ends: [Double?], _ expected: [Double]) {
        let metrics = metrics(ends)
        #expect([metrics.nameLookup, metrics.connect, metrics.tls] == expected.map { Duration.seconds($0) })
        #expect(metrics.firstByte == .seconds(2))
    }

    @Test func aReusedConnectionHasNoPhases() {
        let metrics = metrics([0.25, 0.5, 1, 1], isReused: true)
        #expect([metrics.nameLookup, metrics.connect, metrics.tls] == [.zero, .zero, .zero])
        #expect(metrics.firstByte == .seconds(2))
    }
}
