import Foundation
import Sluice
import SluiceTesting
import Testing

/// Sends informational responses before the final one, on a separate thread, as an engine does.
private final class HintingTransport: CallbackTransport {
    let receivesInformational = Shared<[Bool]>([])
    private let statuses: [HTTPStatus]
    private let engine = DispatchQueue(label: "engine")

    init(_ statuses: [HTTPStatus] = [100, 103, 103]) {
        self.statuses = statuses
    }

    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        let result = await withCheckedContinuation { continuation in
            _ = begin(request, context: context) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    func begin(
        _ request: HTTPRequest,
        context: TransferContext,
        completion: @escaping @Sendable (Result<TransportResponse, SluiceError>) -> Void
    ) -> @Sendable () -> Void {
        receivesInformational.change { $0.append(context.onInformational != nil) }
        engine.async { [statuses] in
            for (index, status) in statuses.enumerated() {
                context.onInformational?(HTTPResponse(status: status, headers: ["X-Number": "\(index)"]))
            }
            let head = HTTPResponse(status: request.path == "/broken" ? .serviceUnavailable : .ok)
            completion(.success(TransportResponse(head: head, body: ResponseBody())))
        }
        return {}
    }
}

/// Records the informational responses that it receives, and the context of each call.
private final class HintPlugin: Plugin {
    @TaskLocal static var caller = ""
    let notes = Shared<[String]>([])

    var receivesInformational: Bool { true }

    func didReceive(informational head: HTTPResponse, context: RequestContext) {
        notes.change { $0.append("\(context.attempt) \(head.status) \(Self.caller)") }
    }

    func didReceive(_ outcome: TransportOutcome, context: RequestContext) {
        notes.change { $0.append("\(context.attempt) final") }
    }
}

@Suite struct InformationalTests {
    private func client(
        _ transport: HintingTransport,
        _ configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        APIClient(baseURL: "http://shop.test") {
            $0.transport = transport
            configure(&$0)
        }
    }

    /// An interceptor that is not an adapter, so that the request uses a task from the start.
    private struct Waiting: RequestInterceptor {
        func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest { request }
    }

    @Test(arguments: [false, true])
    func reportsInformationalResponsesInOrderForEachAttempt(inTask: Bool) async throws {
        let observer = NotingObserver([.sending, .informational, .received])
        let client = client(HintingTransport()) {
            $0.observers = [observer]
            $0.retry = RetryPolicy(maximumAttempts: 2, backoff: .constant(.zero))
            if inTask { $0.requestInterceptors = [Waiting()] }
        }
        _ = await client.data.get("broken").sender().response
        await client.observersCaughtUp()
        let attempt = { (number: Int) in
            ["sending /broken", "informational 100", "informational 103", "informational 103", "received 503"]
                .map { "\(number) \($0)" }
        }
        #expect(observer.events == attempt(1) + attempt(2))
    }

    @Test(arguments: [RequestEvent.Kinds.received, []])
    func requestsNoneFromTransportWithoutInterest(interests: RequestEvent.Kinds) async throws {
        let transport = HintingTransport()
        let observer = NotingObserver(interests)
        _ = try await client(transport).data.get("a").sender().value
        _ = try await client(transport) { $0.observers = [observer] }.data.get("a").sender().value
        _ = try await client(transport) { $0.requestInterceptors = [Waiting()] }.data.get("a").sender().value
        #expect(transport.receivesInformational.read == [false, false, false])
    }

    @Test func reportsToObserverOfOneRequest() async throws {
        let observer = NotingObserver(.informational)
        let transport = HintingTransport()
        let client = client(transport)
        _ = try await client.data.get("a").observer(observer).sender().value
        await eventually { observer.events.count == 3 }
        _ = try await client.data.get("a").sender().value
        #expect(transport.receivesInformational.read == [true, false])
    }

    @Test func notifiesPluginBeforeFinalResponseWithTaskLocals() async throws {
        let plugin = HintPlugin()
        let client = client(HintingTransport([100, 103])) { $0.plugins = [plugin] }
        _ = try await HintPlugin.$caller.withValue("me") { try await client.data.get("a").sender().value }
        #expect(plugin.notes.read == ["1 100 me", "1 103 me", "1 final"])
    }

    @Test func skipsPluginWithoutInterest() async throws {
        struct Uninterested: Plugin {
            func didReceive(informational head: HTTPResponse, context: RequestContext) {
                Issue.record("The plugin was notified.")
            }
        }
        let transport = HintingTransport()
        _ = try await client(transport) { $0.plugins = [Uninterested()] }.data.get("a").sender().value
        #expect(transport.receivesInformational.read == [false])
    }

    @Test func logsInformationalResponsesRedacted() async throws {
        let lines = Shared<[String]>([])
        let client = client(HintingTransport([103])) {
            $0.secretHeaders = ["X-Number"]
            $0.observers = [RequestLog(.headers) { line in lines.change { $0.append(line) } }]
        }
        _ = try await client.data.get("a").sender().value
        await client.observersCaughtUp()
        let hint = lines.read.first { $0.contains("< 103") }
        #expect(hint?.contains("X-Number: ") == true)
        #expect(hint?.contains("X-Number: 0") == false)
    }
}
