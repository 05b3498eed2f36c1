import Sluice
import SluiceTesting
import XCTest

/// Time-outs that interceptors, plugins and `requestMapping` set.
final class InterceptedTimeoutTests: XCTestCase {
    /// Notes the time-outs of each transfer, and answers.
    private struct NotingTransport: Transport {
        let timeouts = Shared<[Timeouts]>([])
        var statuses: [HTTPStatus] = [.ok]

        func send(
            _ request: HTTPRequest,
            context: TransferContext
        ) async throws(SluiceError) -> TransportResponse {
            let count = timeouts.change { seen in
                seen.append(context.timeouts)
                return seen.count
            }
            return TransportResponse(
                head: HTTPResponse(status: statuses[min(count, statuses.count) - 1]),
                body: ResponseBody()
            )
        }
    }

    /// A time-out for the requests of one kind, as a user writes it.
    private struct SlowReports: RequestAdapter {
        func adapt(_ request: inout HTTPRequest, context: RequestContext) {
            if context.tags.contains("report") { request.setTimeouts(total: .seconds(300), idle: .seconds(120)) }
        }
    }

    private struct Hurry: Plugin {
        func prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
            var request = request
            request.setTimeouts(connect: .seconds(context.attempt))
            return request
        }
    }

    func testInterceptorSetsTheTimeoutsOfItsRequests() async throws {
        let transport = NotingTransport()
        let client = APIClient(baseURL: "http://shop.test") {
            $0.transport = transport
            $0.requestInterceptors = [SlowReports()]
        }
        _ = try await client.data.get("orders").sender().value
        _ = try await client.data.get("report").tags("report").sender().value
        for try await _ in client.stream("report").tags("report").bytes {}
        let usual = Timeouts()
        let slow = Timeouts(idle: .seconds(120), total: .seconds(300))
        XCTAssertEqual(transport.timeouts.read, [usual, slow, slow])
    }

    func testPluginSetsTheTimeoutsOfEachAttempt() async throws {
        let transport = NotingTransport(statuses: [.serviceUnavailable, .ok])
        let client = APIClient(baseURL: "http://shop.test") {
            $0.transport = transport
            $0.retry = RetryPolicy(backoff: .constant(.zero))
            $0.plugins = [Hurry()]
        }
        _ = try await client.data.get("orders").sender().value
        XCTAssertEqual(transport.timeouts.read.map(\.connect), [.seconds(1), .seconds(2)])
        XCTAssertEqual(transport.timeouts.read.map(\.idle), [.seconds(60), .seconds(60)])
    }

    func testInterceptorCannotExtendTheTimeOfTheRequest() async throws {
        let transport = NotingTransport()
        let clock = TestClock()
        let client = APIClient(baseURL: "http://shop.test") {
            $0.transport = transport
            $0.clock = clock
            $0.requestInterceptors = [SlowReports()]
        }
        _ = try await client.data.get("report").tags("report").timeout(total: .seconds(20)).sender().value
        XCTAssertEqual(transport.timeouts.read.first?.total, .seconds(20))
        XCTAssertEqual(transport.timeouts.read.first?.idle, .seconds(120))
    }

    func testRequestMappingLimitsTheWholeRequest() async throws {
        struct Hanging: Transport {
            func send(
                _ request: HTTPRequest,
                context: TransferContext
            ) async throws(SluiceError) -> TransportResponse {
                do { try await Task.sleep(for: .seconds(3600)) } catch {}
                throw .init(.cancelled, "Cancelled.")
            }
        }
        let clock = TestClock()
        let client = APIClient(baseURL: "http://shop.test") {
            $0.transport = Hanging()
            $0.clock = clock
            $0.requestMapping = { request in
                var request = request
                request.setTimeouts(total: .seconds(5))
                return request
            }
        }
        let task = Task { await client.data.get("orders").sender().result }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let failure = await task.value.failure
        XCTAssertEqual(failure?.code, .timedOut)
    }

    func testTimeoutsOfARealConnection() async throws {
        let server = try LoopbackServer()
        addTeardownBlock { server.stop() }
        server.on("/hang", .hang)
        let client = APIClient(baseURL: server.url) {
            $0.requestMapping = { request in
                var request = request
                request.setTimeouts(idle: .milliseconds(50))
                return request
            }
        }
        let failure = await client.data.get("hang").sender().result.failure
        XCTAssertEqual(failure?.code, .idleTimedOut)
    }

    func testRequestsWithOtherTimeoutsShareNoTransfer() async throws {
        let server = try LoopbackServer()
        addTeardownBlock { server.stop() }
        let signal = LoopbackSignal()
        server.on("/motto", .after(signal, .text("Let it flow.")))
        let count = Shared(0)
        let client = APIClient(baseURL: server.url) {
            $0.sharing = .safeMethods
            $0.requestMapping = { request in
                var request = request
                let number = count.change { count in
                    count += 1
                    return count
                }
                request.setTimeouts(idle: .seconds(30 + number))
                return request
            }
        }
        let tasks = (0..<2).map { _ in Task { try await client.string.get("motto").sender().value } }
        await server.waitForRequests(2)
        signal.fire()
        for task in tasks { _ = try await task.value }
    }
}
