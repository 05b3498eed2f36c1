import SluiceFoundation
import SluiceHTTP

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
