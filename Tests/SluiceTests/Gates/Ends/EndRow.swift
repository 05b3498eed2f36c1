import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice

/// An end of a request at a place, and what the gates are told.
struct EndRow: Sendable, CustomTestStringConvertible {
    let place: String
    let end: String
    let told: Told
    let setup: EndSetup

    init(
        _ place: String,
        _ end: String,
        _ breaker: String,
        rate: String = "1 token",
        slots: String = "1",
        _ cause: EndSetup.Cause = .itself,
        _ configure: (inout EndSetup) -> Void = { _ in }
    ) {
        self.place = place
        self.end = end
        told = Told(breaker: breaker, rate: rate, slots: slots)
        var setup = EndSetup()
        setup.cause = cause
        configure(&setup)
        self.setup = setup
    }

    var testDescription: String { "\(place): \(end)" }

    /// The row of the table in `Docs/Reliability.md`.
    var line: String {
        "| \(place) | \(end) | \(told.breaker.isEmpty ? "not asked" : told.breaker) | \(told.rate) | \(told.slots) |"
    }
}

extension EndSetup {
    /// Answers with a stub.
    mutating func answers(_ stub: Stub) { answer = { _, _ in stub } }

    /// Answers the first request with one stub and later ones with another.
    mutating func answers(_ first: Stub, then second: Stub) {
        answer = { _, bench in bench.received.read == 1 ? first : second }
    }

    /// Does not answer requests to a path.
    mutating func hangs(at path: String = "/x", after redirect: String? = nil) {
        answer = { request, bench in
            if let redirect, request.path == "/x" { return .redirect(to: redirect) }
            bench.reach()
            return .text("late").delayed(by: .seconds(1_000_000_000))
        }
    }

    /// Redirects, and answers the next request with a stub.
    mutating func redirects(to location: String, _ stub: Stub) {
        answer = { request, _ in request.path == "/x" ? .redirect(to: location) : stub }
    }

    /// Answers with a body that stops after its first byte.
    mutating func stopsWithinBody() {
        waitsForSleeper = true
        answer = { _, bench in
            bench.reach()
            return .text("body").streamed(by: 1, every: .seconds(1_000_000_000))
        }
    }

    /// Stores a response in the cache first, which expires before the request is sent.
    mutating func storesStale(_ fields: HTTPHeaders, then stub: Stub) {
        store = { client, clock in
            _ = await client.string.get("x").sender().result
            clock.advance(by: .seconds(10))
        }
        answer = { request, bench in
            bench.isReached.read
                ? stub
                : {
                    bench.reach(); return .text("stored", headers: fields)
                }()
        }
    }
}

extension EndRow {
    private static let same = "/y"
    private static let other = "http://other.test/y"
    private static let paused: HTTPHeaders = ["Retry-After": "60"]

    /// All rows, in the order of the table.
    static let all: [EndRow] =
        beforeTheTransport + transport + body + redirects + cache + afterTheTransport + severalAttempts

    private static let beforeTheTransport = [
        EndRow("before the gates", "the deadline has passed", "", rate: "0 tokens", slots: "0") {
            $0.send = { client, clock in
                await Deadline.withDeadline(.zero, on: clock) { _ = await client.string.get("x").sender().result }
            }
        },
        EndRow("a later gate", "refusal", "ignored", rate: "0 tokens") {
            $0.configure = { configuration, _ in configuration.gates.append(RefusingGate()) }
        },
        EndRow("a later gate", "total time-out or deadline", "ignored", rate: "0 tokens", .totalTime) {
            $0.configure = { $0.gates.append(WaitingStep(bench: $1)) }
        },
        EndRow("a later gate", "cancellation", "ignored", rate: "0 tokens", .cancellation) {
            $0.configure = { $0.gates.append(WaitingStep(bench: $1)) }
        },
        EndRow(
            "a later gate that ignores cancellation",
            "total time-out or deadline",
            "ignored",
            rate: "0 tokens",
            .totalTime
        ) {
            $0.configure = { $0.gates.append(WaitingStep(bench: $1, ignoresCancellation: true)) }
        },
        EndRow("a request interceptor", "error", "ignored", rate: "0 tokens") {
            $0.configure = { configuration, _ in configuration.requestInterceptors.append(ScriptedAdapter()) }
        },
        EndRow("a request interceptor", "total time-out or deadline", "ignored", rate: "0 tokens", .totalTime) {
            $0.configure = { $0.requestInterceptors.append(WaitingStep(bench: $1)) }
        },
        EndRow("a request interceptor", "cancellation", "ignored", rate: "0 tokens", .cancellation) {
            $0.configure = { $0.requestInterceptors.append(WaitingStep(bench: $1)) }
        },
        EndRow(
            "a request interceptor that ignores cancellation",
            "total time-out or deadline",
            "ignored",
            rate: "0 tokens",
            .totalTime
        ) {
            $0.configure = { $0.requestInterceptors.append(WaitingStep(bench: $1, ignoresCancellation: true)) }
        },
        EndRow(
            "a request interceptor that ignores cancellation",
            "cancellation",
            "ignored",
            rate: "0 tokens",
            .cancellation
        ) {
            $0.configure = { $0.requestInterceptors.append(WaitingStep(bench: $1, ignoresCancellation: true)) }
        },
        EndRow("a plugin that prepares", "total time-out or deadline", "ignored", rate: "0 tokens", .totalTime) {
            $0.configure = { $0.plugins.append(ScriptedPlugin(preparing: WaitingStep(bench: $1))) }
        },
        EndRow("a plugin that prepares", "cancellation", "ignored", rate: "0 tokens", .cancellation) {
            $0.configure = { $0.plugins.append(ScriptedPlugin(preparing: WaitingStep(bench: $1))) }
        },
    ]

