import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@Suite struct ExpectationTests {
    private struct Model: Error {
        let failure: SluiceError
    }

    private final class Node: Sendable {
        private let other = Locked<Node?>(nil)
        func keep(_ node: Node?) { other.withLock { $0 = node } }
    }

    @Test func expectErrorReturnsErrorAlsoFromErrorModel() async throws {
        let error = SluiceError(.timedOut, "Late.")
        let plain = try await expectError(.timedOut) { throw error }
        let held = try await expectError(.timedOut) { throw Model(failure: error) }
        #expect(plain.reason == "Late." && held.reason == "Late.")
    }

    @Test func expectErrorFailsWithItsLocation() async {
        let bodies: [@Sendable () async throws -> Void] = [
            {}, { throw SluiceError(.cancelled, "Gone.") }, { throw CancellationError() },
        ]
        for body in bodies {
            let failure = await #expect(throws: ExpectationFailure.self) { try await expectError(.timedOut, body) }
            #expect(failure?.location.hasPrefix("SluiceTestingTests/ExpectationTests.swift:") == true)
        }
    }

    /// An error model without an error of the library has no code.
    @Test func failureNamesTheTypeOfAnErrorWithoutACode() async {
        let failure = await #expect(throws: ExpectationFailure.self) {
            try await expectError(.timedOut) { throw WeatherError.unknownCity }
        }
        let hint = "It contains no SluiceError, so expect it by its type or value."
        #expect(failure?.reason == "Expected the error timedOut, but caught WeatherError: unknownCity. \(hint)")
        let ended = await #expect(throws: ExpectationFailure.self) {
            try await expectError(WeatherError.self) { throw SluiceError(.cancelled, "Gone.") }
        }
        #expect(ended?.reason == "Expected the error WeatherError, but caught SluiceError: Gone.")
    }

    private enum WeatherError: Error, Equatable {
        case unknownCity, quotaExceeded(retryAfter: Int)
    }

    private struct Wrapper: Error {
        let cause: any Error
    }

    @Test func expectErrorReturnsErrorsOfOnesOwn() async throws {
        let expected = WeatherError.quotaExceeded(retryAfter: 60)
        for error: any Error in [expected, Wrapper(cause: expected)] {
            let equal = try await expectError(WeatherError.quotaExceeded(retryAfter: 60)) { throw error }
            let ofType = try await expectError(WeatherError.self) { throw error }
            #expect(equal == expected && ofType == expected)
        }
    }

    @Test func expectErrorFailsForOtherErrorsThanOnesOwn() async {
        let bodies: [@Sendable () async throws -> Void] = [
            {}, { throw SluiceError(.cancelled, "Gone.") }, { throw WeatherError.unknownCity },
        ]
        for (index, body) in bodies.enumerated() {
            let failure = await #expect(throws: ExpectationFailure.self) {
                try await expectError(WeatherError.quotaExceeded(retryAfter: 60), body)
            }
            #expect(failure?.reason.contains("quotaExceeded(retryAfter: 60)") == true)
            if index == 2 { #expect(failure?.reason.contains("unknownCity") == true) }
        }
        for body in bodies.prefix(2) {
            let failure = await #expect(throws: ExpectationFailure.self) {
                try await expectError(WeatherError.self, body)
            }
            #expect(failure?.location.hasPrefix("SluiceTestingTests/ExpectationTests.swift:") == true)
        }
    }

    @Test func waitUntilFailsAfterTimeout() async throws {
        let count = Locked(0)
        // Many other tests may run at the same time.
        try await waitUntil(within: .seconds(600)) {
            count.withLock {
                $0 += 1; return $0 == 10
            }
        }
        let failure = await #expect(throws: ExpectationFailure.self) {
            try await waitUntil("the condition", within: .milliseconds(20)) { false }
        }
        #expect(failure?.reason.contains("the condition") == true)
    }

    @Test func stopsServerIfTestThrows() async throws {
        struct Broken: Error {}
        let escaped = Locked<LoopbackServer?>(nil)
        await #expect(throws: Broken.self) {
            try await withLoopbackServer { server in
                escaped.withLock { $0 = server }
                throw Broken()
            }
        }
        let server = try #require(escaped.withLock { $0 })
        await server.waitForOpenConnections { $0 == 0 }
        let client = try? RawClient(port: server.port)
        #expect(client == nil)
    }

    @Test func expectNoLeaksNamesLeakedObject() async throws {
        let value = try await expectNoLeaks(descriptors: false) { leaks in
            leaks.track(Node())
            return 7
        }
        #expect(value == 7)
        let kept = Locked<[Node]>([])
        let failure = await #expect(throws: ExpectationFailure.self) {
            try await expectNoLeaks(descriptors: false, within: .milliseconds(20)) { leaks in
                let node = leaks.track(Node())
                kept.withLock { $0.append(node) }
            }
        }
        #expect(failure?.reason.contains("Node") == true)
    }

    @Test func cancellationEndsWaitForLeaks() async throws {
        let kept = Locked<[Node]>([])
        let task = Task {
            try await expectNoLeaks(descriptors: false, within: .seconds(3600)) { leaks in
                let node = leaks.track(Node())
                kept.withLock { $0.append(node) }
            }
        }
        try await waitUntil(within: .seconds(600)) { kept.withLock { !$0.isEmpty } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
