import Sluice
import SluiceTesting
import XCTest

/// Records the events that it receives.
final class NotingObserver: RequestObserver {
    let interests: RequestEvent.Kinds
    private let notes = Shared<[String]>([])
    private let droppedCount = Shared(0)
    private let hold: AsyncSignal?

    init(_ interests: RequestEvent.Kinds = .all, hold: AsyncSignal? = nil) {
        self.interests = interests
        self.hold = hold
    }

    var events: [String] { notes.read }
    var dropped: Int { droppedCount.read }

    func observe(_ event: RequestEvent, of request: ObservedRequest) {
        let text =
            switch event {
            case .began(let request): "began \(request.path)"
            case .waiting(let gate): "waiting \(gate)"
            case .admitted(let gate): "admitted \(gate)"
            case .refused(let gate, let error): "refused \(gate) \(error.code)"
            case .sending(let request): "sending \(request.path)"
            case .redirected(let response, let next): "redirected \(response.head.status.rawValue) \(next.path)"
            case .informational(let head): "informational \(head.status.rawValue)"
            case .received(let outcome): "received \(Self.text(outcome))"
            case .cached(let response): "cached \(response.head.status.rawValue)"
            case .retrying(let delay, let outcome): "retrying \(delay) \(Self.text(outcome))"
            case .hedging: "hedging"
            case .finished(let outcome): "finished \(Self.text(outcome))"
            }
        notes.change { $0.append("\(request.attempt) \(text)") }
    }

    func didDrop(_ count: Int) { droppedCount.change { $0 += count } }

    private static func text(_ outcome: TransportOutcome) -> String {
        switch outcome {
        case .success(let response): "\(response.head.status.rawValue)"
        case .failure(let error): "\(error.code)"
        }
    }
}

final class ObserverTests: XCTestCase {
    func testReportsEveryStepOfEveryAttemptInOrder() async throws {
        let server = try LoopbackServer()
        server.on("/old", .redirect(to: "/new"))
        server.on("/new", .status(.serviceUnavailable), .text("ok"))
        let observer = NotingObserver()
        let client = APIClient(baseURL: server.url) {
            $0.observers = [observer]
            $0.constraints = [ScriptedConstraint("C")]
            $0.retry = RetryPolicy(backoff: .constant(.zero))
        }
        _ = try await client.string.request("old").sender().value
        await client.observersCaughtUp()
        XCTAssertEqual(
            observer.events,
            [
                "0 began /old",
                "1 waiting C", "1 admitted C", "1 sending /old", "1 redirected 302 /new", "1 sending /new",
                "1 received 503", "1 retrying 0.0 seconds 503",
                "2 waiting C", "2 admitted C", "2 sending /old", "2 redirected 302 /new", "2 sending /new",
                "2 received 200", "0 finished 200",
            ]
        )
    }

    func testObserverWithAnArrayOfKindsReceivesThese() async throws {
        final class Ends: RequestObserver {
            let events = Shared<[String]>([])
            var interests: [RequestEvent.Kinds] { [.began, .finished] }
            func observe(_ event: RequestEvent, of request: ObservedRequest) {
                let text =
                    if case .began = event { "began" } else if case .finished = event { "finished" } else { "other" }
                events.change { $0.append(text) }
            }
        }
        let ends = Ends()
        let client = APIClient(baseURL: "http://shop.test") {
            $0.observers = [ends]
            $0.stub = .text("ok")
        }
        _ = try await client.string.get("motto").sender().value
        await client.observersCaughtUp()
        XCTAssertEqual(ends.events.read, ["began", "finished"])
    }

