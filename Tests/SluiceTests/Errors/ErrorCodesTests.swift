import Foundation
import Sluice
import SluiceTesting
import XCTest

#if os(Linux)
import Glibc

/// Provokes an error of each code, and compares its description with the table in the article on errors.
final class ErrorCodesTests: XCTestCase {
    private struct Refusal: Error {}

    private let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-codes-\(UUID().uuidString)")
    /// The examples by code, in the order in which they were provoked.
    private var examples: [(code: String, text: String)] = []

    override func setUp() {
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDown() {
        try? FileManager.default.removeItem(at: folder)
    }

    func testTableShowsARealErrorOfEachCode() async throws {
        try await provokeErrorsOfBuilding()
        try await provokeErrorsOfGates()
        try await provokeErrorsOfConnecting()
        try await provokeErrorsOfBodies()
        try await provokeErrorsOfResponses()
        try await provokeErrorsOfTime()
        try await provokeErrorsOfValidation()
        try await provokeErrorsOfCaching()
        try await provokeErrorsOfDownloads()
        try await provokeErrorsOfComposition()
        try await provokeErrorsOfTests()
        let declared = try Self.declaredCodes()
        XCTAssertEqual(Set(examples.map(\.code)), declared, "Provoke an error of each code.")
        XCTAssertEqual(examples.count, declared.count)
        let rows = examples.map { "| `\($0.code)` | \($0.text) |" }
        let page = Self.root.appending(path: "Sources/Sluice/Sluice.docc/Failures.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let section = text.components(separatedBy: "\n### ").first { $0.hasPrefix("All codes") } ?? ""
        let found = section.split(separator: "\n").map(String.init).filter { $0.hasPrefix("| `") }
        if found != rows {
            let file = FileManager.default.temporaryDirectory.appending(path: "sluice-error-codes.md")
            try rows.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
            let changes = Set(found).symmetricDifference(rows).count
            XCTFail("The table in Failures.md differs in \(changes) rows. Replace it with \(file.path).")
        }
    }

    private static let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    /// Returns the codes that the sources declare.
    private static func declaredCodes() throws -> Set<String> {
        let sources = root.appending(path: "Sources")
        var codes: Set<String> = []
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            // The codes of OAuth 2.0 and of Redis are other types.
            let others = ["OAuth2Error.swift", "RedisError.swift"]
            if file.pathExtension != "swift" || others.contains(file.lastPathComponent) { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            let pattern = /static let (\w+) = (?:SluiceError\.)?(?:Code|Self)\("(\w+)"\)/
            for match in text.matches(of: pattern) where match.1 == match.2 { codes.insert(String(match.2)) }
        }
        return codes.union(["authorizationRequired", "authorizationFailed"])
    }

    // MARK: - Provoking

    /// Records the example of a code, without the port and the folder of this run.
    private func record(_ code: SluiceError.Code, _ error: SluiceError?, line: UInt = #line) {
        XCTAssertEqual(error?.code, code, error?.expandedDescription ?? "There is no error.", line: line)
        guard let error else { return }
        XCTAssertEqual(error.localizedDescription, error.description, line: line)
        let text = error.description
            .replacing(folder.path, with: "/data")
            .replacing(/127\.0\.0\.1:\d+/, with: "shop.example")
            .replacing(/only \d+ bytes left/, with: "only 1000000000 bytes left")
            .replacing("|", with: "\\|")
        XCTAssertTrue(text.hasSuffix("."), "\(text) is not a sentence.", line: line)
        XCTAssertFalse(text.contains("\n"), text, line: line)
        examples.append((error.code.description, text))
    }

    private func record<Model>(_ code: SluiceError.Code, _ request: APIRequest<Model, APIError>, line: UInt = #line)
        async
    {
        record(code, await request.sender().response.failure, line: line)
    }

    private func thrown(_ body: () async throws -> Void) async -> SluiceError? {
        do { try await body() } catch { return error as? SluiceError ?? (error as? APIError)?.error }
        return nil
    }

    private func provokeErrorsOfBuilding() async throws {
        struct Broken: Endpoint {
            func draft() throws -> RequestDraft { throw Refusal() }
        }
        struct Order: Encodable { let price: Double }
        let shop = APIClient(baseURL: "https://shop.example")
        await record(.invalidURL, APIClient(baseURL: "shop.example/v1").data.get("users"))
        await record(.unsupportedScheme, APIClient(baseURL: "ftp://shop.example").data.get("users"))
        await record(.invalidHeader, shop.data.get("users").header("X-Name", "Ada\r\nX-Role: admin"))
        await record(.invalidMethod, shop.data.get("users").method("GET /"))
        await record(.buildingFailed, shop.data.get(Broken()))
        await record(.encodingFailed, shop.data.request("orders").post().json(Order(price: .nan)))
        let badPin = APIClient(baseURL: "https://shop.example") {
            $0.connection.tls.pins = PublicKeyPins("sha256/short")
        }
        await record(.invalidConfiguration, badPin.data.get("users"))
        let secret = await thrown { _ = try await Secret(contentsOf: self.folder.appending(path: "token.txt")) }
        record(.secretUnavailable, secret)
        await record(.unsupported, shop.data.request("users").method(.head).body(.data(Data("x".utf8))))
        let rules = APIClient { $0.connection.hosts = HostRules(denying: ["*.internal.example"]) }
        await record(.hostRefused, rules.data.get("http://db.internal.example/users"))
    }

    private func provokeErrorsOfGates() async throws {
        struct Paid: Gate {
            let needs: Set<String> = ["SignIn"]
            let reservesResource = false

            func admit(_ request: RequestContext) async throws(SluiceError) -> Permit { Permit() }
        }
        let server = try LoopbackServer()
        server.on("/down", .status(.internalServerError))
        server.on("/users", .text("fine"))
        func client(_ gates: any Gate...) -> APIClient {
            APIClient(baseURL: server.url) {
                $0.gates = gates
                $0.clock = TestClock()
            }
        }
        await record(.gateFailed, client(Paid()).data.get("users"))
        let limited = client(RateLimit(1, every: .seconds(60), maximumWait: .seconds(10)))
        _ = await limited.data.get("users").sender().result
        await record(.rateLimited, limited.data.get("users"))
        let full = client(RateLimit(1, every: .seconds(60), maximumWaiting: 0))
        _ = await full.data.get("users").sender().result
        await record(.queueFull, full.data.get("users"))
        let broken = client(CircuitBreaker(of: 1))
        _ = await broken.data.get("down").sender().result
        await record(.circuitOpen, broken.data.get("users"))
        let drained = client()
        await drained.drain()
        await record(.drained, drained.data.get("users"))
        let signedOut = OAuth2(
            .authorizationCode(id: "app", authorizationURL: "\(server.url)/authorize", redirectURL: "app:/back"),
            tokenURL: "\(server.url)/token"
        )
        await record(.authorizationRequired, client(signedOut).data.get("users"))
        server.on("/token", .json(#"{"error":"invalid_client"}"#, status: .unauthorized))
        let wrong = OAuth2(.clientCredentials(id: "reports", secret: "wrong"), tokenURL: "\(server.url)/token")
        await record(.authorizationFailed, client(wrong).data.get("users"))
        struct Failing: RequestInterceptor {
            func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
                throw Refusal()
            }
        }
        let intercepted = APIClient(baseURL: server.url) { $0.requestInterceptors = [Failing()] }
        await record(.interceptorFailed, intercepted.data.get("users"))
    }

    private func provokeErrorsOfConnecting() async throws {
        let plain = try LoopbackServer()
        plain.on("/*", .text("fine"))
        await record(.cannotResolveHost, APIClient().data.get("http://no-such-host.invalid/users"))
        let outside = APIClient { $0.connection.addresses = .publicOnly }
        await record(.addressRefused, outside.data.get("\(plain.url)/users"))
        await record(.cannotConnect, APIClient().data.get("http://127.0.0.1:1/users"))
        let old = try RawSocket(greeting: "HTTP/1.1 400 Bad Request\r\n\r\n")
        await record(.tlsFailed, APIClient().data.get("https://127.0.0.1:\(old.port)/users"))
        let proxied = APIClient { $0.connection.proxy = .always(.http("127.0.0.1:1")) }
        await record(.proxyFailed, proxied.data.get("http://shop.example/users"))
    }

    private func provokeErrorsOfBodies() async throws {
        func once(_ text: String) -> AsyncStream<Data> {
            AsyncStream { continuation in
                continuation.yield(Data(text.utf8))
                continuation.finish()
            }
        }
        let server = try LoopbackServer()
        server.on("/orders", .redirect(to: "/moved", status: .temporaryRedirect))
        server.on("/pictures", .text("fine"))
        let shop = APIClient(baseURL: server.url)
        let missing = folder.appending(path: "picture.png")
        await record(.bodyUnavailable, shop.data.request("pictures").post().body(.file(missing)))
        let short = shop.data.request("pictures").post().body(.stream(once("four"), length: 10))
        await record(.bodyLengthMismatch, short)
        await record(.bodyNotReplayable, shop.data.request("orders").post().body(.stream(once("order"))))
    }

    private func provokeErrorsOfResponses() async throws {
        let server = try LoopbackServer()
        server.on("/drop", .drop)
        server.on("/truncated", .truncated(Data("abc".utf8), announced: 10))
        server.on("/ssh", .raw("SSH-2.0-OpenSSH_9.2\r\n\r\n", thenClose: true))
        server.on("/head", .text("", headers: ["X-Bulk": String(repeating: "x", count: 10_000)]))
        server.on("/body", .data(Data(count: 100_001)))
        server.on("/a", .redirect(to: "/b"))
        server.on("/b", .redirect(to: "/c"))
        server.on("/c", .redirect(to: "/b"))
        server.on("/files", .redirect(to: "ftp://files.example/a"))
        server.on("/events", .data(Data("data: 1234567890\n\n".utf8), contentType: "text/event-stream"))
        let shop = APIClient(baseURL: server.url) { $0.limits = ResponseLimits(headers: 10_000, body: 100_000) }
        await record(.connectionLost, shop.data.get("drop"))
        await record(.truncatedBody, shop.data.get("truncated"))
        await record(.invalidResponse, shop.data.get("ssh"))
        await record(.headersTooLarge, shop.data.get("head"))
        await record(.bodyTooLarge, shop.data.get("body"))
        let events = await thrown {
            for try await _ in shop.stream("events").serverSentEvents(limit: 10) {}
        }
        record(.elementTooLarge, events)
        await record(.tooManyRedirects, shop.data.get("a").redirects(RedirectPolicy(limit: 1)))
        await record(.redirectLoop, shop.data.get("a"))
        await record(.redirectRefused, shop.data.get("files"))
        let harError = await thrown { try await HARRecorder().write(to: self.folder.appending(path: "none/all.har")) }
        record(.internalFailure, harError)
    }

    private func provokeErrorsOfTime() async throws {
        let server = try LoopbackServer()
        server.on("/*", .hang)
        let shop = APIClient(baseURL: server.url)
        let sender = shop.data.get("users").sender()
        sender.cancel()
        record(.cancelled, await sender.response.failure)
        await record(.timedOut, shop.data.get("users").timeout(total: .milliseconds(50)))
        // The system connects, and the TLS handshake never ends.
        let silent = try RawSocket()
        let slow = APIClient(baseURL: "https://127.0.0.1:\(silent.port)") { $0.timeouts.connect = .milliseconds(50) }
        await record(.connectTimedOut, slow.data.get("users"))
        await record(.idleTimedOut, shop.data.get("users").timeout(idle: .milliseconds(50)))
    }

    private func provokeErrorsOfValidation() async throws {
        let server = try LoopbackServer()
        server.on("/missing", .json("{}", status: .notFound))
        server.on("/page", .data(Data("<html></html>".utf8), contentType: "text/html"))
        server.on("/envelope", .json(#"{"code":40101,"msg":"Ada must sign in","data":null}"#))
        server.on("/users", .json(#"{"users":[{"id":"one","name":"Ada"}]}"#))
        let shop = APIClient(baseURL: server.url)
        await record(.unacceptableStatus, shop.data.get("missing"))
        await record(.unacceptableContentType, shop.data.get("page").validate(contentTypes: "application/json"))
        await record(.validationFailed, shop.data.get("page").validate { _, _ in throw Refusal() })
        let enveloped = APIClient(baseURL: server.url) {
            $0.envelope = Envelope(status: "code", success: 0, message: "msg", payload: "data")
        }
        await record(.envelopeFailed, enveloped.codable.get("envelope", as: User.self))
        await record(.decodingFailed, shop.codable.get("users", as: [User].self).keyPath("users"))
    }

    private func provokeErrorsOfCaching() async throws {
        let server = try LoopbackServer()
        server.on("/users", .text("fine", headers: ["Cache-Control": "max-age=60"]))
        let store = CacheStore(storage: nil)
        let outcome = Shared<SluiceError?>(nil)
        let shop = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.gates = [OutcomeGate(outcome: outcome)]
        }
        await record(.cacheMiss, shop.data.get("users").dataSource(.cache))
        for _ in 0..<2 { _ = await shop.data.get("users").sender().result }
        record(.answeredByCache, outcome.read)
        let file = folder.appending(path: "cache")
        try Data("a file".utf8).write(to: file)
        record(.cacheFailed, await thrown { try await CacheStore(directory: file).set(1, for: "n") })
        let jar = CookieJar(file: folder.appending(path: "none/cookies.txt").path)
        record(.cookieFileFailed, await thrown { try await jar.save() })
    }

    /// Records the outcome that its permits are released with.
    private struct OutcomeGate: Gate {
        let outcome: Shared<SluiceError?>

        func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
            Permit { [outcome] released in
                if case .failure(let error) = released { outcome.change { $0 = error } }
                return .settled
            }
        }
    }

    private func provokeErrorsOfDownloads() async throws {
        let fixture = try DownloadFixture()
        let server = fixture.server
        let count = Shared(0)
        let contents = fixture.contents
        server.on("/changing") { request in
            let version = count.change { count in
                count += 1
                return count
            }
            return LoopbackResource(contents, eTag: "\"\(version)\"").withFaults(.ignoringIfRange)
                .response(to: request).interrupted(after: 300_000)
        }
        server.on("/film", .resource(fixture.resource))
        server.on("/huge", .headersThenHang(headers: ["Content-Length": "4000000000000000000", "ETag": "\"1\""]))
        func download(_ path: String, _ name: String) -> DownloadAPIRequest<DownloadedFile, APIError> {
            fixture.client.download(path, to: .file(folder.appending(path: name)))
        }
        func record(_ code: SluiceError.Code, _ request: DownloadAPIRequest<DownloadedFile, APIError>) async {
            self.record(code, await request.sender().response.failure)
        }
        await record(.resourceChanged, download("changing", "film.mp4"))
        await record(.insufficientSpace, download("huge", "film.mp4"))
        await record(.invalidChecksum, download("film", "film.mp4").sha256("12ab"))
        await record(.checksumMismatch, download("film", "film.mp4").sha256(String(repeating: "0", count: 64)))
        await record(.lengthMismatch, download("film", "film.mp4").expectedLength(5))
        _ = try await download("film", "film.mp4").sender().value
        await record(.fileExists, download("film", "film.mp4"))
        try Data("a file".utf8).write(to: folder.appending(path: "films"))
        await record(.cannotWriteFile, download("film", "films/film.mp4"))
    }

    private func provokeErrorsOfComposition() async throws {
        struct Page: Decodable, Sendable { let next: String }
        let server = try LoopbackServer()
        server.on("/items", .json(#"{"next":"2"}"#))
        server.on("/elsewhere", .json("{}", headers: ["Link": "<https://other.example/items>; rel=next"]))
        let shop = APIClient(baseURL: server.url)
        let items = shop.codable.get("items", as: Page.self)
        let failing = await thrown { for try await _ in items.pages(next: { _, _ in throw Refusal() }) {} }
        record(.paginationFailed, failing)
        let loop = await thrown { for try await _ in items.pages(by: .cursor("page", at: \.next)) {} }
        record(.paginationLoop, loop)
        let elsewhere = shop.data.get("elsewhere")
        record(.paginationRefused, await thrown { for try await _ in elsewhere.pages(by: .link) {} })
        let first = shop.data.get("items")
        let long = await thrown { for try await _ in shop.chain(first, limit: 3, next: { _ in first }) {} }
        record(.chainTooLong, long)
        let broken = await thrown { for try await _ in shop.chain(first, next: { _ in throw Refusal() }) {} }
        record(.chainFailed, broken)
        var cyclic = RequestGraph()
        cyclic.add("orders", after: GraphStep<Int>("user")) { $0 }
        do {
            _ = try await cyclic.run()
        } catch {
            record(.invalidGraph, error.error as? SluiceError)
        }
        var graph = RequestGraph()
        let user = graph.add("user") { () throws -> Int in throw Refusal() }
        let orders = graph.add("orders", after: user) { $0 + 1 }
        let results = try await graph.run(failsFast: false)
        do {
            _ = try results.value(of: orders)
        } catch {
            record(.dependencyFailed, error.error as? SluiceError)
        }
    }

    private static func shop(_ transport: any Transport) -> APIClient {
        APIClient(baseURL: "https://shop.example") { $0.transport = transport }
    }

    private func provokeErrorsOfTests() async throws {
        let picture = folder.appending(path: "stub.json")
        func stubbed(_ stub: Stub) -> APIRequest<Data, APIError> {
            let client = APIClient(baseURL: "https://shop.example") {
                $0.stub = stub
                $0.stubMode = .immediate
            }
            return client.data.get("users")
        }
        await record(.stubUnavailable, stubbed(.file(picture)))
        let sequence = stubbed(.sequence([.text("one")], then: .fail))
        _ = await sequence.sender().result
        await record(.stubExhausted, sequence)
        let transport = StubTransport()
        transport.on(.get("/orders"), .text("fine"))
        await record(
            .requestUnmatched,
            Self.shop(transport).data.get("users")
        )
        let network = StubTransport()
        network.on(.get("/users"), .text("fine"))
        func cassette(_ name: String, _ mode: CassetteTransport.Mode) -> APIRequest<Data, APIError> {
            let file = folder.appending(path: name)
            let transport = CassetteTransport(recording: network, to: file, mode: mode)
            return Self.shop(transport).data.get("users")
        }
        await record(.cassetteUnreadable, cassette("users.json", .never))
        try Data("a file".utf8).write(to: folder.appending(path: "cassettes"))
        await record(.cassetteUnwritable, cassette("cassettes/users.json", .append))
        _ = await cassette("users.json", .once).sender().result
        let other = CassetteTransport(replaying: folder.appending(path: "users.json"))
        await record(
            .cassetteUnmatched,
            Self.shop(other).data.get("orders")
        )
    }
}

/// A socket that listens at 127.0.0.1. It sends a greeting to each connection, or accepts none.
private final class RawSocket: Sendable {
    let port: UInt16
    private let descriptor: Int32
    /// True if a thread accepts connections. It closes the descriptor itself.
    private let hasThread: Bool

    init(greeting: String? = nil) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        hasThread = greeting != nil
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        try XCTSkipUnless(isListening)
        guard let greeting else { return }
        Thread.detachNewThread {
            while true {
                let connection = accept(descriptor, nil, nil)
                if connection < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard connection >= 0 else { break }
                let text = Array(greeting.utf8)
                _ = send(connection, text, text.count, Int32(MSG_NOSIGNAL))
                // Reads to the end, so that the close does not discard the greeting.
                var buffer = [UInt8](repeating: 0, count: 1024)
                while recv(connection, &buffer, buffer.count, 0) > 0 {}
                close(connection)
            }
            close(descriptor)
        }
    }

    deinit {
        if hasThread { shutdown(descriptor, Int32(SHUT_RDWR)) } else { close(descriptor) }
    }
}
#endif
