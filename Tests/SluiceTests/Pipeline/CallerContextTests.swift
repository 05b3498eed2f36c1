import Foundation
import Sluice
import SluiceHTTP
import SluiceTesting
import Testing

/// The caller's context that steps must see: a task-local value, the priority, and a thread other than the transport's.
private enum Caller {
    @TaskLocal static var name = "none"
    static let engine = DispatchSpecificKey<Bool>()

    /// A description of the current context.
    static var description: String {
        let thread = DispatchQueue.getSpecific(key: engine) == true ? "the engine" : "a task"
        return "\(name), \(Task.currentPriority == .high ? "high" : "other"), \(thread)"
    }
}

/// Answers on a separate queue, as an engine does: with a redirect for each step of "/redirect", and with an error for each
/// attempt but the last of "/broken".
private final class EngineTransport: CallbackTransport {
    let engine = DispatchQueue(label: "engine")
    private let requests = Shared(0)
    private let inPieces: Bool

    init(inPieces: Bool = false) {
        self.inPieces = inPieces
        engine.setSpecific(key: Caller.engine, value: true)
    }

    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        let result = await withCheckedContinuation { continuation in
            _ = begin(request, context: context) { [requests] result in
                _ = requests.read
                continuation.resume(returning: result)
            }
        }
        // The thread sanitizer sees the ordering of the lock, but not that of the continuation.
        _ = requests.read
        return try result.get()
    }

    func begin(
        _ request: HTTPRequest,
        context: TransferContext,
        completion: @escaping @Sendable (Result<TransportResponse, SluiceError>) -> Void
    ) -> @Sendable () -> Void {
        let number = requests.change { count in
            count += 1
            return count
        }
        engine.async { [inPieces] in
            let head =
                switch (request.path, number) {
                case ("/redirect", ...2): HTTPResponse(status: .found, headers: ["Location": "/redirect"])
                case ("/broken", ...2): HTTPResponse(status: .serviceUnavailable)
                default: HTTPResponse(status: .ok)
                }
            let pipe = ResponsePipe(highWater: 1 << 10, onDemand: {}, onAbandon: {})
            let body = inPieces ? ResponseBody(ResponsePipe.Reader(pipe)) : ResponseBody()
            completion(.success(TransportResponse(head: head, body: body)))
            _ = pipe.write(Data("a".utf8))
            pipe.finish(.success(TransferMetrics()))
        }
        return {}
    }
}

/// Steps of every kind, each of which records its context.
private final class ContextRecorder: Sendable {
    private let notes = Shared<[String: Set<String>]>([:])

    func record(_ step: String) {
        notes.change { $0[step, default: []].insert(Caller.description) }
    }

    /// Returns the steps that ran outside the task of this caller.
    func steps(outsideTaskOf caller: String) -> [String: Set<String>] {
        notes.read.filter { $0.value != ["\(caller), high, a task"] }
    }

    var steps: Set<String> { Set(notes.read.keys) }

    struct Adapter: RequestAdapter, OutcomeAdapter {
        let recorder: ContextRecorder
        func adapt(_ request: inout HTTPRequest, context: RequestContext) { recorder.record("request adapter") }
        func adapt(_ outcome: inout TransportOutcome, context: RequestContext) { recorder.record("outcome adapter") }
    }

    struct Interceptor: RequestInterceptor, ResponseInterceptor {
        let recorder: ContextRecorder
        func intercept(_ request: HTTPRequest, context: RequestContext) async -> HTTPRequest {
            recorder.record("request interceptor")
            await Task.yield()
            return request
        }
        func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
            recorder.record("response interceptor")
            return outcome
        }
    }

    struct Condition: Constraint {
        let recorder: ContextRecorder
        let isMet = Shared(false)
        func isSatisfied(for request: RequestContext) async -> Bool {
            recorder.record("constraint check")
            return isMet.read
        }
        func satisfy(for request: RequestContext) async {
            recorder.record("satisfaction")
            isMet.change { $0 = true }
        }
    }

    struct Guard: ImmediateGate {
        let recorder: ContextRecorder
        let waits: Bool
        func admitImmediately(_ request: RequestContext) -> Permit? {
            recorder.record("admission")
            return makePermit()
        }
        func admit(_ request: RequestContext) async -> Permit {
            recorder.record("admission")
            return makePermit()
        }
        private func makePermit() -> Permit {
            if waits { return Permit { [recorder] _ in recorder.record("release of a permit") } }
            return Permit(
                modifyRequest: { [recorder] _ in recorder.record("request modifier") },
                onOutcome: { [recorder] _ in
                    recorder.record("outcome")
                    return .settled
                }
            )
        }
    }
}

