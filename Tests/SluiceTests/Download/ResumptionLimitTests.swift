import SluiceTesting
import Testing

@testable import Sluice

/// The attempts of a transfer that get no further are limited, whatever the server sends.
@Suite struct ResumptionLimitTests {
    /// An attempt: the position of its last byte, and true if it received all bytes anew.
    struct Attempt: Sendable {
        let end: Int64
        var isAnew = false
        /// True if they are of another version.
        var isOther = false
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var maximum = 3
        var start: Int64 = 0
        let attempts: [Attempt]
        /// The pauses after the attempts; nil for the failure of the request.
        let pauses: [ResumptionLimit.Pause?]
    }

    static let cases: [Case] = [
        Case(
            testDescription: "each attempt gets further",
            attempts: [Attempt(end: 10), Attempt(end: 20), Attempt(end: 30), Attempt(end: 31), Attempt(end: 40)],
            pauses: [.zero, .zero, .zero, .zero, .zero]
        ),
        Case(
            testDescription: "no attempt receives a byte",
            attempts: [Attempt(end: 10), Attempt(end: 10), Attempt(end: 10), Attempt(end: 10)],
            pauses: [.zero, .backoff(1), .backoff(2), nil]
        ),
        Case(
            testDescription: "the server sends the same bytes again",
            attempts: [Attempt(end: 10)] + Array(repeating: Attempt(end: 10, isAnew: true), count: 3),
            pauses: [.zero, .backoff(1), .backoff(2), nil]
        ),
        Case(
            testDescription: "the server sends fewer bytes again, and resumes them",
            attempts: [
                Attempt(end: 10), Attempt(end: 2, isAnew: true), Attempt(end: 4), Attempt(end: 6), Attempt(end: 8),
            ],
            pauses: [.zero, .backoff(1), .backoff(2), nil, nil]
        ),
        Case(
            testDescription: "the server sends more bytes again",
            attempts: [Attempt(end: 10), Attempt(end: 11, isAnew: true), Attempt(end: 12, isAnew: true)],
            pauses: [.zero, .backoff(1), .backoff(1)]
        ),
        Case(
            testDescription: "another version is transferred from its start",
            attempts: [
                Attempt(end: 10), Attempt(end: 2, isAnew: true, isOther: true), Attempt(end: 4), Attempt(end: 6),
                Attempt(end: 8),
            ],
            pauses: [.zero, .backoff(1), .zero, .zero, .zero]
        ),
        Case(
            testDescription: "each attempt receives another version",
            attempts: [Attempt(end: 10)] + Array(repeating: Attempt(end: 2, isAnew: true, isOther: true), count: 6),
            pauses: [.zero, .backoff(1), .backoff(1), .backoff(1), .backoff(1), .backoff(2), nil]
        ),
        Case(
            testDescription: "an attempt that gets further ends the row",
            attempts: [Attempt(end: 10), Attempt(end: 10), Attempt(end: 11), Attempt(end: 11), Attempt(end: 11)],
            pauses: [.zero, .backoff(1), .zero, .backoff(1), .backoff(2)]
        ),
        Case(
            testDescription: "the bytes of an earlier send are no progress",
            start: 100,
            attempts: [Attempt(end: 100, isAnew: true), Attempt(end: 101)],
            pauses: [.backoff(1), .zero]
        ),
        Case(
            testDescription: "the server sends a byte at a time",
            attempts: (1...13).map { Attempt(end: $0) },
            pauses: Array(repeating: .zero, count: 10) + Array(repeating: .backoff(1), count: 3)
        ),
        Case(
            testDescription: "a large step ends the row of small ones",
            attempts: (1...11).map { Attempt(end: $0) } + [Attempt(end: 100_000), Attempt(end: 100_001)],
            pauses: Array(repeating: .zero, count: 10) + [.backoff(1), .zero, .zero]
        ),
        Case(testDescription: "no resumption", maximum: 0, attempts: [Attempt(end: 10)], pauses: [nil]),
    ]

    @Test(arguments: cases) func pauses(_ row: Case) {
        var limit = ResumptionLimit(row.maximum, from: row.start)
        let pauses = row.attempts.map { Self.pause(after: $0, &limit) }
        #expect(pauses == row.pauses)
    }

    /// Attempts at random that never get past an end are limited by the end and the maximum.
    @Test func randomAttemptsEnd() {
        for seed in 0..<500 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let end = Int64.random(in: 0...50, using: &random)
            let maximum = Int.random(in: 0...6, using: &random)
            var limit = ResumptionLimit(maximum, from: 0)
            var count = 0
            var atOnce = 0
            while count < 10_000 {
                count += 1
                let attempt = Attempt(
                    end: Int64.random(in: 0...end, using: &random),
                    isAnew: Bool.random(using: &random)
                )
                guard let pause = Self.pause(after: attempt, &limit) else { break }
                if pause == .zero { atOnce += 1 }
            }
            #expect(count <= (Int(end) + 1) * max(1, maximum), "seed \(seed)")
            #expect(atOnce <= end, "seed \(seed)")
        }
    }

    private static func pause(after attempt: Attempt, _ limit: inout ResumptionLimit) -> ResumptionLimit.Pause? {
        if attempt.isAnew { limit.beginAnew() }
        if attempt.isOther { limit.beginOther() }
        for position in stride(from: attempt.end / 2, through: attempt.end, by: 1) { _ = limit.reach(position) }
        return limit.pause()
    }
}
