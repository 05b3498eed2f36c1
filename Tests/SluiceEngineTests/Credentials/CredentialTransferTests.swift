#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Credentials in transfers, with a server that verifies them independently.
    @Suite struct CredentialTransferTests {
        private let server: LoopbackServer
        private let transport = SocketTransport()

        init() throws {
            server = try LoopbackServer()
        }

        private func context(
            _ methods: ChallengeCredentials.Methods = [.basic, .digest],
            user: String = "ada",
            password: String = "s3cret, \u{FC}nd so",
            of other: LoopbackServer? = nil,
            timeouts: Timeouts = Timeouts()
        ) -> TransferContext {
            let origin = HTTPOrigin(scheme: "http", authority: (other ?? server).authority)
            return TransferContext(
                timeouts: timeouts,
                credentials: ChallengeCredentials(user: user, password: password, methods: methods, origin: origin)
            )
        }

        /// Creates a responder for all paths.
        private func responder(_ change: (inout DigestResponder.Rules) -> Void = { _ in }) -> DigestResponder {
            let responder = DigestResponder(change)
            server.on("/*") { responder.respond(to: $0) }
            return responder
        }

        private func once(_ text: String = "once") -> RequestBody {
            .stream(
                AsyncStream<Data> { continuation in
                    continuation.yield(Data(text.utf8))
                    continuation.finish()
                }
            )
        }

        /// Squid 5 never reads another request on a connection on which it has refused a body of 64 KiB or more.
        @Test(arguments: [(65_535, 1), (65_536, 2)])
        func largeRefusedBodyIsSentAgainOnAnotherConnection(_ size: Int, _ connections: Int) async throws {
            let listener = try TestListener { descriptor in
                while let head = TestListener.readHead(descriptor) {
                    var bytes = [UInt8](repeating: 0, count: size)
                    guard recv(descriptor, &bytes, size, Int32(MSG_WAITALL)) == size else { return }
                    let isDenied = head.contains("/denied")
                    if !isDenied, head.contains("Authorization: Digest") {
                        TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor)
                        continue
                    }
                    let status = isDenied ? "403 Forbidden" : "401 Unauthorized"
                    let challenge = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"
                    TestListener.write(
                        "HTTP/1.1 \(status)\r\n\(challenge)\r\nContent-Length: 0\r\n\r\n",
                        to: descriptor
                    )
                    if size >= 65_536 { return TestListener.discardInput(descriptor) }
                }
            }
            let body = RequestBody.data(Data(count: size))
            let origin = HTTPOrigin(scheme: "http", authority: listener.authority)
            let credentials = ChallengeCredentials(user: "ada", password: "s3cret", methods: .digest, origin: origin)
            let context = TransferContext(credentials: credentials)
            let response = try await transport.exchange(listener.request(method: .post, body: body), context)
            #expect(response.text == "ok")
            #expect(listener.connections == connections)
            var connection = ConnectionOptions()
            connection.proxy = .always(.http(listener.authority))
            var denied = listener.request("/denied", method: .post, body: body)
            denied.authority = "origin.test"
            for _ in 0..<2 {
                let refusal = try await transport.exchange(denied, TransferContext(connection: connection))
                #expect(refusal.status == .forbidden)
            }
            #expect(listener.connections == connections * 2)
        }

        // MARK: Rounds

        @Test(arguments: ["MD5", "MD5-sess", "SHA-256", "SHA-256-sess", "SHA-512-256", "SHA-512-256-sess"])
        func laterRequestsNeedOneRound(_ algorithm: String) async throws {
            for quality in ["auth", "auth-int", nil] {
                let responder = responder {
                    $0.algorithms = [algorithm]
                    $0.quality = quality
                    $0.hashesUser = algorithm.hasPrefix("SHA-512")
                }
                let before = (server.requestCount, server.connections)
                let transport = SocketTransport()
                for (index, path) in ["/a?b=%20&c", "/", "/d"].enumerated() {
                    let body = RequestBody.data(Data("body \(index)".utf8))
                    let response = try await transport.exchange(
                        server.request(path, method: .post, body: body),
                        context()
                    )
                    #expect(response.status == .ok)
                    #expect(response.text == "body \(index)")
                }
                let counts = quality == nil ? [1, 1, 1] : [1, 2, 3]
                #expect(responder.verdicts == ["none"] + counts.map { "\(algorithm) \($0)" })
                #expect(server.requestCount - before.0 == 4)
                #expect(server.connections - before.1 == 1)
                #expect(transport.isQuiet && transport.hasIdle)
            }
        }

        @Test func strongestOfSeveralChallengesIsAnswered() async throws {
            let responder = responder { $0.algorithms = ["basic", "MD5", "SHA-1", "SHA-512-256", "SHA-256"] }
            let response = try await transport.exchange(server.request("/"), context())
            #expect(response.status == .ok)
            #expect(responder.verdicts == ["none", "SHA-512-256 1"])
        }

        @Test func concurrentRequestsHaveDifferentNonceCounts() async throws {
            let responder = responder()
            _ = try await transport.exchange(server.request("/"), context())
            let tasks = (0..<40).map { index in
                Task { [transport, server, context = context()] in
                    await transport.result(of: server.request("/\(index)"), context)
                }
            }
            for task in tasks { #expect(try await task.value.get().status == .ok) }
            let expected = Set(["none"] + (1...41).map { "SHA-256 \($0)" })
            #expect(Set(responder.verdicts) == expected)
            #expect(responder.verdicts.count == 42)
        }

        @Test func nonceCountsOutOfOrderAreRetried() async throws {
            let responder = responder { $0.requiresIncreasingCounts = true }
            for _ in 0..<5 {
                let tasks = (0..<40).map { index in
                    Task { [transport, server, context = context()] in
                        await transport.result(of: server.request("/\(index)"), context)
                    }
                }
                for task in tasks { #expect(try await task.value.get().status == .ok) }
            }
            #expect(!responder.verdicts.contains("wrong"))
        }

        @Test func concurrentChallengesAreAllAnswered() async throws {
            let responder = responder()
            let tasks = (0..<40).map { index in
                Task { [transport, server, context = context()] in
                    await transport.result(of: server.request("/\(index)"), context)
                }
            }
            for task in tasks { #expect(try await task.value.get().status == .ok) }
            #expect(!responder.verdicts.contains("wrong") && !responder.verdicts.contains("replay"))
        }

        /// The server sends a new nonce with each challenge. Only the first request of each task may begin without credentials.
        @Test func concurrentRequestsSoonShareANonce() async throws {
            let responder = responder()
            let tasks = (0..<40).map { index in
                Task { [transport, server, context = context()] in
                    for _ in 0..<5 {
                        let response = try await transport.exchange(server.request("/\(index)"), context)
                        #expect(response.status == .ok)
                    }
                }
            }
            for task in tasks { try await task.value }
            #expect(responder.verdicts.count { $0 == "none" } <= 40)
            #expect(responder.verdicts.count <= 240)
        }

        @Test(arguments: [false, true])
        func staleNonceIsReplacedInOneRound(_ omitsStale: Bool) async throws {
            let responder = responder {
                $0.uses = 2
                $0.omitsStale = omitsStale
            }
            for index in 0..<4 {
                let response = try await transport.exchange(
                    server.request("/", method: .put, body: .data(Data("\(index)".utf8))),
                    context()
                )
                #expect(response.text == "\(index)")
            }
            #expect(
                responder.verdicts == ["none", "SHA-256 1", "SHA-256 2", "stale", "SHA-256 1", "SHA-256 2"]
            )
            #expect(server.connections == 1)
        }

        @Test func nextNonceAvoidsAChallenge() async throws {
            let responder = responder {
                $0.uses = 1
                $0.sendsNextNonce = true
            }
            for _ in 0..<3 {
                #expect(try await transport.exchange(server.request("/"), context()).status == .ok)
            }
            #expect(responder.verdicts == ["none", "SHA-256 1", "SHA-256 1", "SHA-256 1"])
        }

        @Test func basicIsSentWithinItsFolder() async throws {
            let responder = responder { $0.algorithms = ["basic"] }
            for path in ["/a/b", "/a/c?d", "/a/", "/e"] {
                #expect(try await transport.exchange(server.request(path), context()).status == .ok)
            }
            #expect(responder.verdicts == ["none", "basic", "basic", "basic", "none", "basic"])
            #expect(server.connections == 1)
        }

        @Test func digestIsSentWithinItsDomain() async throws {
            let responder = responder { $0.domain = "/in http://other.test/" }
            for path in ["/in", "/in/side", "/out"] {
                #expect(try await transport.exchange(server.request(path), context()).status == .ok)
            }
            #expect(responder.verdicts == ["none", "SHA-256 1", "SHA-256 2", "none", "SHA-256 1"])
        }

        // MARK: Refusals

        @Test func wrongPasswordGivesThe401AfterOneAnswer() async throws {
            let responder = responder { $0.refusalText = "not you" }
            for _ in 0..<2 {
                let response = try await transport.exchange(server.request("/"), context(password: "wrong"))
                #expect(response.status == .unauthorized)
                #expect(response.text == "not you")
            }
            #expect(responder.verdicts == ["none", "wrong", "none", "wrong"])
        }

        @Test func atMostFourChallengesAreAnswered() async throws {
            let responder = responder { $0.alwaysReportsStale = true }
            let response = try await transport.exchange(server.request("/"), context())
            #expect(response.status == .unauthorized)
            #expect(responder.verdicts == ["none"] + Array(repeating: "stale", count: 4))
            #expect(transport.isQuiet)
        }

        @Test func challengeThatCannotBeAnsweredIsTheResponse() async throws {
            let responder = responder {
                $0.quality = "auth-int"
                $0.refusalText = "hash it"
            }
            let stream = server.request("/", method: .put, body: once())
            let response = try await transport.exchange(stream, context())
            #expect(response.text == "hash it")
            #expect(responder.verdicts == ["none"])
        }

        @Test func credentialsAreSentForTheirOriginAndUserOnly() async throws {
            let other = try LoopbackServer()
            let otherResponder = DigestResponder()
            other.on("/*") { otherResponder.respond(to: $0) }
            let responder = responder()
            _ = try await transport.exchange(server.request("/"), context())
            let away = try await transport.exchange(other.request("/"), context())
            #expect(away.status == .unauthorized)
            #expect(otherResponder.verdicts == ["none"])
            let elsewhere = try await transport.exchange(server.request("/"), context(of: other))
            #expect(elsewhere.status == .unauthorized)
            let anonymous = try await transport.exchange(server.request("/"))
            #expect(anonymous.status == .unauthorized)
            let eve = try await transport.exchange(server.request("/"), context(user: "eve"))
            #expect(eve.status == .unauthorized)
            let own = server.request("/", headers: ["Authorization": "Bearer t"])
            #expect(try await transport.exchange(own, context()).status == .unauthorized)
            #expect(responder.verdicts == ["none", "SHA-256 1", "none", "none", "none", "wrong", "wrong"])
            #expect(try await transport.exchange(server.request("/"), context()).status == .ok)
            #expect(responder.verdicts.last == "SHA-256 2")
        }

        @Test func transportsDoNotShareNonces() async throws {
            let responder = responder()
            _ = try await transport.exchange(server.request("/"), context())
            _ = try await SocketTransport().exchange(server.request("/"), context())
            #expect(responder.verdicts == ["none", "SHA-256 1", "none", "SHA-256 1"])
        }

        // MARK: Bodies

        @Test(arguments: [1, 300_000, 3_000_000])
        func replayableBodyIsSentAgainAfterAChallenge(_ length: Int) async throws {
            let responder = responder()
            let data = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            let pieces = RepeatedPieces(data: data)
            for body in [
                RequestBody.data(data), .stream(pieces, length: Int64(length), isReplayable: true),
                .stream(pieces, isReplayable: true),
            ] {
                let transport = SocketTransport()
                let meter = TransferMeter()
                var context = context()
                context.meter = meter
                let response = try await transport.exchange(server.request("/", method: .put, body: body), context)
                #expect(response.body == data)
                let progress = meter.snapshot(.upload).progress
                #expect(progress.completed == Int64(length))
                #expect(progress.attempt == 2)
                #expect(transport.isQuiet)
            }
            #expect(responder.verdicts == ["none", "SHA-256 1", "none", "SHA-256 1", "none", "SHA-256 1"])
        }

        @Test func challengeFailsARequestWithoutAReplayableBody() async throws {
            let responder = responder()
            let request = server.request("/", method: .put, body: once())
            #expect(await transport.failure(of: request, context())?.code == .bodyNotReplayable)
            #expect(responder.verdicts == ["none"])
            #expect(transport.isQuiet)
        }

        @Test func bodyThatIsNotReplayableIsSentWithAKnownNonce() async throws {
            let responder = responder()
            _ = try await transport.exchange(server.request("/"), context())
            let response = try await transport.exchange(server.request("/", method: .put, body: once()), context())
            #expect(response.text == "once")
            #expect(responder.verdicts == ["none", "SHA-256 1", "SHA-256 2"])
        }

        @Test func digestAloneHoldsBackABodyThatIsNotReplayable() async throws {
            let responder = responder { $0.uses = 1 }
            for round in 1...2 {
                let request = server.request("/", method: .put, body: once("round \(round)"))
                let response = try await transport.exchange(request, context(.digest))
                #expect(response.text == "round \(round)")
            }
            #expect(responder.verdicts == ["none", "SHA-256 1", "none", "SHA-256 1"])
            #expect(server.requests.map(\.body.count) == [0, 7, 0, 7])
        }

        @Test func heldBackBodyIsSentIfThereIsNoChallenge() async throws {
            server.on("/open") { .data($0.body) }
            server.on("/shut", .text("no", status: .forbidden))
            let open = server.request("/open", method: .put, body: once())
            #expect(try await transport.exchange(open, context(.digest)).text == "once")
            let shut = server.request("/shut", method: .put, body: once())
            #expect(try await transport.exchange(shut, context(.digest)).text == "no")
            #expect(server.requests.map(\.body.count) == [0, 4, 0])
            #expect(server.requests.allSatisfy { !$0.headers.contains(.authorization) })
        }

        @Test func bodyHeldBackByExpectIsSentAfterTheChallenge() async throws {
            let responder = DigestResponder()
            server.on("/*") { .data($0.body) }
            server.onExpectation { request in
                let response = responder.respond(to: request) { _, _ in .text("in") }
                return responder.verdicts.last == "none" ? .refused(response) : .continue
            }
            let request = server.request("/", method: .put, headers: ["Expect": "100-continue"], body: once())
            let response = try await transport.exchange(request, context())
            #expect(response.text == "once")
            #expect(responder.verdicts == ["none", "SHA-256 1"])
            // The server may still wait for the body on the first connection.
            #expect(server.connections == 2)
        }

        /// The body, which can be read only once, is held back until a challenge. A server may miss it first.
        @Test(arguments: [400, 411, 415, 422] as [HTTPStatus])
        func heldBackBodyIsSentIfTheServerMissesIt(_ status: HTTPStatus) async throws {
            server.on("/") { request in
                request.body.isEmpty ? .status(status) : .text(String(decoding: request.body, as: UTF8.self))
            }
            let request = server.request("/", method: .post, body: once())
            #expect(try await transport.exchange(request, context(.digest)).text == "once")
            #expect(server.requests.map(\.body.count) == [0, 4])
            let refused = server.request("/none", method: .post, body: once())
            #expect(try await transport.exchange(refused, context(.digest)).status == 404)
        }

        @Test func challengeStopsTheUpload() async throws {
            let received = Locked(0)
            let heads = Locked<[String]>([])
            let listener = try TestListener { descriptor in
                guard let head = TestListener.readHead(descriptor) else { return }
                heads.withLock { $0.append(head) }
                let isFirst = !head.contains("Authorization: Digest ")
                if isFirst {
                    TestListener.write(
                        "HTTP/1.1 401 x\r\nWWW-Authenticate: Digest realm=r, nonce=n, qop=auth\r\nContent-Length: 3\r\n\r\nwho",
                        to: descriptor
                    )
                }
                var bytes = [UInt8](repeating: 0, count: 64 << 10)
                var count = 0
                while count < 32 << 20 {
                    let more = recv(descriptor, &bytes, bytes.count, 0)
                    if more <= 0 { break }
                    count += more
                }
                let isWhole = count == 32 << 20
                if isFirst { received.withLock { $0 = count } }
                if isWhole { TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin", to: descriptor) }
            }
            let origin = HTTPOrigin(scheme: "http", authority: listener.authority)
            let credentials = ChallengeCredentials(user: "a", password: "b", origin: origin)
            let request = listener.request(method: .put, body: .data(Data(count: 32 << 20)))
            let response = try await transport.exchange(request, TransferContext(credentials: credentials))
            #expect(response.text == "in")
            #expect(heads.withLock { $0.count } == 2)
            try await waitUntil("the first connection is closed") { listener.openConnections <= 1 }
            #expect(received.withLock { $0 } < 32 << 20)
        }

        // MARK: Connections

        @Test func bodyOfALongChallengeIsNotRead() async throws {
            let responder = responder { $0.refusalText = String(repeating: "who? ", count: 50_000) }
            let response = try await transport.exchange(server.request("/"), context())
            #expect(response.status == .ok)
            #expect(responder.verdicts == ["none", "SHA-256 1"])
            #expect(server.connections == 2)
            #expect(response.metrics?.isConnectionReused == false)
        }

        @Test func challengeIsAnsweredOnTheSameConnection() async throws {
            let responder = responder()
            for method: HTTPMethod in [.get, .head, .delete, .options] {
                let transport = SocketTransport()
                let before = server.connections
                let response = try await transport.exchange(server.request("/", method: method), context())
                #expect(response.status == .ok)
                #expect(response.metrics?.isConnectionReused == false)
                #expect(server.connections == before + 1)
                let second = try await transport.exchange(server.request("/", method: method), context())
                #expect(second.metrics?.isConnectionReused == true)
            }
            #expect(responder.verdicts.filter { $0 == "none" }.count == 4)
        }

        static let ends = [
            "Content-Length: 3\r\nConnection: close\r\n\r\nwho", "\r\nwho", "Content-Length: 9\r\n\r\nwho",
            "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
            "Transfer-Encoding: chunked\r\n\r\n3\r\nwho\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        ]

        @Test(arguments: 0..<5)
        func connectionClosedByTheChallengeIsReplaced(_ end: Int) async throws {
            let challenge = "HTTP/1.1 401 x\r\nWWW-Authenticate: Basic realm=r\r\n\(CredentialTransferTests.ends[end])"
            server.on("/", .raw(challenge, thenClose: true), .text("in"))
            let request = server.request("/", method: .post, body: .data(Data("x".utf8)))
            let response = try await transport.exchange(request, context(password: "pw"))
            #expect(response.text == "in")
            #expect(server.connections == 2)
            let fields = server.requests.map { $0.headers[.authorization] }
            #expect(fields == [nil, "Basic YWRhOnB3"])
            #expect(transport.isQuiet)
        }

        /// Starts a server that answers requests without credentials by a challenge.
        ///
        /// - Parameters:
        ///   - end: The end of the head of the challenge, and the first bytes of its body.
        ///   - rest: Continues the response to the challenge.
        /// - Returns: The server, and credentials that it accepts.
        /// - Throws: An error if there is no free port.
        private func challenger(
            _ end: String,
            _ rest: @escaping @Sendable (Int32) -> Void
        ) throws -> (listener: TestListener, credentials: ChallengeCredentials) {
            let listener = try TestListener { descriptor in
                guard let head = TestListener.readHead(descriptor) else { return }
                if head.contains("Authorization: Basic ") {
                    TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin", to: descriptor)
                    return
                }
                TestListener.write("HTTP/1.1 401 x\r\nWWW-Authenticate: Basic realm=r\r\n\(end)", to: descriptor)
                rest(descriptor)
            }
            let origin = HTTPOrigin(scheme: "http", authority: listener.authority)
            return (listener, ChallengeCredentials(user: "a", password: "b", origin: origin))
        }

        /// The body of the challenge arrives byte by byte.
        @Test func challengeWithoutEndIsAnsweredOnAnotherConnection() async throws {
            let (listener, credentials) = try challenger("Transfer-Encoding: chunked\r\n\r\n") { descriptor in
                while TestListener.write("1\r\nx\r\n", to: descriptor) { usleep(10_000) }
            }
            let context = TransferContext(timeouts: Timeouts(total: .seconds(60)), credentials: credentials)
            #expect(try await transport.exchange(listener.request(), context).text == "in")
            try await waitUntil("the first connection is closed") { listener.openConnections == 0 }
            #expect(listener.connections == 2)
        }

        /// The time-outs are shorter than the second after which a challenge is no longer read.
        @Test func timeoutsApplyWhileAChallengeIsRead() async throws {
            let end = "Content-Length: 9\r\n\r\nwho"
            let (listener, credentials) = try challenger(end, TestListener.discardInput)
            let total = TransferContext(timeouts: Timeouts(total: .milliseconds(900)), credentials: credentials)
            #expect(await transport.failure(of: listener.request(), total)?.code == .timedOut)
            #expect(listener.connections <= 1)
            // The challenge is known, so that another connection can continue. If it does not, each run times out.
            var results: [Result<ReadResponse, SluiceError>] = []
            while results.isEmpty || results.last?.error?.code == .idleTimedOut, results.count < 3 {
                let (listener, credentials) = try challenger(end, TestListener.discardInput)
                let idle = TransferContext(timeouts: Timeouts(idle: .milliseconds(600)), credentials: credentials)
                results.append(await transport.result(of: listener.request(), idle))
                #expect(listener.connections == 2 || results.last?.error != nil)
            }
            #expect(try results.last?.get().text == "in", "\(results)")
            #expect(transport.isQuiet)
        }
    }
}

/// Bytes in pieces. Each iterator starts at the first one.
private struct RepeatedPieces: AsyncSequence, Sendable {
    let data: Data

    func makeAsyncIterator() -> Iterator { Iterator(rest: data) }

    struct Iterator: AsyncIteratorProtocol {
        var rest: Data

        mutating func next() async -> Data? {
            if rest.isEmpty { return nil }
            defer { rest = rest.dropFirst(70_001) }
            return rest.prefix(70_001)
        }
    }
}
#endif
