import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A run of one case: the transport, the server, and helpers for the case.
struct ConformanceTrial: Sendable {
    /// A complete response.
    struct Answer: Sendable {
        let head: HTTPResponse
        let body: Data
        let metrics: TransferMetrics?

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    let caseName: String
    let transport: any Transport
    let server: LoopbackServer
    private let waitingFor = Locked("the transport")

    init(caseName: String, transport: any Transport, server: LoopbackServer) {
        self.caseName = caseName
        self.transport = transport
        self.server = server
    }

    func request(
        _ method: HTTPMethod = .get,
        _ path: String = "/",
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none
    ) -> HTTPRequest {
        HTTPRequest(
            method: method,
            scheme: "http",
            authority: server.authority,
            path: path,
            headers: headers,
            body: body
        )
    }

    /// Sends a request and reads the complete response.
    func exchange(
        _ request: HTTPRequest,
        context: TransferContext = TransferContext()
    ) async throws(SluiceError) -> Answer {
        let response = try await transport.send(request, context: context)
        let body = try await response.body.collect()
        return Answer(head: response.head, body: body, metrics: response.body.metrics)
    }

    /// Routes `/` to a response and sends a GET request for it.
    func get(
        _ response: LoopbackResponse,
        context: TransferContext = TransferContext()
    ) async throws(SluiceError) -> Answer {
        server.on("/", response)
        return try await exchange(request(), context: context)
    }

    /// Runs a wait that may never end. If the time limit passes, the failure names `what`.
    func wait<Failure: Error>(
        for what: String,
        _ body: () async throws(Failure) -> Void
    ) async throws(Failure) {
        waitingFor.withLock { $0 = what }
        try await body()
        waitingFor.withLock { $0 = "the transport" }
    }

    func waitForRequest() async {
        await wait(for: "the request to reach the server") { await server.waitForRequests(1) }
    }

    func waitForConnectionsToClose() async {
        await wait(for: "the transport to close the connection") { await server.waitForOpenConnections { $0 == 0 } }
    }

    /// Runs the check. Returns nil if it passes, or else the failure, at the latest after the time limit.
    func verdict(of promise: TransportConformance.Case, within limit: Duration) async -> ConformanceFailure? {
        let verdict = FirstVerdict()
        let check = Task {
            do {
                try await promise.check(self)
                verdict.give(nil)
            } catch let failure as ConformanceFailure {
                verdict.give(failure)
            } catch {
                let text = (error as? SluiceError).map(\.expandedDescription) ?? "\(error)"
                verdict.give(ConformanceFailure(caseName, "Should not have failed, but did: \(text)"))
            }
        }
        // The check itself is not awaited, so a transport that ignores cancellation cannot hang the tests.
        let watch = Task {
            try await Task.sleep(for: limit)
            let what = waitingFor.withLock { $0 }
            verdict.give(ConformanceFailure(caseName, "Still waiting for \(what) after \(limit)."))
        }
        defer {
            watch.cancel()
            check.cancel()
        }
        return await withTaskCancellationHandler {
            await verdict.value
        } onCancel: {
            verdict.give(ConformanceFailure(caseName, "The run was cancelled."))
        }
    }
}
