import SluiceFoundation
import SluiceHTTP

extension TransportConformance {
    /// Cases for response bodies with every kind of framing.
    static let responseBodyCases: [Case] = [
        Case("A body of no bytes is empty") { trial in
            try trial.expectEqual(try await trial.get(.data(Data())).body.count, 0, "The body's length")
            try trial.expectEqual(try await trial.get(.chunked([])).body.count, 0, "The chunked body's length")
            try trial.expectEqual(
                try await trial.get(.untilClose(Data())).body.count,
                0,
                "The length of the body until the close"
            )
            try trial.expectEqual(trial.server.requestCount, 3, "The number of requests")
        },
        Case("204 and 304 have no body, and the connection is reused") { trial in
            let unmodified = LoopbackResponse.status(.notModified, headers: [.contentLength: "100"])
            for response in [.status(.noContent), unmodified, .text("after")] {
                _ = try await trial.get(response)
            }
            try trial.expectEqual(trial.server.connections, 1, "The number of connections")
        },
        Case("A body with a length arrives complete") { trial in
            let answer = try await trial.get(.data(.pattern(300_000)))
            try trial.expect(answer.body == .pattern(300_000), "The body differs from the one that was sent.")
        },
        Case("A chunked body arrives complete") { trial in
            let chunks = [Data.pattern(1), .pattern(70_000), .pattern(15), .pattern(16)]
            let answer = try await trial.get(.chunked(chunks))
            try trial.expect(answer.body == chunks.reduce(Data(), +), "The body differs from the one that was sent.")
        },
        Case("A body that ends with the connection arrives complete") { trial in
            let answer = try await trial.get(.untilClose(.pattern(300_000)))
            try trial.expect(answer.body == .pattern(300_000), "The body differs from the one that was sent.")
            try await trial.expectTransportWorks()
        },
        Case("A body in many small pieces arrives complete") { trial in
            let answer = try await trial.get(.data(.pattern(10_000)).throttled(pieceSize: 200, every: .milliseconds(1)))
            try trial.expect(answer.body == .pattern(10_000), "The body differs from the one that was sent.")
        },
        Case("A body of zero bytes and line ends arrives unchanged") { trial in
            let data = Data([0, 13, 10, 13, 10, 0, 10, 255, 254, 26])
            try trial.expectEqual(Array(try await trial.get(.data(data)).body), Array(data), "The body")
        },
        Case("The head is returned before the body arrives") { trial in
            let signal = LoopbackSignal()
            trial.server.on(
                "/",
                .script(.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"), .wait(for: signal), .write("body"))
            )
            let response = try await trial.transport.send(trial.request(), context: TransferContext())
            try trial.expectEqual(response.head.headers[.contentLength], "4", "The Content-Length")
            signal.fire()
            try trial.expectEqual(try await response.body.collect(), Data("body".utf8), "The body")
        },
        Case("A chunk is delivered before the next one arrives") { trial in
            let signals = [LoopbackSignal(), LoopbackSignal()]
            trial.server.on(
                "/",
                .script(
                    .write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nab"),
                    .wait(for: signals[0]),
                    .write("cd"),
                    .wait(for: signals[1]),
                    .write("ef")
                )
            )
            let response = try await trial.transport.send(trial.request(), context: TransferContext())
            var iterator = response.body.makeAsyncIterator()
            var chunks: [String] = []
            try await trial.wait(for: "a chunk that has been sent") {
                while let chunk = try await iterator.next() {
                    chunks.append(String(decoding: chunk, as: UTF8.self))
                    if chunks.count <= signals.count { signals[chunks.count - 1].fire() }
                }
            }
            try trial.expectEqual(chunks, ["ab", "cd", "ef"], "The chunks")
        },
        Case("A body longer than announced is cut off, and the rest is not read as a response") { trial in
            let rest = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled"
            let answer = try await trial.get(.overlong(Data("abc\(rest)".utf8), announced: 3))
            try trial.expectEqual(answer.text, "abc", "The body")
            try await trial.expectTransportWorks()
        },
    ]
}

// MARK: - Back-pressure

extension TransportConformance {
    /// Cases for bodies that are large, not read, or dropped.
    static let backPressureCases: [Case] = [
        Case("A body of 20 MB arrives complete, chunk by chunk") { trial in
            let data = Data.pattern(20_000_000)
            trial.server.on("/", .data(data))
            let response = try await trial.transport.send(trial.request(), context: TransferContext())
            var count = 0
            for try await chunk in response.body {
                try trial.expect(!chunk.isEmpty, "A chunk is empty.")
                let isNext = count + chunk.count <= data.count && data[count..<count + chunk.count] == chunk
                try trial.expect(isNext, "The chunk at \(count) differs from the one that was sent.")
                count += chunk.count
            }
            try trial.expectEqual(count, data.count, "The body's length")
        },
        Case("A body that is not read pauses the server, and a dropped body closes the connection") { trial in
            try await trial.readThreeChunksOfAnEndlessBody { response in
                try await trial.expectStall()
                _ = response
            }
            await trial.waitForConnectionsToClose()
        },
        Case("A paused body continues when it is read") { trial in
            trial.server.on("/", .data(.pattern(20_000_000)))
            let response = try await trial.transport.send(trial.request(), context: TransferContext())
            try await trial.expectStall()
            let body = try await response.body.collect()
            try trial.expect(body == .pattern(20_000_000), "The body differs from the one that was sent.")
        },
        Case("A body that is not read does not block other transfers") { trial in
            trial.server.on("/", .endless(chunk: .pattern(65_536)))
            let response = try await trial.transport.send(trial.request(), context: TransferContext())
            try await trial.expectStall()
            for _ in 0..<10 { try await trial.expectTransportWorks() }
            _ = response
        },
        Case("A response that is dropped unread closes its connection") { trial in
            for response in [.endless(chunk: .pattern(65_536)), LoopbackResponse.partial(.pattern(10), announced: 20)] {
                trial.server.on("/", response)
                _ = try await trial.transport.send(trial.request(), context: TransferContext())
                await trial.waitForConnectionsToClose()
            }
            try await trial.expectTransportWorks()
        },
    ]
}

extension ConformanceTrial {
    fileprivate func readThreeChunksOfAnEndlessBody(_ body: (TransportResponse) async throws -> Void) async throws {
        server.on("/", .endless(chunk: .pattern(65_536)))
        let response = try await transport.send(request(), context: TransferContext())
        var iterator = response.body.makeAsyncIterator()
        for _ in 0..<3 { try expect(try await iterator.next() != nil, "An endless body ended.") }
        try await body(response)
    }

    /// Expects that the server cannot send more than the buffers of the system and the transport hold.
    fileprivate func expectStall() async throws(ConformanceFailure) {
        let bound: Int64 = 64 << 20
        await wait(for: "the server to pause") {
            await server.log.wait { $0.stalled == 1 || $0.bytesSent > bound }
        }
        let counts = server.log.counts
        try expect(counts.bytesSent <= bound, "The transport accepted \(counts.bytesSent) bytes that were not read.")
    }
}