    private static let transport = [
        EndRow("the connection", "the pool's queue is full", "ignored", rate: "0 tokens") {
            $0.answers(.failure(.queueFull))
        },
        EndRow("the connection", "no connection", "failure", rate: "0 tokens") { $0.answers(.failure(.cannotConnect)) },
        EndRow("the connection", "connect time-out", "failure", rate: "0 tokens") {
            $0.answers(.failure(.connectTimedOut))
        },
        EndRow("the response", "2xx", "success"),
        EndRow("the response", "404", "success") { $0.answers(.status(.notFound)) },
        EndRow("the response", "500", "failure") { $0.answers(.status(.internalServerError)) },
        EndRow("the response", "429 with `Retry-After`", "success", rate: "1 token, and the host is paused") {
            $0.answers(.status(.tooManyRequests, headers: paused))
        },
        EndRow("the response", "503 with `Retry-After`", "failure", rate: "1 token, and the host is paused") {
            $0.answers(.status(.serviceUnavailable, headers: paused))
        },
        EndRow("the response", "connection lost", "failure") { $0.answers(.failure(.connectionLost)) },
        EndRow("the response", "invalid HTTP", "failure") { $0.answers(.failure(.invalidResponse)) },
        EndRow("the response", "idle time-out", "failure", .time) { $0.hangs() },
        EndRow("the response", "total time-out or deadline", "failure", .totalTime) { $0.hangs() },
        EndRow("the response", "cancellation", "ignored", .cancellation) { $0.hangs() },
    ]

    private static let body = [
        EndRow("the body", "cut off", "failure") { $0.answers(.text("body").truncated(after: 3)) },
        EndRow("the body", "over the limit", "ignored") {
            $0.configure = { configuration, _ in configuration.limits.body = 1 }
        },
        EndRow("the body", "idle time-out", "failure", .time) { $0.stopsWithinBody() },
        EndRow("the body", "total time-out or deadline", "failure", .totalTime) { $0.stopsWithinBody() },
        EndRow("the body", "cancellation", "ignored", .cancellation) { $0.stopsWithinBody() },
        EndRow("the body of a stream", "cut off", "success") {
            $0.answers(.text("a\nbody").streamed(by: 2).truncated(after: 3))
            $0.send = { client, _ in
                do { for try await _ in client.stream("x").lines() {} } catch {}
            }
        },
    ]

    private static let redirects = [
        EndRow("a redirect within the host", "2xx", "success") { $0.redirects(to: same, .text("ok")) },
        EndRow("a redirect within the host", "500", "failure") {
            $0.redirects(to: same, .status(.internalServerError))
        },
        EndRow("a redirect within the host", "no connection", "failure") {
            $0.redirects(to: same, .failure(.cannotConnect))
        },
        EndRow("a redirect within the host", "total time-out or deadline", "failure", .totalTime) {
            $0.hangs(after: same)
        },
        EndRow("a redirect within the host", "cancellation", "ignored", .cancellation) { $0.hangs(after: same) },
        EndRow("a redirect within the host", "loop", "ignored") { $0.answers(.redirect(to: "/x")) },
        EndRow("a redirect", "refused by the policy", "ignored") { $0.answers(.redirect(to: "ftp://other.test/")) },
        EndRow("a redirect to another host", "2xx", "success") { $0.redirects(to: other, .text("ok")) },
        EndRow("a redirect to another host", "500", "success") {
            $0.redirects(to: other, .status(.internalServerError))
        },
        EndRow(
            "a redirect to another host",
            "503 with `Retry-After`",
            "success",
            rate: "1 token, and the other host is paused"
        ) {
            $0.redirects(to: other, .status(.serviceUnavailable, headers: paused))
        },
        EndRow("a redirect to another host", "no connection", "success") {
            $0.redirects(to: other, .failure(.cannotConnect))
        },
        EndRow("a redirect to another host", "body cut off", "success") {
            $0.redirects(to: other, .text("body").truncated(after: 3))
        },
        EndRow("a redirect to another host", "total time-out or deadline", "success", .totalTime) {
            $0.hangs(after: other)
        },
        EndRow("a redirect to another host", "cancellation", "success", .cancellation) { $0.hangs(after: other) },
    ]