    func testReportsStepsOfRequestWithoutTask() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        let observer = NotingObserver()
        let client = APIClient(baseURL: server.url) { $0.observers = [observer] }
        _ = try await client.string.request("").sender().value
        await client.observersCaughtUp()
        XCTAssertEqual(observer.events, ["0 began /", "1 sending /", "1 received 200", "0 finished 200"])
    }

    func testReportsFailureCodeAsOutcome() async throws {
        let server = try LoopbackServer()
        server.on("/missing", .status(.notFound))
        server.on("/text", .text("no JSON"))
        let observer = NotingObserver(.finished)
        let client = APIClient(baseURL: server.url) { $0.observers = [observer] }
        _ = await client.data.request("missing").sender().result
        _ = await client.codable.request("text", as: Int.self).sender().result
        _ = await client.data.request("http://[").sender().result
        _ = await client.data.request("http://127.0.0.1:1/").sender().result
        await client.observersCaughtUp()
        XCTAssertEqual(
            observer.events,
            [
                "0 finished unacceptableStatus", "0 finished decodingFailed", "0 finished invalidURL",
                "0 finished cannotConnect",
            ]
        )
    }

    func testCancelledRequestFinishesOnceAndLast() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let observer = NotingObserver()
        let client = APIClient(baseURL: server.url) { $0.observers = [observer] }
        let request = Task { await client.data.request("hang").sender().result }
        await server.waitForRequests(1)
        request.cancel()
        _ = await request.value
        await eventually { observer.events.count == 4 }
        XCTAssertEqual(
            observer.events,
            ["0 began /hang", "1 sending /hang", "1 received cancelled", "0 finished cancelled"]
        )
    }

    func testSenderAwaitedTwiceFinishesOnce() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        let observer = NotingObserver(.finished)
        let client = APIClient(baseURL: server.url) { $0.observers = [observer] }
        let sender = client.string.request("").sender()
        async let first = sender.value
        async let second = sender.result
        _ = try await (first, second)
        _ = await sender.response
        await client.observersCaughtUp()
        XCTAssertEqual(observer.events, ["0 finished 200"])
    }

    func testObserverOfOneRequestSeesOnlyThatRequest() async throws {
        let server = try LoopbackServer()
        server.on("/*", .text("ok"))
        let observer = NotingObserver(.sending)
        let client = APIClient(baseURL: server.url)
        _ = try await client.string.request("").observer(observer).sender().value
        _ = try await client.string.request("").sender().value
        _ = try await client.string.request("last").observer(observer).sender().value
        await eventually { observer.events.contains("1 sending /last") }
        XCTAssertEqual(observer.events, ["1 sending /", "1 sending /last"])
    }

    func testSlowObserverDelaysNoRequestAndLearnsMissedCount() async throws {
        final class Slow: RequestObserver {
            let interests = RequestEvent.Kinds.began
            let droppedCount = Shared(0)
            let taken = Shared(0)
            let mayContinue = DispatchSemaphore(value: 0)
            let isHeld = Shared(false)

            func observe(_ event: RequestEvent, of request: ObservedRequest) {
                if taken.change({
                    $0 += 1; return $0 == 1
                }) {
                    mayContinue.wait()
                }
            }
            func didDrop(_ count: Int) { droppedCount.change { $0 += count } }
        }
        let slow = Slow()
        let client = APIClient(baseURL: "http://localhost") {
            $0.observers = [slow]
            $0.transport = AnsweringTransport()
        }
        let count = 70_000
        for _ in 0..<count { _ = await client.data.request("").sender().result }
        slow.mayContinue.signal()
        await client.observersCaughtUp()
        await eventually { slow.taken.read + slow.droppedCount.read == count }
        XCTAssertGreaterThan(slow.droppedCount.read, 4000)
        XCTAssertLessThan(slow.droppedCount.read, 4500)
    }

    func testSlowObserverHoldsAFewBodiesAndLearnsWhatItLacks() async throws {
        final class Slow: RequestObserver {
            let interests = RequestEvent.Kinds.finished
            let mayContinue = DispatchSemaphore(value: 0)
            let received = Shared<[(body: Int, omitted: Int, status: Int)]>([])

            func observe(_ event: RequestEvent, of request: ObservedRequest) {
                guard case .finished(.success(let response)) = event else { return }
                let isFirst = received.change {
                    $0.append((response.body.count, request.omittedBodyBytes, response.head.status.rawValue))
                    return $0.count == 1
                }
                if isFirst { mayContinue.wait() }
            }
        }
        struct LargeBodies: Transport {
            func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
                let body = ResponseBody(Data(count: 1 << 20), metrics: TransferMetrics())
                return TransportResponse(head: HTTPResponse(status: .ok), body: body)
            }
        }
        let (slow, count) = (Slow(), 100)
        let client = APIClient(baseURL: "http://localhost") {
            $0.observers = [slow]
            $0.transport = LargeBodies()
        }
        for _ in 0..<count { _ = await client.data.request("").sender().result }
        slow.mayContinue.signal()
        await client.observersCaughtUp()
        await eventually { slow.received.read.count == count }
        let received = slow.received.read
        XCTAssertTrue(received.allSatisfy { $0.status == 200 && $0.body + $0.omitted == 1 << 20 })
        XCTAssertEqual(received.filter { $0.omitted == 0 }.count, 16)
        // An observer that has caught up gets bodies again.
        _ = await client.data.request("").sender().result
        await client.observersCaughtUp()
        XCTAssertEqual(slow.received.read.last?.body, 1 << 20)
    }

    func testPluginsRunInOrder() async throws {
        struct Noting: Plugin {
            let name: String
            let notes: Shared<[String]>

            func prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
                notes.change { $0.append("\(name) prepares") }
                var request = request
                request.headers.append("X-Plugin", name)
                return request
            }
            func willSend(_ request: HTTPRequest, context: RequestContext) {
                notes.change { $0.append("\(name) will send \(request.headers["X-Plugin"] ?? "")") }
            }
            func didReceive(_ outcome: TransportOutcome, context: RequestContext) {
                notes.change { $0.append("\(name) received") }
            }
            func process(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
                notes.change { $0.append("\(name) processes") }
                return outcome.map { response in
                    var response = response
                    response.body += Data(name.utf8)
                    return response
                }
            }
        }
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        let notes = Shared<[String]>([])
        let client = APIClient(baseURL: server.url) { $0.plugins = [Noting(name: "a", notes: notes)] }
        let request = client.string.request("").plugin(Noting(name: "b", notes: notes))
        let text = try await request.sender().value
        XCTAssertEqual(text, "okab")
        XCTAssertEqual(
            notes.read,
            [
                "a prepares", "b prepares", "a will send a, b", "b will send a, b", "a received", "b received",
                "a processes", "b processes",
            ]
        )
    }
}
