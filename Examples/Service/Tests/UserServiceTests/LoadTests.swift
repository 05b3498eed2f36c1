import Foundation
import Sluice
import SluiceTesting
import XCTest

@testable import UserService

final class LoadTests: XCTestCase {
    /// Uses an upstream whose tokens expire, that fails and is slow at times, and that never returns some orders.
    func testFourThousandRequestsOf64CallersAreAnsweredRightlyAndSpareTheUpstream() async throws {
        let upstream = try FakeUpstream(tokenUses: 400)
        defer { upstream.stop() }
        upstream.api.recordsRequests = false
        let metrics = RequestMetrics()
        try await withService(.users(upstream.options)) { url in
            let caller = APIClient(baseURL: url) { $0.observers = [metrics] }
            let asks = (0..<4_000).map(Ask.init)
            let start = ContinuousClock.now
            async let impatience = LoadTests.impatience(of: 20, at: url)
            let results = await caller.batchSender(
                asks.map { $0.request(to: caller) },
                maximumInFlight: 64,
                failsFast: false
            ).results
            let time = start.duration(to: .now)
            for (ask, result) in zip(asks, results) {
                let answer = try result.get()
                XCTAssertEqual(answer.status, ask.status, "\(ask)")
                XCTAssertTrue(try ask.isAnswered(by: answer.body), "\(ask)")
            }
            for (status, time) in await impatience {
                XCTAssertEqual(status, .gatewayTimeout)
                XCTAssertGreaterThan(time, .milliseconds(250))
                XCTAssertLessThan(time, .seconds(3))
            }
            self.report(asks.count, time, metrics, upstream)
        }
        let tally = upstream.tally
        // At least two tokens, or none has expired.
        XCTAssertTrue((2...5).contains(tally.tokens), "\(tally.tokens) tokens")
        XCTAssertGreaterThan(tally.refusals, 0)
        // The load asks for users some 3,900 times and for orders some 960 times.
        XCTAssertLessThan(tally.answers["user", default: 0], 2 * FakeUpstream.userCount)
        XCTAssertLessThan(tally.answers["orders", default: 0], 2 * FakeUpstream.userCount)
        // Inbox responses must not be cached.
        XCTAssertGreaterThanOrEqual(tally.answers["inbox", default: 0], asks(\.isSummary))
        // Each of these failed once, and no caller saw the failure.
        let failing = (1...FakeUpstream.userCount).reduce(0) { count, id in
            count + ["orders", "inbox"].count { FakeUpstream.fails(id, $0) }
        }
        XCTAssertEqual(tally.failures.count, failing)
    }

    private func asks(_ isCounted: (Ask) -> Bool) -> Int { (0..<4_000).count { isCounted(Ask($0)) } }

    /// Requests the summaries of users whose orders never come, and returns the status and duration of each.
    private static func impatience(of count: Int, at url: String) async -> [(HTTPStatus?, Duration)] {
        let caller = APIClient(baseURL: url)
        return await withTaskGroup(of: (HTTPStatus?, Duration).self) { group in
            for number in 0..<count {
                let id = FakeUpstream.slowUsers[number % FakeUpstream.slowUsers.count]
                let request = caller.data.get("users/\(id)/summary").header("X-Request-Timeout", "0.3")
                group.addTask {
                    let start = ContinuousClock.now
                    let response = await request.sender().response
                    return (response.status, start.duration(to: .now))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func report(_ count: Int, _ time: Duration, _ metrics: RequestMetrics, _ upstream: FakeUpstream) {
        let latency = metrics.snapshot().total.latency
        let milliseconds = [50.0, 99].map { Int((latency.percentile($0) ?? .zero) / .milliseconds(1)) }
        print(
            """
            \(count) requests, 64 in flight: \(Int(Double(count) / (time / .seconds(1)))) per second, \
            p50 \(milliseconds[0]) ms, p99 \(milliseconds[1]) ms; \
            the upstream was asked \(upstream.api.requestCount) times, for \(upstream.tally.tokens) tokens
            """
        )
    }
}

/// One request of the load, by its number: three users, then a summary. One in a hundred asks for a missing user.
private struct Ask: Sendable, CustomStringConvertible {
    let number: Int

    init(_ number: Int) {
        self.number = number
    }

    var isMissing: Bool { number % 100 == 99 }
    var isSummary: Bool { number % 4 == 3 && !isMissing }
    var id: Int { isMissing ? 10_000 + number : 1 + number / (number % 4 == 3 ? 4 : 1) % FakeUpstream.userCount }
    var status: HTTPStatus { isMissing ? .notFound : .ok }
    var description: String { isSummary ? "users/\(id)/summary" : "users/\(id)" }

    func request(to service: APIClient) -> APIRequest<Answer, APIError> {
        service.serialized(by: AnswerSerializer()).get("\(self)").validate(statuses: 200..<600)
    }

    func isAnswered(by body: Data) throws -> Bool {
        if isMissing { return String(decoding: body, as: UTF8.self).contains("There is no such user.") }
        if isSummary {
            return try JSONDecoder().decode(UserSummary.self, from: body) == FakeUpstream.summary(of: id)
        }
        return try JSONDecoder().decode(User.self, from: body) == FakeUpstream.user(id)
    }
}

/// A response of the service, successful or not.
private struct Answer: Sendable {
    let status: HTTPStatus
    let body: Data
}

private struct AnswerSerializer: ResponseSerializer {
    func serialize(_ response: ServerResponse) throws(SluiceError) -> Answer {
        Answer(status: response.head.status, body: response.body)
    }
}
