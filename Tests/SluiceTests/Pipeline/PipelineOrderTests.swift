import Sluice
import SluiceTesting
import XCTest

/// Records events in order.
private actor EventRecorder {
    private(set) var entries: [String] = []

    func record(_ entry: String) { entries.append(entry) }
}

private struct RecordingGate: Gate {
    let name: String
    let recorder: EventRecorder
    var refusal: SluiceError?

    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        await recorder.record("\(name) admits")
        if let refusal { throw refusal }
        return Permit { outcome in
            let result =
                switch outcome {
                case .success(let response): "\(response.head.status.rawValue)"
                case .failure(let error): "\(error.code)"
                }
            await recorder.record("\(name) receives \(result)")
        }
    }
}

private struct RecordingRequestInterceptor: RequestInterceptor {
    let name: String
    let recorder: EventRecorder

    func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        await recorder.record("\(name) changes the request")
        var request = request
        request.headers.append("X-Seen", name)
        return request
    }
}

private struct RecordingResponseInterceptor: ResponseInterceptor {
    let name: String
    let recorder: EventRecorder

    func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
        await recorder.record("\(name) changes the response")
        return outcome
    }
}

private struct BrokenInterceptor: RequestInterceptor {
    struct Broken: Error {}

    func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest { throw Broken() }
}

struct Replacing: ResponseInterceptor {
    let replace: @Sendable (TransportOutcome) -> TransportOutcome

    func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome { replace(outcome) }
}

final class PipelineOrderTests: XCTestCase {
    private func client(_ server: LoopbackServer, _ recorder: EventRecorder, refusal: SluiceError? = nil) -> APIClient {
        APIClient(baseURL: server.url) {
            $0.gates = [
                RecordingGate(name: "g1", recorder: recorder),
                RecordingGate(name: "g2", recorder: recorder, refusal: refusal),
            ]
            $0.requestInterceptors = ["q1", "q2"].map { RecordingRequestInterceptor(name: $0, recorder: recorder) }
            $0.responseInterceptors = ["p1", "p2"].map { RecordingResponseInterceptor(name: $0, recorder: recorder) }
        }
    }

    func testRunsStepsInOrder() async throws {
        let server = try LoopbackServer()
        let recorder = EventRecorder()
        server.on("/echo", .echo)
        let request: APIRequest<LoopbackEcho, APIError> = client(server, recorder).codable.request("echo")
        let echo = try await request.sender().value
        XCTAssertEqual(echo.values(for: "x-seen"), ["q1", "q2"])
        let entries = await recorder.entries
        XCTAssertEqual(
            entries,
            [
                "g1 admits", "g2 admits", "q1 changes the request", "q2 changes the request",
                "p1 changes the response", "p2 changes the response", "g2 receives 200", "g1 receives 200",
            ]
        )
    }

    func testRefusalSendsNothingAndReleasesPermits() async throws {
        let server = try LoopbackServer()
        let recorder = EventRecorder()
        let refusal = SluiceError(.gateFailed, "There is no token.")
        let request = client(server, recorder, refusal: refusal).data.request("echo")
        let error = await request.sender().result.failure
        XCTAssertEqual(error?.code, .gateFailed)
        XCTAssertEqual(error?.error.step, .gate)
        XCTAssertEqual(server.connections, 0)
        let entries = await recorder.entries
        XCTAssertEqual(entries, ["g1 admits", "g2 admits", "g1 receives gateFailed"])
    }

    func testReleasesPermitsAfterFailureAndCancellation() async throws {
        let server = try LoopbackServer()
        server.on("/drop", .drop)
        server.on("/hang", .hang)
        let failing = EventRecorder()
        _ = await client(server, failing).data.request("drop").sender().result
        let failed = await failing.entries
        XCTAssertEqual(failed.suffix(2), ["g2 receives connectionLost", "g1 receives connectionLost"])
        let cancelling = EventRecorder()
        let sender = client(server, cancelling).data.request("hang").sender()
        async let result = sender.result
        await server.waitForRequests(2)
        sender.cancel()
        _ = await result
        while await cancelling.entries.last != "g1 receives cancelled" { await Task.yield() }
    }

    func testThrowingRequestInterceptorFailsRequest() async throws {
        let server = try LoopbackServer()
        let client = APIClient(baseURL: server.url) { $0.requestInterceptors = [BrokenInterceptor()] }
        let error = await client.data.request("x").sender().result.failure
        XCTAssertEqual(error?.code, .interceptorFailed)
        XCTAssertEqual(error?.error.step, .requestInterceptor)
        XCTAssertTrue(error?.underlyingError is BrokenInterceptor.Broken)
        XCTAssertEqual(server.connections, 0)
    }

    func testResponseInterceptorReplacesOutcome() async throws {
        let server = try LoopbackServer()
        server.on("/user", .json(#"{"id":1,"name":"Ada"}"#))
        let replacing = APIClient(baseURL: server.url) {
            $0.responseInterceptors = [
                Replacing { outcome in
                    guard case .failure(let error) = outcome, let request = error.request else { return outcome }
                    let body = Data(#"{"id":0,"name":"Guest"}"#.utf8)
                    return .success(ServerResponse(request: request, head: HTTPResponse(status: .ok), body: body))
                }
            ]
        }
        let guest: User = try await replacing.codable.request("http://127.0.0.1:1/user").sender().value
        XCTAssertEqual(guest.name, "Guest")
        let refused = APIClient(baseURL: server.url) {
            $0.responseInterceptors = [Replacing { _ in .failure(SluiceError(.init("maintenance"), "Later.")) }]
        }
        let error = await refused.codable.request("user", as: User.self).sender().result.failure
        XCTAssertEqual(error?.code, SluiceError.Code("maintenance"))
    }
}
