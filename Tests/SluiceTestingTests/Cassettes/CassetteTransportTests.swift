import Foundation
import Sluice
import SluiceHTTP
import Testing

@testable import SluiceTesting

/// Recording and playback. A stub transport replaces the network.
@Suite struct CassetteTransportTests {
    private let file = FileManager.default.temporaryDirectory
        .appending(path: "sluice-\(UUID().uuidString)")
        .appending(path: "cassette.json")
    private let network = StubTransport()

    private func send(
        _ transport: some Transport,
        _ path: String,
        headers: HTTPHeaders = [:],
        body: RequestBody = .none,
        context: TransferContext = TransferContext()
    ) async throws -> String {
        let method: HTTPMethod = body.isNone ? .get : .post
        let request = HTTPRequest(
            method: method,
            scheme: "http",
            authority: "shop.test",
            path: path,
            headers: headers,
            body: body
        )
        let response = try await transport.send(request, context: context)
        return String(decoding: try await response.body.collect(), as: UTF8.self)
    }

    private func cassette(
        _ mode: CassetteTransport.Mode = .once,
        matching: [CassetteCriterion] = [.method, .url],
        repeatsLast: Bool = false
    ) -> CassetteTransport {
        CassetteTransport(recording: network, to: file, mode: mode, matching: matching, repeatsLast: repeatsLast)
    }

    private func tearDown() { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }

    @Test func recordsTrailersRedactedAndReplaysThem() async throws {
        defer { tearDown() }
        network.on(.get("/a"), .text("1").withTrailers(["Digest": "x", "Set-Cookie": "id=1"]))
        let request = HTTPRequest(scheme: "http", authority: "shop.test", path: "/a")
        let recorded = try await cassette().send(request, context: TransferContext())
        #expect(recorded.body.trailers == ["Digest": "x", "Set-Cookie": "id=1"])
        let played = try await cassette().send(request, context: TransferContext())
        #expect(played.body.trailers == ["Digest": "x", "Set-Cookie": "REDACTED"])
    }

    #if os(Linux)
    /// The client needs only the head of a redirect that it follows, but the recording needs the text of the body.
    @Test func recordsTheDecodedBodyOfAFollowedRedirect() async throws {
        defer { tearDown() }
        let server = try LoopbackServer()
        let moved = try Data("moved".utf8).gzip
        let headers: HTTPHeaders = [.location: "/end", .contentEncoding: "gzip"]
        server.on("/old", .data(moved, contentType: "text/plain", status: .found, headers: headers))
        server.on("/end", .text("end"))
        for isPassedThrough in [false, true] {
            let stubs = StubTransport()
            let recording = CassetteTransport(recording: SocketTransport(), to: file, mode: .always, redaction: .none)
            stubs.passThrough(.any, to: recording)
            let client = APIClient(baseURL: server.url) { $0.transport = isPassedThrough ? stubs : recording }
            #expect(try await client.string.get("old").sender().value == "end")
            let playback = APIClient(baseURL: server.url) { $0.transport = CassetteTransport(replaying: file) }
            let kept = await playback.string.get("old").redirects(.none).sender().response
            #expect(kept.body == Data("moved".utf8))
        }
    }
    #endif

    @Test func replaysRecordingsInOrderWithoutNetwork() async throws {
        defer { tearDown() }
        network.on(.get("/a"), .sequence([.text("1"), .text("2")]))
        network.on(.get("/broken"), .failure(.tlsFailed, "Expired."))
        let recording = cassette()
        for _ in 0..<2 { _ = try await send(recording, "/a") }
        try await expectError(.tlsFailed) { try await send(recording, "/broken") }
        #expect(network.requests.count == 3)
        let playing = cassette()
        var answers: [String] = []
        for _ in 0..<2 { answers.append(try await send(playing, "/a")) }
        #expect(answers == ["1", "2"])
        try await expectError(.tlsFailed) { try await send(playing, "/broken") }
        let usedUp = try await expectError(.cassetteUnmatched) { try await send(playing, "/a") }
        #expect(usedUp.reason.contains("all 2 recordings of it"))
        let unknown = try await expectError(.cassetteUnmatched) { try await send(playing, "/b") }
        #expect(unknown.reason.contains("none of its 3 exchanges has the same method, url"))
        #expect(network.requests.count == 3)
        let names = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
        #expect(names == ["cassette.json"])
    }

