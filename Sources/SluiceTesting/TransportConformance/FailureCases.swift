import SluiceFoundation
import SluiceHTTP

extension TransportConformance {
    /// Cases for servers that are unreachable, disconnect, or send invalid responses.
    static let failureCases: [Case] = [
        Case("A refused connection fails with cannotConnect") { trial in
            let other = try LoopbackServer()
            other.stop()
            var request = trial.request()
            request.authority = other.authority
            try await trial.expectFailure(.cannotConnect) { [request] in _ = try await trial.exchange(request) }
        },
        Case("A name that does not resolve fails with cannotResolveHost") { trial in
            var request = trial.request()
            request.authority = "does-not-exist.invalid"
            let context = TransferContext(timeouts: Timeouts(connect: nil))
            try await trial.expectFailure(.cannotResolveHost) { [request] in
                _ = try await trial.exchange(request, context: context)
            }
        },
        failing("A connection closed without a response", with: .connectionLost, .drop),
        failing("A connection reset without a response", with: .connectionLost, .reset),
        failing(
            "A connection closed within the head",
            with: .connectionLost,
            .raw("HTTP/1.1 200 OK\r\nContent-Le", thenClose: true)
        ),
        failing(
            "A connection reset within the body",
            with: .connectionLost,
            .script(.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"), .pause(.milliseconds(20)), .reset)
        ),
        failing("A body shorter than announced", with: .truncatedBody, .truncated(Data("abc".utf8), announced: 10)),
        failing(
            "A chunked body without its last chunk",
            with: .truncatedBody,
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", thenClose: true)
        ),
        failing(
            "A chunk shorter than announced",
            with: .truncatedBody,
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc", thenClose: true)
        ),
        failing(
            "A line that is not a status line",
            with: .invalidResponse,
            .raw("HELLO WORLD\r\n\r\n", thenClose: true)
        ),
        failing(
            "A status that is not a number",
            with: .invalidResponse,
            .raw("HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n", thenClose: true)
        ),
        failing(
            "A Content-Length that is not a number",
            with: .invalidResponse,
            .raw("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nabc", thenClose: true)
        ),
        failing(
            "A chunk size that is not a number",
            with: .invalidResponse,
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n", thenClose: true)
        ),
        Case("The part of a body that arrives before a failure can be read") { trial in
            let signal = LoopbackSignal()
            trial.server.on(
                "/",
                .script(.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .wait(for: signal), .close)
            )
            try await trial.expectFailure(.truncatedBody) {
                let response = try await trial.transport.send(trial.request(), context: TransferContext())
                var iterator = response.body.makeAsyncIterator()
                let first = try await iterator.next()
                try trial.expectEqual(first, Data("abc".utf8), "The first chunk")
                signal.fire()
                while try await iterator.next() != nil {}
            }
        },
    ]

    private static func failing(
        _ name: String,
        with code: SluiceError.Code,
        _ response: LoopbackResponse
    ) -> Case {
        Case("\(name) fails with \(code)") { trial in
            try await trial.expectFailure(code) { _ = try await trial.get(response) }
        }
    }
}

// MARK: - Limits

extension TransportConformance {
    /// Cases for limits on the size of a response.
    static let limitCases: [Case] = [
        Case("A head over the limit fails with headersTooLarge") { trial in
            for headers in [bulky(fields: 1, of: 5000), bulky(fields: 100, of: 50)] {
                try await trial.expectFailure(.headersTooLarge) {
                    let context = TransferContext(limits: ResponseLimits(headers: 4096))
                    _ = try await trial.get(.text("", headers: headers), context: context)
                }
            }
        },
        Case("A head that never ends fails with headersTooLarge") { trial in
            let line = Data("X-More: \(String(repeating: "x", count: 1000))\r\n".utf8)
            let head = Data("HTTP/1.1 200 OK\r\n".utf8) + (0..<1000).reduce(into: Data()) { data, _ in data += line }
            try await trial.expectFailure(.headersTooLarge) {
                _ = try await trial.get(.script(.write(head), .hang))
            }
        },
        Case("A head under the limit arrives") { trial in
            let headers = bulky(fields: 20, of: 1000)
            let answer = try await trial.get(.text("ok", headers: headers))
            try trial.expectEqual(answer.head.headers.values(for: "X-Bulk").count, 20, "The number of headers")
        },
        Case("A body over the limit fails with bodyTooLarge, announced or not") { trial in
            let context = TransferContext(limits: ResponseLimits(body: 1000))
            for response in [
                LoopbackResponse.data(.pattern(1001)), .chunked([.pattern(500), .pattern(501)]),
                .untilClose(.pattern(1001)), .partial(.pattern(10), announced: 1_000_000),
                .endless(chunk: .pattern(100)),
            ] {
                try await trial.expectFailure(.bodyTooLarge) {
                    _ = try await trial.get(response, context: context)
                }
                await trial.wait(for: "the transport to close the connection of the body over the limit") {
                    await trial.server.waitForOpenConnections { $0 == 0 }
                }
            }
        },
        Case("A body at the limit arrives") { trial in
            let context = TransferContext(limits: ResponseLimits(body: 1000))
            for response in [LoopbackResponse.data(.pattern(1000)), .chunked([.pattern(500), .pattern(500)])] {
                let answer = try await trial.get(response, context: context)
                try trial.expectEqual(answer.body.count, 1000, "The body's length")
            }
        },
        Case("The limit on bodies does not apply to HEAD") { trial in
            trial.server.on("/", .data(.pattern(2000)))
            let context = TransferContext(limits: ResponseLimits(body: 1000))
            let answer = try await trial.exchange(trial.request(.head), context: context)
            try trial.expectEqual(answer.head.headers[.contentLength], "2000", "The Content-Length")
        },
    ]