extension RequestSender {
    /// Returns once no caller runs on the actor.
    fileprivate func becomesFree() {}
}

@Suite struct CallerContextTests {
    enum Setup: CaseIterable {
        case adapters, adaptersAndCache, adaptersAndWaitingPermit, interceptors, constraints, sharing, everything
    }

    private func client(_ setup: Setup, _ recorder: ContextRecorder, inPieces: Bool, in folder: URL) -> APIClient {
        APIClient(baseURL: "http://shop.test") {
            $0.transport = EngineTransport(inPieces: inPieces)
            $0.retry = RetryPolicy(maximumAttempts: 3, backoff: .constant(.zero)) { proposal in
                recorder.record("decision about a retry")
                return proposal.isRetried
            }
            let adapter = ContextRecorder.Adapter(recorder: recorder)
            let interceptor = ContextRecorder.Interceptor(recorder: recorder)
            $0.requestInterceptors = [adapter]
            $0.responseInterceptors = [adapter]
            $0.gates = [ContextRecorder.Guard(recorder: recorder, waits: false)]
            switch setup {
            case .adapters: break
            case .adaptersAndCache: $0.cache = CacheStore(directory: folder)
            case .adaptersAndWaitingPermit: $0.gates.append(ContextRecorder.Guard(recorder: recorder, waits: true))
            case .interceptors:
                $0.requestInterceptors.append(interceptor)
                $0.responseInterceptors.append(interceptor)
            case .constraints: $0.constraints = [ContextRecorder.Condition(recorder: recorder)]
            case .sharing: $0.sharing = .safeMethods
            case .everything:
                $0.requestInterceptors.append(interceptor)
                $0.responseInterceptors.append(interceptor)
                $0.constraints = [ContextRecorder.Condition(recorder: recorder)]
                $0.timeouts.total = .seconds(60)
            }
        }
    }

