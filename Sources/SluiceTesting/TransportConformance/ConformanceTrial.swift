import SluiceFoundation
import SluiceHTTP

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
        body: RequestBody = .none
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

    /// Runs a wait that may never end. If the time limit passes, the failure names `description`.
    func wait<Failure: Error>(
        for description: String,
        _ body: () async throws(Failure) -> Void
    ) async throws(Failure) {
        waitingFor.withLock { $0 = description }
        try await body()
        waitingFor.withLock { $0 = "the transport" }
    }

    func waitForConnectionsToClose() async {
        await wait(for: "the transport to close the connection") { await server.waitForOpenConnections { $0 == 0 } }
    }

    /// Runs the check. Returns nil if it passes, or else the failure, at the latest after the time limit.
    func verdict(of conformanceCase: TransportConformance.Case, within limit: Duration) async -> ConformanceFailure? {
        do throws(SluiceError) {
            // The check is not waited for after the limit, so a transport that ignores cancellation cannot hang the tests.
            return try await TimedWork.outcome(within: limit) {
                () async throws(SluiceError) -> ConformanceFailure? in
                do {
                    try await conformanceCase.check(self)
                    return nil
                } catch let failure as ConformanceFailure {
                    return failure
                } catch {
                    let text = (error as? SluiceError).map(\.expandedDescription) ?? "\(error)"
                    return ConformanceFailure(caseName, "Expected no error, but caught: \(text)")
                }
            }
        } catch {
            guard error.code != .cancelled else { return ConformanceFailure(caseName, "The run was cancelled.") }
            let description = waitingFor.withLock { $0 }
            return ConformanceFailure(caseName, "Still waiting for \(description) after \(limit).")
        }
    }
}

// MARK: - Expectations

extension ConformanceTrial {
    func expect(_ condition: Bool, _ reason: @autoclosure () -> String) throws(ConformanceFailure) {
        if !condition { throw ConformanceFailure(caseName, reason()) }
    }

    func expectEqual<Value: Equatable>(
        _ value: Value,
        _ expected: Value,
        _ description: String
    ) throws(ConformanceFailure) {
        try expect(value == expected, "\(description) should be \(brief(expected)), but is \(brief(value)).")
    }

    /// Expects a `SluiceError` with the given code, and that the transport still works afterwards.
    @discardableResult
    func expectFailure(
        _ code: SluiceError.Code,
        _ body: () async throws -> Void
    ) async throws -> SluiceError {
        do {
            try await body()
        } catch let error as SluiceError {
            try expectEqual(error.code, code, "The error's code (\(error))")
            try expectEqual(error.step, .transport, "The error's step")
            try await expectTransportWorks()
            return error
        } catch let failure as ConformanceFailure {
            throw failure
        } catch {
            throw ConformanceFailure(caseName, "Expected a SluiceError with the code \(code), but caught \(error).")
        }
        throw ConformanceFailure(caseName, "Expected a SluiceError with the code \(code), but no error was thrown.")
    }

    /// Expects an answer to a simple request for another path, after which its connection closes.
    func expectTransportWorks() async throws {
        let path = "/still-works"
        server.on(.get, path, .text("yes").closingConnection())
        let answer: Answer
        do throws(SluiceError) {
            answer = try await exchange(request(.get, path))
        } catch {
            throw ConformanceFailure(
                caseName,
                "The transport does not work after the error: \(error.expandedDescription)"
            )
        }
        try expectEqual(answer.text, "yes", "The response to a request after the error")
    }

    /// Returns a description of at most 300 characters, because a value can be megabytes long.
    private func brief<Value>(_ value: Value) -> String {
        let text = (value as? String).map { "“\($0)”" } ?? "\(value)"
        return text.count > 300 ? "\(text.prefix(300))…" : text
    }
}

// MARK: - Bodies

extension Data {
    /// Returns bytes in which a lost, duplicated or moved chunk is detectable.
    static func pattern(_ count: Int) -> Data {
        var state: UInt32 = 1
        let noise = (0..<64 << 10).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
        var data = Data(capacity: count)
        while data.count < count {
            // Each block begins with its offset.
            Swift.withUnsafeBytes(of: data.count) { data.append(contentsOf: $0.prefix(count - data.count)) }
            data.append(contentsOf: noise.prefix(count - data.count))
        }
        return data
    }
}

/// A request body that produces chunks and then ends, throws, or waits to be cancelled.
struct ScriptedChunks: AsyncSequence, Sendable {
    enum End: Sendable {
        case finish
        case fail
        /// Calls `reached` after all chunks have been consumed, then waits without producing another chunk.
        case hang(reached: @Sendable () -> Void)
    }

    struct Broken: Error {}

    let chunks: [Data]
    var end = End.finish

    func makeAsyncIterator() -> Iterator {
        Iterator(chunks: chunks[...], end: end)
    }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: ArraySlice<Data>
        let end: End

        mutating func next() async throws -> Data? {
            if let chunk = chunks.popFirst() { return chunk }
            switch end {
            case .finish: return nil
            case .fail: throw Broken()
            case .hang(let reached):
                reached()
                try await Task.sleep(for: .seconds(3600))
                return nil
            }
        }
    }
}