    private static func bulky(fields: Int, of length: Int) -> HTTPHeaders {
        HTTPHeaders((0..<fields).map { _ in ("X-Bulk", String(repeating: "x", count: length)) })
    }
}

// MARK: - Connection cases

extension TransportConformance {
    /// Cases for connections and concurrent requests.
    static let connectionCases: [Case] = [
        Case("A request does not wait for the response to an earlier one") { trial in
            trial.server.on("/", .hang)
            let tasks = (0..<20).map { _ in Task { try await trial.exchange(trial.request()) } }
            await trial.wait(for: "twenty requests to reach the server") { await trial.server.waitForRequests(20) }
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.result }
        },
        Case("Sequential requests use one connection") { trial in
            trial.server.on("/", .text("a"), .chunked([Data("b".utf8)]), .status(.noContent), .text("c", status: 500))
            for _ in 0..<10 { _ = try await trial.exchange(trial.request(.post, body: .data(.pattern(100)))) }
            try trial.expectEqual(trial.server.connections, 1, "The number of connections")
        },
        Case("A connection that closes after its response is not used again") { trial in
            for _ in 0..<5 {
                let answer = try await trial.get(.text("ok").closingConnection())
                try trial.expectEqual(answer.text, "ok", "The response")
            }
            try trial.expectEqual(trial.server.connections, 5, "The number of connections")
        },
        Case("A connection that the server closed while it was idle is replaced") { trial in
            for _ in 0..<5 {
                let answer = try await trial.get(
                    .raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", thenClose: true)
                )
                try trial.expectEqual(answer.text, "ok", "The response")
                await trial.waitForConnectionsToClose()
            }
        },
        Case("Two hundred concurrent requests each get their own response") { trial in
            trial.server.on("*") { .text($0.target) }
            try await trial.exchangeAtOnce(200) { index in
                let path = "/\(index)?x=\(index)"
                let answer = try await trial.exchange(trial.request(.get, path))
                try trial.expectEqual(answer.text, path, "The response")
            }
            try trial.expectEqual(trial.server.requestCount, 200, "The number of requests")
        },
        Case("Fifty concurrent bodies each come back unchanged") { trial in
            trial.server.on("*") { .data($0.body) }
            try await trial.exchangeAtOnce(50) { index in
                let data = Data.pattern(10_000 + index)
                let stream = RequestBody.stream(ScriptedChunks(chunks: [data.prefix(5000), data.dropFirst(5000)]))
                let body = index.isMultiple(of: 2) ? RequestBody.data(data) : stream
                let answer = try await trial.exchange(trial.request(.post, "/\(index)", body: body))
                try trial.expect(answer.body == data, "The body differs from the one that was sent.")
            }
        },
        Case("Failed requests do not affect concurrent ones") { trial in
            trial.server.on("/good", .text("good"))
            trial.server.on("/drop", .drop)
            trial.server.on("/reset", .reset)
            trial.server.on("/garbage", .raw("garbage\r\n\r\n", thenClose: true))
            let paths = ["/good", "/drop", "/good", "/reset", "/good", "/garbage"]
            try await trial.exchangeAtOnce(60) { index in
                let path = paths[index % paths.count]
                do {
                    let answer = try await trial.exchange(trial.request(.get, path))
                    try trial.expectEqual(answer.text, "good", "The response to \(path)")
                } catch let error as SluiceError {
                    try trial.expect(path != "/good", "A good request failed: \(error.expandedDescription)")
                }
            }
        },
    ]
}

extension ConformanceTrial {
    fileprivate func exchangeAtOnce(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count { group.addTask { try await body(index) } }
            try await group.waitForAll()
        }
    }
}
