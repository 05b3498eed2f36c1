import Foundation
import Sluice
import SluiceTesting
import XCTest

@testable import UserService

final class UserServerTests: XCTestCase {
    func testAUserIsAnsweredAsJSONAndAskedForOnce() async throws {
        try await withUpstream { upstream, caller in
            for _ in 0..<3 {
                let user: User = try await caller.codable.get("users/7").sender().value
                XCTAssertEqual(user, FakeUpstream.user(7))
            }
            XCTAssertEqual(upstream.api.requests(to: "/users/7").count, 1)
            XCTAssertEqual(upstream.tally.tokens, 1)
        }
    }

    func testTheCacheIsFoundAgainByAnotherServiceInItsDirectory() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "user-service-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let upstream = try FakeUpstream()
        defer { upstream.stop() }
        var options = upstream.options
        options.cacheDirectory = folder.path
        for _ in 0..<2 {
            let client = APIClient.users(options)
            try await withService(client) { url in
                let user: User = try await APIClient(baseURL: url).codable.get("users/7").sender().value
                XCTAssertEqual(user, FakeUpstream.user(7))
            }
            await client.configuration.cache?.flush()
        }
        XCTAssertEqual(upstream.api.requests(to: "/users/7").count, 1)
    }

    func testTheThreeAnswersOfASummaryAreAskedForAtTheSameTime() async throws {
        try await withUpstream { upstream, caller in
            let signal = LoopbackSignal()
            upstream.api.on("/users/7", .after(signal, .json(encoding: FakeUpstream.user(7))))
            upstream.api.on("/users/7/orders", .after(signal, .json(encoding: FakeUpstream.orders(of: 7))))
            upstream.api.on("/users/7/inbox", .after(signal, .json(encoding: FakeUpstream.inbox(of: 7))))
            let request: APIRequest<UserSummary, APIError> = caller.codable.get("users/7/summary")
            async let summary = request.sender().value
            await upstream.api.waitForRequests(3)
            signal.fire()
            let received = try await summary
            XCTAssertEqual(received, FakeUpstream.summary(of: 7))
        }
    }

    func testAUserWhoIsNotThereIsNotFoundInTheServicesOwnWords() async throws {
        try await withUpstream { _, caller in
            for path in ["users/1000", "users/1000/summary"] {
                let response = await caller.data.get(path).sender().response
                XCTAssertEqual(response.status, .notFound)
                XCTAssertEqual(response.text, #"{"error":{"message":"There is no such user."}}"#)
            }
        }
    }

    func testWhatTheUpstreamSaysOfItsFailureIsNotPassedOn() async throws {
        try await withUpstream { upstream, caller in
            upstream.api.on("/users/7", .text("table users, row 7", status: .internalServerError))
            upstream.api.on("/users/8", .text("no JSON: row 8"))
            upstream.api.on("/users/9", .text("row 9 is not yours", status: .forbidden))
            for id in 7...9 {
                let response = await caller.data.get("users/\(id)").sender().response
                XCTAssertEqual(response.status, .badGateway)
                XCTAssertEqual(
                    response.text,
                    #"{"error":{"message":"The users are not available right now."}}"#
                )
            }
        }
    }

    func testAnUpstreamThatIsDownIsABadGateway() async throws {
        try await withUpstream { upstream, caller in
            upstream.api.stop()
            let response = await caller.data.get("users/7").sender().response
            XCTAssertEqual(response.status, .badGateway)
        }
    }

    func testASecretThatIsRefusedIsABadGatewayAndIsToldToNobody() async throws {
        try await withUpstream { upstream, caller in
            let detail = #"{"error":"invalid_client","error_description":"s3cret is not the secret"}"#
            upstream.identity.on("/token", .json(detail, status: .unauthorized))
            upstream.identity.on(.post, "/token", .json(detail, status: .unauthorized))
            let response = await caller.data.get("users/7").sender().response
            XCTAssertEqual(response.status, .badGateway)
            XCTAssertFalse(response.text.contains("s3cret"))
        }
    }

    func testTheCallersTimeoutEndsARequest() async throws {
        try await withUpstream { upstream, caller in
            upstream.api.on("/users/7", .hang)
            let request = caller.data.get("users/7").header("X-Request-Timeout", "0.1")
            let response = await request.sender().response
            XCTAssertEqual(response.status, .gatewayTimeout)
            XCTAssertEqual(response.text, #"{"error":{"message":"The request timed out."}}"#)
        }
    }

    func testNoCallerWaitsForLongerThanTheServiceAllows() async throws {
        try await withUpstream(maximumTimeout: .milliseconds(100)) { upstream, caller in
            upstream.api.on("/users/7", .hang)
            let request = caller.data.get("users/7")
            let silent = await request.sender().response
            XCTAssertEqual(silent.status, .gatewayTimeout)
            let patient = await request.header("X-Request-Timeout", "3600").sender().response
            XCTAssertEqual(patient.status, .gatewayTimeout)
        }
    }

    func testWhatMakesNoSenseIsABadRequestAndAsksNobody() async throws {
        try await withUpstream { upstream, caller in
            for path in ["users/ada", "users/0", "users/-1", "users/1.5/summary", "users/99999999999999999999"] {
                let response = await caller.data.get(path).sender().response
                XCTAssertEqual(response.status, .badRequest, path)
            }
            for timeout in ["soon", "0", "-1", "1e3", "nan", "1.2.3", "1 s"] {
                let request = caller.data.get("users/7").header("X-Request-Timeout", timeout)
                let response = await request.sender().response
                XCTAssertEqual(response.status, .badRequest, timeout)
            }
            XCTAssertEqual(upstream.api.requestCount, 0)
        }
    }

    func testACallerThatLeavesTakesItsRequestsToTheUpstreamAlong() async throws {
        try await withUpstream(maximumTimeout: .seconds(3600)) { upstream, caller in
            upstream.api.on("/users/7", .hang)
            upstream.api.on("/users/7/orders", .hang)
            upstream.api.on("/users/7/inbox", .hang)
            let sender = caller.data.get("users/7/summary").sender()
            async let result = sender.result
            await upstream.api.waitForRequests(3)
            sender.cancel()
            _ = await result
            await upstream.api.waitForOpenConnections { $0 == 0 }
            XCTAssertEqual(upstream.api.requestCount, 3)
        }
    }

    func testManyRequestsComeByOneConnection() async throws {
        try await withUpstream { _, caller in
            for id in 1...20 {
                let response = await caller.data.get("users/\(id)").sender().response
                XCTAssertEqual(response.status, .ok)
                XCTAssertEqual(response.metrics?.isConnectionReused, id > 1)
            }
        }
    }

    func testImpatientCallersDoNotOpenTheCircuitForTheOthers() async throws {
        try await withUpstream { upstream, caller in
            upstream.api.on(.get, "/users/*", .hang)
            upstream.api.on(.get, "/users/50", .json(encoding: FakeUpstream.user(50)))
            let requests = (1...40).map { caller.data.get("users/\($0)").header("X-Request-Timeout", "0.05") }
            let impatient = caller.batchSender(requests, maximumInFlight: 40, failsFast: false)
            let statuses = await impatient.results.map { result -> HTTPStatus? in
                if case .failure(let error) = result { error.status } else { nil }
            }
            XCTAssertEqual(Set(statuses), [.gatewayTimeout])
            let response = await caller.data.get("users/50").sender().response
            XCTAssertEqual(response.status, .ok)
        }
    }

    func testAnUpstreamThatKeepsFailingIsSparedAndCallersAreToldForHowLong() async throws {
        try await withUpstream { upstream, caller in
            upstream.api.on(.get, "/users/*", .status(.internalServerError))
            var response = await caller.data.get("users/1").sender().response
            for id in 2...30 where response.status == .badGateway {
                response = await caller.data.get("users/\(id)").sender().response
            }
            XCTAssertEqual(response.status, .serviceUnavailable)
            XCTAssertNotNil(response.head?.headers["Retry-After"].flatMap { Int($0) })
            let asked = upstream.api.requestCount
            _ = await caller.data.get("users/31").sender().response
            XCTAssertEqual(upstream.api.requestCount, asked)
        }
    }

    func testTheServiceIsHealthyWhateverTheUpstreamIs() async throws {
        try await withUpstream { upstream, caller in
            upstream.stop()
            let response = await caller.data.get("health").sender().response
            XCTAssertEqual(response.status, .ok)
        }
    }

    private func withUpstream(
        maximumTimeout: Duration = .seconds(10),
        _ body: (FakeUpstream, APIClient) async throws -> Void
    ) async throws {
        let upstream = try FakeUpstream()
        defer { upstream.stop() }
        let client = APIClient.users(upstream.options) {
            $0.retry.backoff = .constant(.milliseconds(1))
            $0.timeouts.idle = nil
        }
        try await withService(client, maximumTimeout: maximumTimeout) { url in
            try await body(upstream, APIClient(baseURL: url))
        }
    }
}

extension APIResponse {
    fileprivate var text: String { String(decoding: body, as: UTF8.self) }
}
