import SluiceTesting
import Testing

@testable import Sluice

@Suite struct TraceParentTests {
    private let parent = TraceContext(
        traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
        tracestate: "rojo=00f067aa0ba902b7"
    )

    /// Returns a counter that starts at zero.
    private func counting() -> @Sendable () -> UInt64 {
        let count = Locked<UInt64>(0)
        return {
            count.withLock { count in
                defer { count += 1 }
                return count
            }
        }
    }

    private func context(of request: HTTPRequest) throws -> TraceContext {
        let parent = try #require(request.headers["traceparent"])
        return try #require(TraceContext(traceparent: parent, tracestate: request.headers["tracestate"]))
    }

    @Test func attemptsShareTraceAndHaveOwnIDs() async throws {
        let interceptor = TraceParent()
        let attempts = try Attempts()
        let first = try context(of: try await attempts.next(interceptor))
        let second = try context(of: try await attempts.next(interceptor))
        let other = try context(of: try await Attempts().next(interceptor))
        #expect(first.traceID == second.traceID)
        #expect(first.parentID != second.parentID)
        #expect(first.traceID != other.traceID)
        #expect(first.isSampled)
    }

    @Test func laterAttemptsKeepTraceOfFirstAttempt() async throws {
        let interceptor = TraceParent()
        let attempts = try Attempts()
        let parent = try #require(parent)
        let first = try await TraceContext.$current.withValue(parent) { try await attempts.next(interceptor) }
        let second = try await attempts.next(interceptor)
        for request in [first, second] {
            let context = try context(of: request)
            #expect(context.traceID == parent.traceID)
            #expect(context.parentID != parent.parentID)
            #expect(!context.isSampled)
            #expect(context.traceState == "rojo=00f067aa0ba902b7")
        }
    }

    @Test func skipsZeroRandomNumbers() async throws {
        let zeros = TraceParent(random: { 0 })
        #expect(
            try await Attempts().next(zeros).headers["traceparent"]
                == "00-00000000000000000000000000000001-0000000000000001-01"
        )
        let counted = TraceParent(samplesNewTraces: false, random: counting())
        #expect(
            try await Attempts().next(counted).headers["traceparent"]
                == "00-00000000000000000000000000000001-0000000000000002-00"
        )
    }

    @Test func keepsHeadersOfRequest() async throws {
        let own: HTTPHeaders = ["traceparent": "own", "tracestate": "mine=1"]
        #expect(try await Attempts(headers: own).next(TraceParent()).headers == own)
    }

    @Test func callsRecorderForEachAttempt() async throws {
        let recorded = Locked<[(TraceContext, TraceContext?, Int)]>([])
        let interceptor = TraceParent { attempt, parent, context in
            recorded.withLock { $0.append((attempt, parent, context.attempt)) }
        }
        let attempts = try Attempts()
        let sent = try await TraceContext.$current.withValue(parent) {
            [try await attempts.next(interceptor), try await attempts.next(interceptor)]
        }
        let seen = recorded.withLock { $0 }
        #expect(seen.map(\.0) == (try sent.map { try context(of: $0) }))
        #expect(seen.map(\.1) == [parent, parent])
        #expect(seen.map(\.2) == [1, 2])
    }
}
