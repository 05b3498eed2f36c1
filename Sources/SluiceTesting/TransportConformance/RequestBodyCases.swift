import SluiceFoundation
import SluiceHTTP

extension TransportConformance {
    /// Cases for request bodies that arrive.
    static let requestBodyCases: [Case] = [
        Case("A POST without a body is a complete request") { trial in
            trial.server.on("/", .text("ok"))
            for body in [RequestBody.none, .data(Data())] {
                let answer = try await trial.exchange(trial.request(.post, body: body))
                try trial.expectEqual(answer.text, "ok", "The response")
            }
            try trial.expectEqual(trial.server.requests.map(\.body.count), [0, 0], "The bodies' lengths")
            let announced = trial.server.requests.last?.headers[.contentLength]
            try trial.expectEqual(announced, "0", "The Content-Length of an empty body")
        },
        Case("A body in memory arrives with its length") { trial in
            try await trial.expectArrival(of: .data(.pattern(1000)), as: .pattern(1000), isChunked: false)
        },
        Case("A body of 5 MB in memory arrives complete") { trial in
            try await trial.expectArrival(of: .data(.pattern(5_000_000)), as: .pattern(5_000_000), isChunked: false)
        },
        Case("A body can be sent with any method") { trial in
            trial.server.on("/") { .data($0.body) }
            for method: HTTPMethod in [.get, .put, .patch, .delete, .options, "REPORT"] {
                let answer = try await trial.exchange(trial.request(method, body: .data(.pattern(100))))
                try trial.expectEqual(answer.body, .pattern(100), "The body of a \(method)")
            }
        },
        Case("A file arrives complete") { trial in
            let data = Data.pattern(1_000_000)
            let file = try TemporaryFile(data)
            defer { file.remove() }
            try await trial.expectArrival(of: .file(file.url), as: data, isChunked: false)
        },
        Case("An empty file is an empty body") { trial in
            let file = try TemporaryFile(Data())
            defer { file.remove() }
            try await trial.expectArrival(of: .file(file.url), as: Data(), isChunked: false)
        },
        Case("A stream with a length arrives with that length") { trial in
            let chunks = ScriptedChunks(chunks: [.pattern(10), .pattern(100_000), .pattern(1)])
            let body = RequestBody.stream(chunks, length: 100_011)
            try await trial.expectArrival(of: body, as: chunks.chunks.reduce(Data(), +), isChunked: false)
        },
        Case("A stream without a length arrives chunked") { trial in
            let chunks = ScriptedChunks(chunks: [.pattern(10), .pattern(300_000), .pattern(1)])
            try await trial.expectArrival(of: .stream(chunks), as: chunks.chunks.reduce(Data(), +), isChunked: true)
        },
        Case("Empty chunks of a stream do not end it") { trial in
            let chunks = ScriptedChunks(chunks: [Data(), .pattern(10), Data(), Data(), .pattern(20), Data()])
            let whole = chunks.chunks.reduce(Data(), +)
            try await trial.expectArrival(of: .stream(chunks), as: whole, isChunked: true)
            try await trial.expectArrival(of: .stream(chunks, length: 30), as: whole, isChunked: false)
        },
        Case("A stream without chunks is an empty body") { trial in
            trial.server.on("/", .text("ok"))
            let answer = try await trial.exchange(trial.request(.put, body: .stream(ScriptedChunks(chunks: []))))
            try trial.expectEqual(answer.text, "ok", "The response")
            try trial.expectEqual(trial.server.requests.map(\.body.count), [0], "The body's length")
        },
    ]
}

extension ConformanceTrial {
    func expectArrival(of body: RequestBody, as data: Data, isChunked: Bool) async throws {
        server.on("/", .text("ok"))
        let answer = try await exchange(request(.put, body: body))
        try expectEqual(answer.text, "ok", "The response")
        let seen = server.requests.last
        try expectEqual(seen?.body.count, data.count, "The length of the received body")
        try expect(seen?.body == data, "The received body has the right length but different bytes.")
        try expectEqual(seen?.headers[.contentLength], isChunked ? nil : "\(data.count)", "The Content-Length")
        try expectEqual(seen?.headers[.transferEncoding], isChunked ? "chunked" : nil, "The Transfer-Encoding")
    }
}

