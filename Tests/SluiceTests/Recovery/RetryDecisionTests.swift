import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct RetryDecisionTests {
    @Test func policyWithMoreAttemptsThanNoneIsTheStandardOne() {
        var policy = RetryPolicy.none
        #expect(!policy.isActive)
        policy.maximumAttempts = 3
        let standard = RetryPolicy.standard
        #expect(policy.isActive && standard.maximumAttempts == 3)
        #expect(policy.statuses == standard.statuses && policy.codes == standard.codes)
        #expect(policy.maximumElapsedTime == standard.maximumElapsedTime && policy.backoff == standard.backoff)
        #expect(policy.maximumRetryAfter == standard.maximumRetryAfter && policy.attemptTimeout == nil)
        policy.statuses = [.badGateway]
        policy.codes = []
        #expect(policy.statuses == [.badGateway] && policy.codes.isEmpty)
    }

    @Test(
        arguments: [
            { $0.statuses = [.badGateway] }, { $0.codes = [.connectionLost] }, { $0.backoff = .constant(.zero) },
            { $0.maximumElapsedTime = nil }, { $0.maximumRetryAfter = .seconds(1) }, { $0.shouldRetry = { _ in true } },
        ] as [@Sendable (inout RetryPolicy) -> Void]
    )
    func ruleForRetriesAllowsThem(_ set: @Sendable (inout RetryPolicy) -> Void) {
        var policy = RetryPolicy.none
        set(&policy)
        #expect(policy.maximumAttempts == 3)
        policy = .none
        policy.maximumAttempts = 1
        set(&policy)
        #expect(policy.maximumAttempts == 1)
        policy = .none
        policy.attemptTimeout = .seconds(1)
        #expect(policy.maximumAttempts == 1)
        policy = RetryPolicy(maximumAttempts: 5)
        set(&policy)
        #expect(policy.maximumAttempts == 5)
    }

    @Test func proxyThatMayRecoverIsTriedAgain() {
        struct Cause: LastingCause {
            let isLasting: Bool
        }
        let request = HTTPRequest(method: .get, scheme: "http", authority: "a.b", path: "/")
        for cause in [nil, Cause(isLasting: false), Cause(isLasting: true)] {
            let error = SluiceError(.proxyFailed, "", request: request, underlyingError: cause)
            #expect((decision(.failure(error)) == .finish) == (cause?.isLasting == true))
        }
    }

    private static func outcome(
        _ status: Int,
        _ headers: HTTPHeaders = [:],
        _ method: HTTPMethod = .get,
        body: RequestBody = .none,
        sent: HTTPHeaders = [:]
    ) -> TransportOutcome {
        let request = HTTPRequest(
            method: method,
            scheme: "http",
            authority: "a.b",
            path: "/",
            headers: sent,
            body: body
        )
        let head = HTTPResponse(status: HTTPStatus(rawValue: status), headers: headers)
        return .success(ServerResponse(request: request, head: head, body: Data()))
    }

    private static func circumstances(
        attempt: Int = 1,
        elapsed: Duration = .zero,
        left: Duration? = nil,
        isIdempotent: Bool = true
    ) -> Retry.Circumstances {
        Retry.Circumstances(
            attempt: attempt,
            elapsed: elapsed,
            left: left,
            isIdempotent: isIdempotent,
            date: Date(timeIntervalSince1970: 784_111_777),
            random: 1 << 63
        )
    }

    private func decision(
        _ outcome: TransportOutcome,
        _ circumstances: Retry.Circumstances = circumstances(),
        _ policy: RetryPolicy = .standard
    ) -> Retry.Decision {
        Retry(policy: policy).decision(outcome, circumstances)
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func retriesTransientStatuses(_ status: Int) {
        #expect(decision(Self.outcome(status)) == .again(after: .milliseconds(250)))
    }

    @Test(arguments: [200, 204, 301, 304, 400, 401, 403, 404, 409, 410, 422, 501, 505])
    func doesNotRetryOtherStatuses(_ status: Int) {
        #expect(decision(Self.outcome(status)) == .finish)
    }

    @Test(arguments: [
        (SluiceError.Code.cannotConnect, true), (.connectionLost, true), (.truncatedBody, true), (.timedOut, true),
        (.connectTimedOut, true), (.idleTimedOut, true), (.cannotResolveHost, true), (.cancelled, false),
        (.tlsFailed, false), (.invalidURL, false), (.bodyTooLarge, false), (.gateFailed, false),
        (.redirectLoop, false), (.invalidResponse, false), (.bodyUnavailable, false),
    ])
    func retriesTransientFailures(_ code: SluiceError.Code, _ isRetried: Bool) {
        #expect((decision(.failure(SluiceError(code, "."))) != .finish) == isRetried)
    }

    @Test func neverRetriesCancellation() {
        var policy = RetryPolicy.standard
        policy.codes.insert(.cancelled)
        policy.shouldRetry = { _ in true }
        #expect(decision(.failure(.cancelled), Self.circumstances(), policy) == .finish)
    }

    @Test func retriesOnlyIdempotentRequests() {
        let post = Self.circumstances(isIdempotent: false)
        #expect(decision(Self.outcome(503, [:], .post), post) == .finish)
        #expect(decision(Self.outcome(503, [:], .post, sent: ["Idempotency-Key": "k"]), post) != .finish)
        #expect(decision(Self.outcome(503, [:], .post), Self.circumstances()) != .finish)
    }

    @Test func retriesAnyRequestThatNoServerCanHaveReceived() {
        let request = HTTPRequest(method: .post, scheme: "http", authority: "a.b", path: "/")
        let failure = TransportOutcome.failure(SluiceError(.cannotConnect, ".", request: request))
        var circumstances = Self.circumstances(isIdempotent: false)
        #expect(decision(failure, circumstances) == .finish)
        circumstances.sent = SentRequest(request, wasReceivable: false)
        #expect(decision(failure, circumstances) != .finish)
        circumstances.isDeclaredUnsafe = true
        #expect(decision(failure, circumstances) == .finish)
    }

    @Test(arguments: [
        (SluiceError.Code.cannotConnect, true), (.cannotResolveHost, true), (.connectTimedOut, false),
        (.connectionLost, false), (.timedOut, false), (.idleTimedOut, false), (.truncatedBody, false),
    ])
    func someFailuresSayThatThereWasNoConnection(_ code: SluiceError.Code, _ isWithoutConnection: Bool) {
        #expect(SluiceError(code, ".").isWithoutConnection == isWithoutConnection)
        #expect(!SluiceError(code, ".", step: .gate).isWithoutConnection)
        #expect(!SluiceError(code, ".", response: HTTPResponse(status: .ok)).isWithoutConnection)
    }

    // A response interceptor may replace the outcome by one without a request, or with that of another request.
    @Test func decidesByTheRequestThatWasSent() {
        let failure = TransportOutcome.failure(SluiceError(.connectionLost, "."))
        let keyed = HTTPRequest(
            method: .post,
            scheme: "http",
            authority: "a.b",
            path: "/",
            headers: ["Idempotency-Key": "k"]
        )
        var circumstances = Self.circumstances(isIdempotent: false)
        #expect(decision(failure, circumstances) == .finish)
        circumstances.sent = SentRequest(keyed)
        #expect(decision(failure, circumstances) != .finish)
        var plain = keyed
        plain.headers = [:]
        circumstances.sent = SentRequest(plain)
        #expect(decision(.failure(SluiceError(.connectionLost, ".", request: keyed)), circumstances) == .finish)
        plain.body = .stream(AsyncStream<Data> { $0.finish() })
        circumstances.sent = SentRequest(plain)
        circumstances.isIdempotent = true
        #expect(decision(failure, circumstances) == .finish)
    }

    @Test func failureOfAGateIsRetriedOnlyByTheClosure() {
        let failure = TransportOutcome.failure(SluiceError(.timedOut, ".", step: .gate))
        #expect(decision(failure) == .finish)
        var policy = RetryPolicy.standard
        policy.shouldRetry = { _ in true }
        #expect(decision(failure, Self.circumstances(), policy) != .finish)
    }

    @Test func doesNotRetryOneShotBody() {
        let chunks = AsyncStream<Data> { $0.finish() }
        #expect(decision(Self.outcome(503, [:], .put, body: .stream(chunks))) == .finish)
        #expect(decision(Self.outcome(503, [:], .put, body: .stream(chunks, isReplayable: true))) != .finish)
    }

    @Test func limitsAttemptsAndElapsedTime() {
        #expect(decision(Self.outcome(503), Self.circumstances(attempt: 2)) != .finish)
        #expect(decision(Self.outcome(503), Self.circumstances(attempt: 3)) == .finish)
        #expect(decision(Self.outcome(503), Self.circumstances(elapsed: .milliseconds(59_750))) != .finish)
        #expect(decision(Self.outcome(503), Self.circumstances(elapsed: .milliseconds(59_751))) == .finish)
        #expect(decision(Self.outcome(503), Self.circumstances(left: .milliseconds(250))) == .finish)
        #expect(decision(Self.outcome(503), Self.circumstances(left: .milliseconds(251))) != .finish)
    }

    // The random number adds an eighth.
    @Test(arguments: [
        ("7", Retry.Decision.again(after: .milliseconds(7875))), ("0", .again(after: .zero)),
        ("Sun, 06 Nov 1994 08:49:57 GMT", .again(after: .milliseconds(22_500))),
        ("Sun, 06 Nov 1994 08:49:17 GMT", .again(after: .zero)), ("30", .again(after: .milliseconds(33_750))),
        ("31", .finish), ("99999999999999999999", .finish), ("soon", .again(after: .milliseconds(250))),
    ])
    func followsRetryAfterUpToLimit(_ value: String, _ expected: Retry.Decision) {
        #expect(decision(Self.outcome(503, ["Retry-After": value])) == expected)
    }

    @Test func retryAfterIsExtendedByARandomTime() {
        func delay(
            _ seconds: Int,
            _ random: UInt64 = 1 << 63,
            elapsed: Duration = .zero,
            left: Duration? = nil,
            backoff: Backoff = .exponential
        ) -> Duration? {
            var circumstances = Self.circumstances(elapsed: elapsed, left: left)
            circumstances.random = random
            let outcome = Self.outcome(503, ["Retry-After": "\(seconds)"])
            guard case .again(let delay) = decision(outcome, circumstances, RetryPolicy(backoff: backoff)) else {
                return nil
            }
            return delay
        }
        // Never less than requested, and up to a quarter more.
        #expect(delay(8, 0) == .seconds(8))
        let longest = delay(8, .max) ?? .zero
        #expect(longest > .milliseconds(9999) && longest < .seconds(10))
        // The time added is at most the limit of the back-off.
        #expect(delay(8, backoff: Backoff(base: .milliseconds(1), limit: .seconds(1))) == .milliseconds(8500))
        #expect(delay(8, backoff: Backoff(base: .milliseconds(1), limit: .seconds(-1))) == .seconds(8))
        #expect(delay(8, backoff: .constant(.seconds(1))) == .seconds(8))
        // The retry still begins in its time, with at least half of the rest for the attempt.
        #expect(delay(8, elapsed: .seconds(51)) == .milliseconds(8500))
        #expect(delay(8, elapsed: .seconds(52)) == .seconds(8))
        #expect(delay(8, elapsed: .milliseconds(52_001)) == nil)
        #expect(delay(8, left: .seconds(9)) == .milliseconds(8250))
        #expect(delay(8, left: .seconds(8)) == nil)
    }

    @Test func closureOverridesDecision() {
        var policy = RetryPolicy.standard
        policy.shouldRetry = { proposal in
            if case .success(let response) = proposal.outcome, response.head.status == .conflict { return true }
            return proposal.isRetried && proposal.attempt < 2
        }
        #expect(decision(Self.outcome(409), Self.circumstances(), policy) != .finish)
        #expect(decision(Self.outcome(503), Self.circumstances(), policy) != .finish)
        #expect(decision(Self.outcome(503), Self.circumstances(attempt: 2), policy) == .finish)
    }

    @Test(arguments: [
        (1, UInt64.max, 0.5), (2, .max, 1), (3, .max, 2), (4, .max, 4), (7, .max, 30), (5000, .max, 30), (1, 0, 0),
        (3, 1 << 63, 1), (.max, 1 << 63, 15), (0, .max, 0.5),
    ])
    func backoffGrowsToLimitWithFullJitter(_ retry: Int, _ random: UInt64, _ seconds: Double) {
        let delay = Backoff.exponential.delay(before: retry, random: random) / .seconds(1)
        #expect(abs(delay - seconds) < 0.000_001)
    }

    @Test func invalidBackoffDoesNotWait() {
        let invalid = Backoff(base: .seconds(-1), factor: -2, limit: .seconds(-3), hasJitter: false)
        #expect(invalid.delay(before: 3, random: 5) == .zero)
        #expect(Backoff.constant(.seconds(2)).delay(before: 9, random: 5) == .seconds(2))
        #expect(Backoff(base: .seconds(1), factor: .nan).delay(before: 9, random: 5) >= .zero)
        for hasJitter in [false, true] {
            let endless = Backoff(base: .zero, factor: .infinity, hasJitter: hasJitter)
            #expect(endless.delay(before: 9, random: 5) == .zero)
        }
        let steep = Backoff(base: .nanoseconds(1), factor: .infinity, limit: .seconds(7), hasJitter: false)
        #expect(steep.delay(before: 2, random: 5) == .seconds(7))
    }
}
