import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

/// The responses of stubs, played as the pipeline plays them.
@Suite struct StubPlayerTests {
    private let clock = TestClock()
    private let request = HTTPRequest(scheme: "http", authority: "shop.test", path: "/users")

    private func send(
        _ stub: Stub,
        _ request: HTTPRequest? = nil,
        _ context: TransferContext = TransferContext()
    ) async throws -> (head: HTTPResponse, text: String) {
        let response = try await StubPlayer(stub, clock: clock).send(request ?? self.request, context: context)
        return (response.head, String(decoding: try await response.body.collect(), as: UTF8.self))
    }

    private func code(of stub: Stub, _ context: TransferContext = TransferContext()) async -> SluiceError.Code? {
        do {
            _ = try await send(stub, nil, context)
            return nil
        } catch {
            return (error as? SluiceError)?.code
        }
    }

    @Test func responseHasTheStatusHeadersAndBodyOfTheStub() async throws {
        let cases: [(Stub, Int, String?, String)] = [
            (.json("{}"), 200, "application/json", "{}"),
            (.json("{}", status: .created, headers: ["Content-Type": "a/b"]), 201, "a/b", "{}"),
            (.json(encoding: ["a": 1]), 200, "application/json", #"{"a":1}"#),
            (.text("hi"), 200, "text/plain; charset=utf-8", "hi"),
            (.data(Data("x".utf8)), 200, "application/octet-stream", "x"),
            (.status(.notFound), 404, nil, ""),
            (.data(Data("x".utf8), status: .noContent), 204, "application/octet-stream", ""),
        ]
        for (stub, status, type, text) in cases {
            let answer = try await send(stub)
            #expect(answer.head.status.rawValue == status)
            #expect(answer.head.headers[.contentType] == type)
            #expect(answer.text == text)
        }
        let location = try await send(.redirect(to: "/new")).head.headers[.location]
        #expect(location == "/new")
    }

    @Test func responseToHEADHasNoBody() async throws {
        var head = request
        head.method = .head
        let answer = try await send(.text("hi", headers: ["Content-Length": "2"]), head)
        #expect(answer.text.isEmpty)
        #expect(answer.head.headers[.contentLength] == "2")
    }

    private static let trailing: [(Stub, HTTPMethod, HTTPHeaders)] = [
        (.text("hi"), .get, ["Digest": "x"]),
        (.text("hi").streamed(by: 1), .get, ["Digest": "x"]),
        (.sequence([.text("hi")]), .get, ["Digest": "x"]),
        (.answering { _ in .text("hi").withTrailers(["Digest": "own"]) }, .get, ["Digest": "own"]),
        (.text("hi"), .head, [:]),
        (.status(.noContent), .get, [:]),
    ]

    @Test func trailersFollowTheBody() async throws {
        for (stub, method, expected) in Self.trailing {
            var request = request
            request.method = method
            let body = try await StubPlayer(stub.withTrailers(["Digest": "x"]), clock: clock)
                .send(request, context: TransferContext()).body
            _ = try await body.collect()
            #expect(body.trailers == expected)
        }
    }

    @Test func fileIsReadForEachRequestAndNamedIfMissing() async throws {
        let file = try TemporaryFile(Data("one".utf8))
        defer { file.remove() }
        let stub = Stub.file(file.url, status: .created)
        let first = try await send(stub)
        #expect(first.text == "one")
        #expect(first.head.status == .created)
        try file.write(Data("two".utf8))
        let second = try await send(stub)
        #expect(second.text == "two")
        let error = await #expect(throws: SluiceError.self) { try await send(.file(URL(filePath: "/no/such.json"))) }
        #expect(error?.code == .stubUnavailable)
        #expect(error?.reason.contains("/no/such.json") == true)
        #expect(error?.request != nil)
    }

    @Test func encodingFailureFailsTheRequest() async {
        let code = await code(of: .json(encoding: [Double.infinity]))
        #expect(code == .stubUnavailable)
    }

    @Test func stubFailsWithAnyErrorCode() async {
        for wanted: SluiceError.Code in [.cannotConnect, .tlsFailed, .init("moonPhase")] {
            let code = await code(of: .failure(wanted))
            #expect(code == wanted)
        }
        let own = await code(of: .error(SluiceError(.idleTimedOut, "Late.")))
        #expect(own == .idleTimedOut)
    }

    @Test(arguments: [
        (Stub.SequenceEnd.repeatLast, ["1", "2", "2", "2"]), (.startAgain, ["1", "2", "1", "2"]),
        (.fail, ["1", "2", "stubExhausted", "stubExhausted"]),
    ])
    func sequenceEndDecidesTheLaterResponses(_ ending: Stub.SequenceEnd, _ expected: [String]) async {
        let stub = Stub.sequence([.text("1"), .text("2")], then: ending)
        var answers: [String] = []
        for _ in expected {
            do { answers.append(try await send(stub).text) } catch {
                answers.append("\((error as? SluiceError)?.code.description ?? "?")")
            }
        }
        #expect(answers == expected)
    }

    @Test func emptySequenceFails() async {
        for ending: Stub.SequenceEnd in [.repeatLast, .startAgain, .fail] {
            let code = await code(of: .sequence([], then: ending))
            #expect(code == .stubExhausted)
        }
    }

    @Test func closureReceivesTheRequestWithItsBodyInMemory() async throws {
        var request = request
        request.method = .post
        request.body = .stream(
            AsyncStream { continuation in
                for text in ["a", "b"] { continuation.yield(Data(text.utf8)) }
                continuation.finish()
            }
        )
        let stub = Stub.answering { request in
            guard case .data(let data) = request.body.source else { return .status(.badRequest) }
            return .data(Data("\(request.method) ".utf8) + data)
        }
        let answer = try await send(stub, request)
        #expect(answer.text == "POST ab")
    }

    @Test func errorOfAClosureFailsTheRequest() async {
        struct Broken: Error {}
        let cases: [(any Error & Sendable, SluiceError.Code)] = [
            (SluiceError(.cannotConnect, "No."), .cannotConnect), (Broken(), .stubUnavailable),
            (CancellationError(), .cancelled),
        ]
        for (error, wanted) in cases {
            let code = await code(of: .answering { _ in throw error })
            #expect(code == wanted)
        }
    }

    @Test func stubWithoutDelayAnswersOnTheCallingThread() {
        let answered = Locked(false)
        let player = StubPlayer(.sequence([.json("{}")]), clock: clock)
        _ = player.begin(request, context: TransferContext()) { _ in answered.withLock { $0 = true } }
        #expect(answered.withLock { $0 })
    }

    @Test func delayUsesTheInjectedClock() async throws {
        let player = StubPlayer(.text("late").delayed(by: .seconds(2)), delay: .seconds(3), clock: clock)
        async let response = player.send(request, context: TransferContext())
        await clock.waitForSleepers(1)
        #expect(clock.pendingSleeps == [.seconds(5)])
        clock.advance(by: .seconds(5))
        let status = try await response.head.status
        #expect(status == .ok)
    }

    @Test func delayBeyondATimeoutFailsAsThatTimeout() async throws {
        let idle = TransferContext(timeouts: Timeouts(idle: .seconds(10)))
        let total = TransferContext(timeouts: Timeouts(total: .seconds(10)))
        for (context, wanted) in [(idle, SluiceError.Code.idleTimedOut), (total, .timedOut)] {
            async let code = code(of: .text("late").delayed(by: .seconds(30)), context)
            await clock.waitForSleepers(1)
            #expect(clock.pendingSleeps == [.seconds(10)])
            clock.advance(by: .seconds(10))
            let failure = await code
            #expect(failure == wanted)
        }
    }

    @Test func bodyOverTheLimitFails() async {
        let code = await code(of: .text("four"), TransferContext(limits: ResponseLimits(body: 3)))
        #expect(code == .bodyTooLarge)
    }

    @Test func bodyOverTheLimitFailsAfterItsHead() async throws {
        let context = TransferContext(limits: ResponseLimits(body: 3))
        let moved = Stub.text("four", status: .found, headers: ["Content-Length": "4"])
        let four = Stub.text("four")
        for stub in [four, four.streamed(by: 2), Stub.answering { _ in four }, moved] {
            let response = try await StubPlayer(stub, clock: clock).send(request, context: context)
            let error = await #expect(throws: SluiceError.self) { try await response.body.collect() }
            #expect(error?.code == .bodyTooLarge)
        }
    }

    @Test func announcedBodyOverTheLimitFailsWithItsHead() async {
        let context = TransferContext(limits: ResponseLimits(body: 3))
        let stub = Stub.text("four", headers: ["Content-Length": "4"])
        let error = await #expect(throws: SluiceError.self) { try await send(stub, nil, context) }
        #expect(error?.code == .bodyTooLarge)
        #expect(error?.response?.status == .ok)
    }

    @Test func failureBeforeSendingCountsNoUpload() async {
        let cases: [(Stub, Int64)] = [
            (.failure(.cannotConnect), 0), (.failure(.tlsFailed).receivingBody(by: 2), 0),
            (.failure(.connectionLost), 5), (.failure(.connectionLost).receivingBody(by: 2), 5),
        ]
        var request = request
        request.method = .put
        request.body = .data(Data(count: 5))
        for (stub, count) in cases {
            let meter = TransferMeter(clock: clock)
            _ = try? await StubPlayer(stub, clock: clock).send(request, context: TransferContext(meter: meter))
            #expect(meter.snapshot(.upload).progress.completed == count)
        }
    }

    @Test func streamedBodyArrivesInDelayedChunksAndIsCounted() async throws {
        let meter = TransferMeter(clock: clock)
        let stub = Stub.text("abcde").streamed(by: 2, every: .seconds(1))
        let response = try await StubPlayer(stub, clock: clock)
            .send(request, context: TransferContext(meter: meter))
        var chunks: [String] = []
        var counted: [Int64] = []
        var iterator = response.body.makeAsyncIterator()
        while let chunk = try await iterator.next() {
            chunks.append(String(decoding: chunk, as: UTF8.self))
            counted.append(meter.snapshot(.download).progress.completed)
            if chunks.count < 3 {
                // Only reading requests the next chunk, so another task advances the clock.
                Task {
                    await clock.waitForSleepers(1)
                    clock.advance(by: .seconds(1))
                }
            }
        }
        #expect(chunks == ["ab", "cd", "e"])
        #expect(counted == [2, 4, 5])
        #expect(meter.snapshot(.download).progress.total == 5)
        #expect(response.body.metrics?.bytesReceived == 5)
    }

    @Test func truncatedBodyFailsAfterItsBytes() async throws {
        let stub = Stub.text("abcde").truncated(after: 3, .connectionLost)
        let response = try await StubPlayer(stub, clock: clock).send(request, context: TransferContext())
        var iterator = response.body.makeAsyncIterator()
        let chunk = try await iterator.next()
        #expect(chunk == Data("abc".utf8))
        let error = await #expect(throws: SluiceError.self) { try await iterator.next() }
        #expect(error?.code == .connectionLost)
    }

    @Test(arguments: [(0, ""), (2, "ab"), (3, "ab")])
    func bodyThatIsNotLongerIsNotTruncated(_ count: Int, _ text: String) async throws {
        let answer = try await send(.text(text).truncated(after: count))
        #expect(answer.text == text)
    }

    @Test func uploadIsReadInDelayedChunksAndCounted() async throws {
        let meter = TransferMeter(clock: clock)
        var request = request
        request.method = .put
        request.body = .data(Data(repeating: 1, count: 5))
        let player = StubPlayer(.status(.ok).receivingBody(by: 2, every: .seconds(1)), clock: clock)
        async let response = player.send(request, context: TransferContext(meter: meter))
        var counted: [Int64] = []
        for _ in 0..<2 {
            await clock.waitForSleepers(1)
            counted.append(meter.snapshot(.upload).progress.completed)
            clock.advance(by: .seconds(1))
        }
        _ = try await response
        counted.append(meter.snapshot(.upload).progress.completed)
        #expect(counted == [2, 4, 5])
    }

    @Test func bodyThatDiffersFromItsLengthFails() async throws {
        for length: Int64 in [1, 3] {
            var request = request
            request.method = .put
            let chunks = AsyncStream<Data> { continuation in
                continuation.yield(Data([1, 2]))
                continuation.finish()
            }
            request.body = .stream(chunks, length: length)
            let error = await #expect(throws: SluiceError.self) { try await send(.status(.ok), request) }
            #expect(error?.code == .bodyLengthMismatch)
        }
    }

    /// The reads of a body that stalls after two bytes.
    private enum StalledRead {
        case unread
        /// The two bytes were read.
        case first
        /// The next bytes, which never come, are read.
        case second
        /// That read was cancelled.
        case cancelled
    }

    /// Creates a body that stalls after two bytes, and its latest read.
    private func stalledBody() -> (body: RequestBody, read: Locked<StalledRead>) {
        let read = Locked(StalledRead.unread)
        let chunks = AsyncStream<Data>(unfolding: {
            let isFirst = read.withLock { read in
                defer { read = read == .unread ? .first : .second }
                return read == .unread
            }
            if isFirst { return Data([1, 2]) }
            do {
                try await Task.sleep(for: .seconds(3600))
            } catch {
                read.withLock { $0 = .cancelled }
            }
            return nil
        })
        return (.stream(chunks, length: nil), read)
    }

    @Test func stalledUploadEndsAtTheTimeouts() async throws {
        let idle = TransferContext(timeouts: Timeouts(idle: .seconds(10), total: .seconds(30)))
        let total = TransferContext(timeouts: Timeouts(idle: .seconds(60), total: .seconds(30)))
        let onlyTotal = TransferContext(timeouts: Timeouts(idle: nil, total: .seconds(30)))
        let cases = [(idle, SluiceError.Code.idleTimedOut, 10), (total, .timedOut, 30), (onlyTotal, .timedOut, 30)]
        for (timeouts, wanted, seconds) in cases {
            let meter = TransferMeter(clock: clock)
            let (body, read) = stalledBody()
            var request = request
            request.method = .put
            request.body = body
            let context = TransferContext(timeouts: timeouts.timeouts, meter: meter)
            let player = StubPlayer(.status(.ok), clock: clock)
            let task = Task { [request] in
                do throws(SluiceError) {
                    _ = try await player.send(request, context: context)
                    return nil as SluiceError.Code?
                } catch {
                    return error.code
                }
            }
            try await waitUntil(within: .seconds(600)) {
                read.withLock { $0 == .second } && meter.snapshot(.upload).progress.completed == 2
                    && clock.pendingSleeps == [.seconds(seconds)]
            }
            clock.advance(by: .seconds(seconds))
            let code = await task.value
            #expect(code == wanted)
            try await waitUntil(within: .seconds(600)) { read.withLock { $0 == .cancelled } }
        }
    }

    @Test func stalledBodyPreparationEndsAtTheTotalTimeout() async {
        var request = request
        request.method = .put
        request.body = .deferred(isReplayable: true) {
            try await Task.sleep(for: .seconds(3600))
            return .data(Data())
        }
        let context = TransferContext(timeouts: Timeouts(idle: .seconds(10), total: .seconds(30)))
        let player = StubPlayer(.status(.ok), clock: clock)
        let answer = Task { [request] in try await player.send(request, context: context) }
        await clock.waitForSleepers(1)
        #expect(clock.pendingSleeps == [.seconds(30)])
        clock.advance(by: .seconds(30))
        let error = await #expect(throws: SluiceError.self) { try await answer.value }
        #expect(error?.code == .timedOut)
    }

    @Test func cancellationEndsAStalledUpload() async throws {
        let (body, read) = stalledBody()
        let meter = TransferMeter(clock: clock)
        var request = request
        request.method = .put
        request.body = body
        let player = StubPlayer(.status(.ok), clock: clock)
        let task = Task { [request] in
            do throws(SluiceError) {
                _ = try await player.send(request, context: TransferContext(meter: meter))
                return nil as SluiceError.Code?
            } catch {
                return error.code
            }
        }
        try await waitUntil(within: .seconds(600)) { read.withLock { $0 == .second } }
        #expect(meter.snapshot(.upload).progress.completed == 2)
        task.cancel()
        let code = await task.value
        #expect(code == .cancelled)
        try await waitUntil(within: .seconds(600)) { read.withLock { $0 == .cancelled } }
    }

    @Test func cancellationEndsADelay() async {
        let player = StubPlayer(.text("late").delayed(by: .seconds(30)), clock: clock)
        let task = Task { [request] in
            do throws(SluiceError) {
                _ = try await player.send(request, context: TransferContext())
                return nil as SluiceError.Code?
            } catch {
                return error.code
            }
        }
        await clock.waitForSleepers(1)
        task.cancel()
        let code = await task.value
        #expect(code == .cancelled)
        #expect(clock.pendingSleeps.isEmpty)
    }
}