    @Test func repeatsLastRecordingIfEnabled() async throws {
        defer { tearDown() }
        network.on(.any, .sequence([.text("1"), .text("2")]))
        let recording = cassette()
        for _ in 0..<2 { _ = try await send(recording, "/a") }
        let playing = CassetteTransport(replaying: file, repeatsLast: true)
        var answers: [String] = []
        for _ in 0..<3 { answers.append(try await send(playing, "/a")) }
        #expect(answers == ["1", "2", "2"])
    }

    @Test func cancelledRequestTakesNoRecording() async throws {
        defer { tearDown() }
        network.on(.any, .text("x"))
        _ = try await send(cassette(), "/a")
        let playing = cassette(.never)
        let gate = AsyncStream.makeStream(of: Void.self)
        let cancelled = Task {
            for await _ in gate.stream {}
            return try await send(playing, "/a")
        }
        cancelled.cancel()
        gate.continuation.finish()
        try await expectError(.cancelled) { try await cancelled.value }
        let answer = try await send(playing, "/a")
        #expect(answer == "x")
    }

    @Test func recordsNoSecretsAndMatchesWithoutThem() async throws {
        defer { tearDown() }
        network.on(.any, .json(#"{"access_token":"s3cret-t"}"#, headers: ["Set-Cookie": "s3cret-c"]))
        let matching: [CassetteCriterion] = [.method, .url, .body, .header("Authorization")]
        let first = cassette(matching: matching)
        let body = RequestBody.data(Data(#"{"password":"s3cret-p"}"#.utf8))
        let real = try await send(
            first,
            "/token?api_key=s3cret-k",
            headers: ["Authorization": "s3cret-a", "Content-Type": "application/json"],
            body: body
        )
        #expect(real.contains("s3cret-t"))
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("s3cret"))
        let replayed = try await send(
            cassette(matching: matching),
            "/token?api_key=another",
            headers: ["Authorization": "other", "Content-Type": "application/json"],
            body: .data(Data(#"{ "password": "other" }"#.utf8))
        )
        #expect(replayed == #"{"access_token":"REDACTED"}"#)
        #expect(network.requests.count == 1)
    }

    /// The secrets of a body that can be decoded do not affect the match.
    @Test(arguments: ["gzip", "br"])
    func bodiesWithContentCodingAreDistinguished(_ coding: String) async throws {
        defer { tearDown() }
        network.on(.any, .sequence([.text("1"), .text("2")]))
        func send(_ transport: CassetteTransport, _ name: String, _ password: String) async throws -> String {
            let text = Data(#"{"name":"\#(name)","password":"\#(coding == "gzip" ? password : "")"}"#.utf8)
            return try await self.send(
                transport,
                "/users",
                headers: ["Content-Type": "application/json", "Content-Encoding": coding],
                body: .data(coding == "gzip" ? text.gzip : text)
            )
        }
        let recording = cassette(matching: [.method, .url, .body])
        let recorded = [try await send(recording, "Ada", "s3cret"), try await send(recording, "Grace", "s3cret")]
        #expect(recorded == ["1", "2"])
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("s3cret"))
        let playing = cassette(matching: [.method, .url, .body])
        let played = [try await send(playing, "Grace", "other"), try await send(playing, "Ada", "other")]
        #expect(played == ["2", "1"])
    }

    @Test func modesDecideWhenToRecord() async throws {
        defer { tearDown() }
        network.on(.get("/a"), .sequence([.text("old"), .text("new")]))
        network.on(.get("/b"), .text("b"))
        let missing = try await expectError(.cassetteUnreadable) { try await send(cassette(.never), "/a") }
        #expect(missing.reason.contains(file.path) && missing.reason.contains("the file does not exist"))
        _ = try await send(cassette(), "/a")
        do {
            let appended = cassette(.append)
            let answers = [try await send(appended, "/a"), try await send(appended, "/b")]
            #expect(answers == ["old", "b"])
        }
        #expect(try Cassette(Data(contentsOf: file)).exchanges.count == 2)
        let again = try await send(cassette(.always), "/a")
        #expect(again == "new")
        #expect(try Cassette(Data(contentsOf: file)).exchanges.count == 1)
    }

    @Test func failuresThatTheClientCausesAreNotRecorded() async throws {
        defer { tearDown() }
        network.on(.get("/long"), .text("four"))
        network.on(.get("/lost"), .failure(.connectionLost))
        network.on(.get("/late"), .failure(.timedOut))
        let limited = TransferContext(limits: ResponseLimits(body: 3))
        let timed = TransferContext(timeouts: Timeouts(total: .seconds(60)))
        let recording = cassette()
        try await expectError(.bodyTooLarge) { try await send(recording, "/long", context: limited) }
        for code: SluiceError.Code in [.bodyUnavailable, .bodyLengthMismatch, .unsupported, .cancelled] {
            network.on(.get("/\(code)"), .failure(code))
            try await expectError(code) { try await send(recording, "/\(code)") }
        }
        try await expectError(.timedOut) { try await send(recording, "/late", context: timed) }
        #expect(!FileManager.default.fileExists(atPath: file.path))
        try await expectError(.connectionLost) { try await send(recording, "/lost", context: limited) }
        try await expectError(.timedOut) { try await send(recording, "/late") }
        let long = try await send(recording, "/long")
        #expect(long == "four")
        let paths = try Cassette(Data(contentsOf: file)).exchanges.map(\.request.path)
        #expect(paths == ["/lost", "/late", "/long"])
    }

    @Test func replayedBodyOverTheLimitFailsAfterItsHead() async throws {
        defer { tearDown() }
        network.on(.get("/long"), .text("four"))
        network.on(.get("/announced"), .text("four", headers: ["Content-Length": "4"]))
        let recording = cassette()
        for path in ["/long", "/announced"] { _ = try await send(recording, path) }
        let limited = TransferContext(limits: ResponseLimits(body: 3))
        let playing = cassette()
        let request = HTTPRequest(scheme: "http", authority: "shop.test", path: "/long")
        let response = try await playing.send(request, context: limited)
        try await expectError(.bodyTooLarge) { try await response.body.collect() }
        let error = try await expectError(.bodyTooLarge) { try await send(playing, "/announced", context: limited) }
        #expect(error.response?.status == .ok)
    }

    @Test func replayedFailureBeforeSendingCountsNoUpload() async throws {
        defer { tearDown() }
        network.on(.post("/a"), .failure(.cannotConnect))
        network.on(.post("/b"), .failure(.connectionLost))
        let cases: [(String, SluiceError.Code, Int64)] = [("/a", .cannotConnect, 0), ("/b", .connectionLost, 4)]
        let body = RequestBody.data(Data("body".utf8))
        let recording = cassette()
        for (path, code, _) in cases { try await expectError(code) { try await send(recording, path, body: body) } }
        let playing = cassette()
        for (path, code, count) in cases {
            let meter = TransferMeter()
            let context = TransferContext(meter: meter)
            try await expectError(code) { try await send(playing, path, body: body, context: context) }
            #expect(meter.snapshot(.upload).progress.completed == count)
        }
    }

    @Test func recordsConcurrentRequests() async throws {
        defer { tearDown() }
        network.on(.any, .text("x"))
        let recording = cassette(.always)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 { group.addTask { _ = try await send(recording, "/\(number)") } }
            try await group.waitForAll()
        }
        #expect(try Cassette(Data(contentsOf: file)).exchanges.count == 20)
    }

    @Test(arguments: [CassetteTransport.Mode.once, .always, .append])
    func transportsShareOneFile(_ mode: CassetteTransport.Mode) async throws {
        defer { tearDown() }
        network.on(.any, .text("x"))
        let first = cassette(.always)
        _ = try await send(first, "/first")
        if mode == .once { try FileManager.default.removeItem(at: file) }
        let around = file.deletingLastPathComponent().appending(path: "..")
            .appending(path: file.deletingLastPathComponent().lastPathComponent).appending(path: "cassette.json")
        let second = CassetteTransport(recording: network, to: around, mode: mode)
        for path in ["/1", "/2"] {
            _ = try await send(second, path)
            _ = try await send(first, path + "/first")
        }
        let paths = try Cassette(Data(contentsOf: file)).exchanges.map(\.request.path)
        #expect(paths == ["/first", "/1", "/1/first", "/2", "/2/first"])
    }

    @Test func appendKeepsExistingRecordings() async throws {
        defer { tearDown() }
        network.on(.any, .text("x"))
        for path in ["/1", "/2", "/3"] { _ = try await send(cassette(.append), path) }
        let paths = try Cassette(Data(contentsOf: file)).exchanges.map(\.request.path)
        #expect(paths == ["/1", "/2", "/3"])
    }

    /// Without the exemption, the requests are the same, because `code` counts as secret.
    @Test(arguments: [false, true])
    func exemptNameDistinguishesRequests(_ isExempt: Bool) async throws {
        defer { tearDown() }
        network.on(.any, .sequence([.text("DE"), .text("US")]))
        var redaction = CassetteRedaction.standard
        if isExempt { redaction.exemptions.append("code") }
        var answers: [String] = []
        for country in ["DE", "US"] {
            let transport = CassetteTransport(recording: network, to: file, mode: .append, redaction: redaction)
            answers.append(try await send(transport, "/tax?code=\(country)"))
        }
        #expect(answers == ["DE", isExempt ? "US" : "DE"])
    }

    @Test func customCriterionCanAccessTransport() async throws {
        defer { tearDown() }
        network.on(.any, .text("x"))
        _ = try await send(cassette(), "/a")
        let comparedPaths = Locked<[String]>([])
        let inner = Locked<CassetteTransport?>(nil)
        let playing = CassetteTransport(
            replaying: file,
            matching: [
                .custom("mine") { recorded, request in
                    // If the lock were held here, reading the state of the same transport would deadlock.
                    comparedPaths.withLock { $0.append("\(recorded.path) \(request.path)") }
                    return inner.withLock { $0?.playback != nil }
                }
            ]
        )
        inner.withLock { $0 = playing }
        let answer = try await send(playing, "/b")
        #expect(answer == "x")
        #expect(comparedPaths.withLock { $0 } == ["/a /b"])
        inner.withLock { $0 = nil }
    }

    @Test func requestIsComparedUpToItsFirstUnplayedRecording() async throws {
        defer { tearDown() }
        network.on(.any, .text("x"))
        let recording = cassette()
        for _ in 0..<20 { _ = try await send(recording, "/a") }
        let calls = Locked(0)
        let counted = CassetteCriterion.custom("counted") { _, _ in
            calls.withLock { $0 += 1 }
            return true
        }
        let playing = CassetteTransport(replaying: file, matching: [counted], repeatsLast: true)
        for _ in 0..<25 { _ = try await send(playing, "/a") }
        #expect(calls.withLock { $0 } == 25)
    }

    @Test func matchesHandwrittenRequestWithSecret() async throws {
        defer { tearDown() }
        let request = RecordedRequest(url: "http://shop.test/a?code=abc&x=1")
        let response = RecordedExchange.Response(head: HTTPResponse(status: .ok), body: Data("hand".utf8))
        let exchange = RecordedExchange(request: request, result: .success(response))
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Cassette(exchanges: [exchange]).data.write(to: file)
        let answer = try await send(CassetteTransport(replaying: file), "/a?code=abc&x=1")
        #expect(answer == "hand")
    }

    @Test func truncatedCassetteIsErrorNamingFile() async throws {
        defer { tearDown() }
        network.on(.any, .text("x"))
        _ = try await send(cassette(), "/a")
        try Data(contentsOf: file).dropLast(20).write(to: file)
        let error = try await expectError(.cassetteUnreadable) { try await send(cassette(), "/a") }
        #expect(error.reason.contains(file.path))
        #expect(network.requests.count == 1)
    }

    @Test func replaysHARArchive() async throws {
        defer { tearDown() }
        let har = """
            {"log":{"entries":[{"request":{"method":"GET","url":"http://shop.test/a?&code=1","headers":[]},
            "response":{"status":200,"headers":[],"content":{"mimeType":"text/plain","text":"archived"}}},
            {"request":{"method":"GET","url":"http://shop.test/a?ids[]=1","headers":[]},
            "response":{"status":200,"headers":[],"content":{"mimeType":"text/plain","text":"brackets"}}}]}}
            """
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(har.utf8).write(to: file)
        let answer = try await send(CassetteTransport(har: file), "/a?&code=1")
        #expect(answer == "archived")
        // Browsers leave brackets as they are, and clients encode them.
        let brackets = try await send(CassetteTransport(har: file), "/a?ids%5B%5D=1")
        #expect(brackets == "brackets")
        try await expectError(.cassetteUnmatched) { try await send(CassetteTransport(har: file), "/a?&code=2") }
        let again = try await send(CassetteTransport(har: file, redaction: .standard), "/a?&code=2")
        #expect(again == "archived")
    }

    @Test func bodyThatTheRecorderLeavesOutFailsItsRequest() async throws {
        defer { tearDown() }
        network.on(.get("/long"), .text(String(repeating: "x", count: 100)))
        network.on(.get("/short"), .text("short"))
        let recorder = HARRecorder(maximumBodyBytes: 10)
        let client = APIClient(baseURL: "http://shop.test") {
            $0.transport = network
            $0.observers = [recorder]
        }
        _ = try await client.string.get("long").sender().value
        _ = try await client.string.get("short").sender().value
        await client.observersCaughtUp()
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try await recorder.write(to: file)
        let playing = CassetteTransport(har: file)
        let error = try await expectError(.cassetteUnreadable) { try await send(playing, "/long") }
        #expect(error.reason.contains("Too long to record: 100 bytes"))
        let short = try await send(playing, "/short")
        #expect(short == "short")
    }
}