// MARK: - Bodies that cannot be sent

extension TransportConformance {
    /// Cases for request bodies that cannot be sent.
    static var brokenRequestBodyCases: [Case] {
        #if os(Linux)
        portableBrokenRequestBodyCases + [
            Case("A file of /proc, which has contents but no length, fails with bodyUnavailable") { trial in
                let url = URL(filePath: "/proc/self/status")
                try await trial.expectBodyFailure(.bodyUnavailable, .file(url))
            }
        ]
        #else
        portableBrokenRequestBodyCases
        #endif
    }

    private static let portableBrokenRequestBodyCases: [Case] = [
        Case("A missing file fails with bodyUnavailable before anything is sent") { trial in
            let url = FileManager.default.temporaryDirectory.appending(path: "sluice-missing-\(UUID().uuidString)")
            try await trial.expectBodyFailure(.bodyUnavailable, .file(url))
            // The server has processed everything sent before the check that the transport still works.
            try trial.expectEqual(trial.server.log.counts.heads, 1, "The number of heads that reached the server")
        },
        Case("A directory in place of a file fails with bodyUnavailable") { trial in
            try await trial.expectBodyFailure(.bodyUnavailable, .file(FileManager.default.temporaryDirectory))
        },
        Case("A stream that throws fails with bodyUnavailable and its error, and closes the connection") { trial in
            for length in [nil, Int64(1_000_000)] {
                let chunks = ScriptedChunks(chunks: [.pattern(1000)], end: .fail)
                let error = try await trial.expectBodyFailure(.bodyUnavailable, .stream(chunks, length: length))
                try trial.expect(
                    error.underlyingError is ScriptedChunks.Broken,
                    "The underlying error should be the stream's error, but is \(String(describing: error.underlyingError))."
                )
            }
        },
        Case("A stream that throws at once fails with bodyUnavailable") { trial in
            try await trial.expectBodyFailure(.bodyUnavailable, .stream(ScriptedChunks(chunks: [], end: .fail)))
        },
        Case("A stream shorter than announced fails with bodyLengthMismatch and closes the connection") { trial in
            let chunks = ScriptedChunks(chunks: [.pattern(1000)])
            try await trial.expectBodyFailure(.bodyLengthMismatch, .stream(chunks, length: 1001))
            try await trial.expectBodyFailure(.bodyLengthMismatch, .stream(ScriptedChunks(chunks: []), length: 1))
        },
        Case("A stream longer than announced fails with bodyLengthMismatch") { trial in
            for chunks in [[Data.pattern(1001)], [.pattern(1000), .pattern(1)]] {
                let body = RequestBody.stream(ScriptedChunks(chunks: chunks), length: 1000)
                // The server may have received a complete request, which this case does not check.
                trial.server.on("/", .text("never to be seen"))
                try await trial.expectFailure(.bodyLengthMismatch) {
                    _ = try await trial.exchange(trial.request(.put, body: body))
                }
            }
        },
    ]
}

extension ConformanceTrial {
    /// Expects that a PUT fails, and that the server never treats the incomplete body as complete.
    @discardableResult
    fileprivate func expectBodyFailure(_ code: SluiceError.Code, _ body: RequestBody) async throws -> SluiceError {
        server.on("/broken", .text("taken for whole"))
        let error = try await expectFailure(code) {
            _ = try await exchange(request(.put, "/broken", body: body))
        }
        await wait(for: "the transport to close the connection with the incomplete request") {
            await server.waitForOpenConnections { $0 == 0 }
        }
        try expectEqual(server.requests(to: "/broken").count, 0, "The number of complete bodies")
        return error
    }
}

// MARK: - Bodies that are created first