    @Test(arguments: Setup.allCases, ["plain", "redirect", "broken"])
    func everyStepRunsInContextOfCaller(_ setup: Setup, _ path: String) async throws {
        for inPieces in [false, true] {
            let recorder = ContextRecorder()
            let folder = try DownloadFolder()
            let client = client(setup, recorder, inPieces: inPieces, in: folder.url)
            await Task(priority: .high) {
                await Caller.$name.withValue("caller") { _ = await client.data.get(path).sender().response }
            }.value
            #expect(recorder.steps(outsideTaskOf: "caller") == [:])
            #expect(
                recorder.steps.isSuperset(of: ["request adapter", "outcome adapter", "request modifier", "outcome"])
            )
        }
    }

    @Test func constraintRunsInContextOfItsRequest() async {
        struct Named: Constraint {
            let pairs: Shared<[String]>
            func isSatisfied(for request: RequestContext) async -> Bool {
                await Task.yield()
                pairs.change { $0.append("\(request.request.path)=/\(Caller.name)") }
                return true
            }
            func satisfy(for request: RequestContext) async {}
        }
        let pairs = Shared<[String]>([])
        let client = APIClient(baseURL: "http://shop.test") {
            $0.transport = EngineTransport()
            $0.constraints = [Named(pairs: pairs)]
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    await Caller.$name.withValue("\(number)") {
                        _ = await client.data.get("\(number)").sender().response
                    }
                }
            }
        }
        #expect(pairs.read.sorted() == (0..<40).map { "/\($0)=/\($0)" }.sorted())
    }

    @Test func cancelledRequestStillRunsItsLastSteps() async {
        let recorder = ContextRecorder()
        let transport = EngineTransport()
        let adapter = ContextRecorder.Adapter(recorder: recorder)
        let client = APIClient(baseURL: "http://shop.test") {
            $0.transport = transport
            $0.requestInterceptors = [adapter]
            $0.responseInterceptors = [adapter]
            $0.gates = [ContextRecorder.Guard(recorder: recorder, waits: false)]
        }
        transport.engine.suspend()
        let sender = client.data.get("plain").sender()
        let task = Task { await sender.result }
        await eventually { recorder.steps.contains("request modifier") }
        sender.cancel()
        let result = await task.value
        #expect(result.failure?.isCancellation == true)
        transport.engine.resume()
        await eventually { recorder.steps.isSuperset(of: ["outcome adapter", "outcome"]) }
    }

    /// If the engine works on the connection at the moment of the cancellation, it ends the request later, on its own thread. This is rare.
    @Test(arguments: [false, true])
    func lastStepsOfACancelledRequestRunInContextOfCaller(cancelsTask: Bool) async throws {
        var recorder = try await recorderOfACancelledRequest(cancelsTask: cancelsTask)
        for _ in 0..<9 where recorder.steps(outsideTaskOf: "caller") != [:] {
            recorder = try await recorderOfACancelledRequest(cancelsTask: cancelsTask)
        }
        #expect(recorder.steps.isSuperset(of: ["outcome adapter", "outcome"]))
        #expect(recorder.steps(outsideTaskOf: "caller") == [:])
    }

    private func recorderOfACancelledRequest(cancelsTask: Bool) async throws -> ContextRecorder {
        let recorder = ContextRecorder()
        let server = try LoopbackServer()
        defer { server.stop() }
        let signal = LoopbackSignal()
        defer { signal.fire() }
        server.on("/", .after(signal, .text("late")))
        let adapter = ContextRecorder.Adapter(recorder: recorder)
        let client = APIClient(baseURL: server.url) {
            $0.responseInterceptors = [adapter]
            $0.gates = [ContextRecorder.Guard(recorder: recorder, waits: false)]
        }
        let sender = client.data.get("").sender()
        let task = Task(priority: .high) { await Caller.$name.withValue("caller") { await sender.result } }
        await server.waitForRequests(1)
        // The server may receive the request before the caller waits for its end.
        await sender.becomesFree()
        if cancelsTask { task.cancel() } else { sender.cancel() }
        #expect(await task.value.failure?.isCancellation == true)
        await eventually { recorder.steps.isSuperset(of: ["outcome adapter", "outcome"]) }
        return recorder
    }

    /// The first request is cancelled while it satisfies the constraint. Its work must not begin that of the second one.
    @Test func satisfactionRunsInContextOfItsRequest() async {
        struct SignedIn: Constraint {
            let names = Shared<[String]>([])
            let isMet = Shared(false)
            let begun = AsyncSignal()
            let checked = AsyncSignal()
            let end = AsyncSignal()

            func isSatisfied(for request: RequestContext) async -> Bool {
                if request.request.path == "/second" { checked.open() }
                return isMet.read
            }

            func satisfy(for request: RequestContext) async throws {
                names.change { $0.append("\(request.request.path)=/\(Caller.name)") }
                guard request.request.path == "/first" else { return isMet.change { $0 = true } }
                begun.open()
                // Notices the cancellation late.
                await Task.detached { await end.wait() }.value
                try Task.checkCancellation()
            }
        }
        let constraint = SignedIn()
        let client = APIClient(baseURL: "http://shop.test") {
            $0.transport = EngineTransport()
            $0.constraints = [constraint]
        }
        let send = { @Sendable (name: String) in
            await Caller.$name.withValue(name) { await client.data.get(name).sender().result }
        }
        let first = Task { await send("first") }
        await constraint.begun.wait()
        first.cancel()
        #expect(await first.value.failure?.isCancellation == true)
        let second = Task { await send("second") }
        await constraint.checked.wait()
        constraint.end.open()
        #expect(await second.value.failure == nil)
        #expect(constraint.names.read == ["/first=/first", "/second=/second"])
    }
}