    private static let cache = [
        EndRow("the cache", "fresh response", "ignored", rate: "0 tokens") {
            $0.store = { client, _ in _ = await client.string.get("x").sender().result }
            $0.answers(.text("stored", headers: ["Cache-Control": "max-age=1000000"]))
        },
        EndRow("the cache", "response that the server confirms", "success") {
            $0.storesStale(
                ["Cache-Control": "max-age=1", "ETag": "\"1\""],
                then: .status(.notModified, headers: ["ETag": "\"1\""])
            )
        },
        EndRow("the cache", "stale response in place of a 500", "failure") {
            $0.storesStale(
                ["Cache-Control": "max-age=1, stale-if-error=1000000"],
                then: .status(.internalServerError)
            )
        },
        EndRow("the cache", "stale response in place of a connection", "failure", rate: "0 tokens") {
            $0.storesStale(["Cache-Control": "max-age=1, stale-if-error=1000000"], then: .failure(.cannotConnect))
        },
        EndRow("the cache", "fresh response after a redirect of the server", "success") {
            $0.store = { client, _ in _ = await client.string.get("y").sender().result }
            $0.redirects(to: same, .text("stored", headers: ["Cache-Control": "max-age=1000000"]))
        },
    ]

    private static let afterTheTransport = [
        EndRow("a response interceptor", "200 made a failure", "success") {
            $0.configure = { configuration, _ in
                configuration.responseInterceptors.append(ScriptedAdapter(change: fail))
            }
        },
        EndRow("a response interceptor", "500 made a success", "failure") {
            $0.answers(.status(.internalServerError))
            $0.configure = { configuration, _ in
                configuration.responseInterceptors.append(ScriptedAdapter(change: succeed))
            }
        },
        EndRow("a response interceptor", "cancellation made another failure", "ignored", .cancellation) {
            $0.hangs()
            $0.configure = { configuration, _ in
                configuration.responseInterceptors.append(ScriptedAdapter(change: fail))
            }
        },
        EndRow("a response interceptor", "total time-out or deadline after 200", "success", .totalTime) {
            $0.configure = { $0.responseInterceptors.append(WaitingStep(bench: $1)) }
        },
        EndRow("a response interceptor", "total time-out or deadline after 500", "failure", .totalTime) {
            $0.answers(.status(.internalServerError))
            $0.configure = { $0.responseInterceptors.append(WaitingStep(bench: $1)) }
        },
        EndRow("a response interceptor", "cancellation after 200", "success", .cancellation) {
            $0.configure = { $0.responseInterceptors.append(WaitingStep(bench: $1)) }
        },
        EndRow("a plugin that processes", "404 made a failure", "success") {
            $0.answers(.status(.notFound))
            $0.configure = { configuration, _ in configuration.plugins.append(ScriptedPlugin(change: fail)) }
        },
        EndRow("a plugin that processes", "500 made a success", "failure") {
            $0.answers(.status(.internalServerError))
            $0.configure = { configuration, _ in configuration.plugins.append(ScriptedPlugin(change: succeed)) }
        },
    ]

    private static let severalAttempts = [
        EndRow("a retry", "503, then 2xx", "failure, success", rate: "2 tokens", slots: "2, in turn", .time) {
            $0.retries(.status(.serviceUnavailable), then: .text("ok"))
        },
        EndRow("a retry", "no connection, then 2xx", "failure, success", slots: "2, in turn", .time) {
            $0.retries(.failure(.cannotConnect), then: .text("ok"))
        },
        EndRow("the pause before a retry", "cancellation", "failure", .cancellation) {
            $0.retries(.status(.serviceUnavailable), then: .text("ok"))
            $0.waitsForSleeper = true
        },
        EndRow("a replay for another gate", "401, then 2xx", "success, success", rate: "2 tokens", slots: "2, in turn")
        {
            $0.answers(.status(.unauthorized), then: .text("ok"))
            $0.configure = { configuration, _ in configuration.gates.append(ReplayingGate()) }
        },
        EndRow("hedging", "2xx of the second attempt", "ignored, success", rate: "2 tokens", slots: "2, at once", .time)
        {
            $0.answer = { _, bench in
                bench.reach()
                return bench.received.read == 1 ? .text("late").delayed(by: .seconds(1_000_000_000)) : .text("ok")
            }
            $0.configure = { configuration, _ in
                configuration.hedging = .after(.seconds(1))
                configuration.timeouts.idle = nil
            }
        },
    ]

    private static let fail: @Sendable (TransportOutcome) -> TransportOutcome = { _ in
        .failure(SluiceError(.init("mine"), "The plugin failed the request."))
    }

    private static let succeed: @Sendable (TransportOutcome) -> TransportOutcome = { outcome in
        guard case .success(var response) = outcome else { return outcome }
        response.head.status = .ok
        return .success(response)
    }
}

extension EndSetup {
    /// Answers the first attempt with one stub and the second with another.
    fileprivate mutating func retries(_ first: Stub, then second: Stub) {
        answer = { _, bench in
            bench.reach()
            return bench.received.read == 1 ? first : second
        }
        configure = { configuration, _ in
            configuration.retry = RetryPolicy(
                maximumAttempts: 2,
                maximumElapsedTime: nil,
                backoff: .constant(.seconds(1))
            )
        }
    }
}