extension TransportConformance {
    /// Cases for request bodies that are created just before they are sent.
    static let preparedBodyCases: [Case] = [
        Case("A deferred body arrives with its length") { trial in
            let file = try TemporaryFile(.pattern(300_000))
            defer { file.remove() }
            let chunks = ScriptedChunks(chunks: [.pattern(300_000)])
            for made in [RequestBody.data(.pattern(300_000)), .file(file.url), .stream(chunks, length: 300_000)] {
                let body = RequestBody.deferred(isReplayable: false) { made }
                try await trial.expectArrival(of: body, as: .pattern(300_000), isChunked: false)
            }
        },
        Case("A deferred body without a length arrives chunked") { trial in
            let body = RequestBody.deferred(isReplayable: false) { .stream(ScriptedChunks(chunks: [.pattern(1000)])) }
            try await trial.expectArrival(of: body, as: .pattern(1000), isChunked: true)
        },
        Case("A deferred body that cannot be created fails with bodyUnavailable before anything is sent") { trial in
            let error = try await trial.expectNothingSent(.bodyUnavailable) {
                _ = try await trial.exchange(trial.unsent { throw ScriptedChunks.Broken() })
            }
            let cause = error.underlyingError
            try trial.expect(
                cause is ScriptedChunks.Broken,
                "The underlying error should be the thrown error, but is \(String(describing: cause))."
            )
        },
        Case("A deferred body that throws a SluiceError fails with that error") { trial in
            try await trial.expectNothingSent(.bodyLengthMismatch) {
                _ = try await trial.exchange(trial.unsent { throw SluiceError(.bodyLengthMismatch, "Not that long.") })
            }
        },
        Case("A task cancelled while its body is created fails with cancelled and sends nothing") { trial in
            try await trial.expectNothingSent(.cancelled) {
                let (moments, moment) = AsyncStream<Void>.makeStream()
                let task = Task {
                    defer { moment.yield() }
                    let request = trial.unsent {
                        moment.yield()
                        return try await trial.never()
                    }
                    _ = try await trial.exchange(request)
                }
                await trial.wait(for: "the transport to ask for the body") { for await _ in moments { break } }
                task.cancel()
                try await task.value
            }
        },
        Case("A deferred body that is not created within the total time fails with timedOut and sends nothing") {
            trial in
            let context = TransferContext(timeouts: Timeouts(total: .milliseconds(250)))
            let start = ContinuousClock.now
            try await trial.expectNothingSent(.timedOut) {
                _ = try await trial.exchange(trial.unsent { try await trial.never() }, context: context)
            }
            let took = ContinuousClock.now - start
            try trial.expect(took >= .milliseconds(240), "The time-out of 250 ms came too early, after \(took).")
            try trial.expect(took < .seconds(5), "The time-out of 250 ms came too late, after \(took).")
        },
        Case("The time in which a deferred body is created is part of the total time") { trial in
            trial.server.on("/", .hang)
            let context = TransferContext(timeouts: Timeouts(total: .seconds(6)))
            let start = ContinuousClock.now
            try await trial.expectFailure(.timedOut) {
                let body = RequestBody.deferred(isReplayable: false) {
                    try await Task.sleep(for: .seconds(5))
                    return .data(.pattern(10))
                }
                _ = try await trial.exchange(trial.request(.put, body: body), context: context)
            }
            let took = ContinuousClock.now - start
            try trial.expect(took >= .milliseconds(5900), "The time-out of 6 s came too early, after \(took).")
            try trial.expect(took < .seconds(11), "The time-out of 6 s came too late, after \(took).")
        },
    ]
}

extension ConformanceTrial {
    fileprivate func unsent(_ prepare: @escaping RequestBody.Preparation) -> HTTPRequest {
        request(.put, "/unsent", body: .deferred(isReplayable: false, prepare))
    }

    fileprivate func never() async throws -> RequestBody {
        try await Task.sleep(for: .seconds(3600))
        return .none
    }

    @discardableResult
    fileprivate func expectNothingSent(
        _ code: SluiceError.Code,
        _ body: () async throws -> Void
    ) async throws -> SluiceError {
        let error = try await expectFailure(code, body)
        // The server has processed everything sent before the check that the transport still works.
        try expectEqual(server.log.counts.heads, 1, "The number of heads that reached the server")
        return error
    }
}
