#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// Tunnels through CONNECT, head by head.
@Suite struct ConnectHandshakeTests {
    /// Answers each challenge with its number.
    private struct Counting: ProxyAuthenticator {
        var count = 0
        var isPreemptive = false

        mutating func authorization(method: String, uri: String) -> String? {
            isPreemptive || count > 0 ? "Count \(method) \(uri) \(count)" : nil
        }

        mutating func answer(_ challenge: HTTPHeaders, method: String, uri: String) -> String? {
            count += 1
            return "Count \(challenge["Proxy-Authenticate"] ?? "") \(count)"
        }

        mutating func accept(_ headers: HTTPHeaders, method: String, uri: String) {}
    }

    private static let request = "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n"
    private static let challenge = "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"
    private static let opened = "HTTP/1.1 200 OK\r\n\r\n"

    private static func read(
        _ answers: [String],
        _ authenticator: (any ProxyAuthenticator)? = nil,
        pieces: Int? = nil,
        thenClose: Bool = false
    ) -> HandshakeReading {
        var handshake = ConnectHandshake(to: "a.test:443", authenticator: authenticator)
        return HandshakeReading(&handshake, answers.map { Array($0.utf8) }, pieces: pieces, thenClose: thenClose)
    }

    private static func basic(
        _ methods: ChallengeCredentials.Methods = .basic
    ) throws -> TunnelAuthenticator {
        let proxy = Proxy.http("p.test", user: "ada", password: "pw", methods: methods)
        return try #require(TunnelAuthenticator(proxy, in: Locked(ProtectionSpaces())))
    }

    private static func text(_ reading: HandshakeReading) -> [String] {
        reading.sent.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func requestHasHostPortAndCredentialsOnly() throws {
        let reading = Self.read([Self.opened])
        #expect(Self.text(reading) == ["\(Self.request)\r\n"])
        #expect(reading.last == .done)
        let known = Self.read([Self.opened], try Self.basic())
        #expect(Self.text(known) == ["\(Self.request)Proxy-Authorization: Basic YWRhOnB3\r\n\r\n"])
    }

    /// A response to a request without credentials, and the outcome.
    private static let answers: [(String, ProxyHandshakeAction)] = [
        (opened, .done),
        ("HTTP/1.0 200 Connection established\r\n\r\n", .done),
        ("HTTP/1.1 200\r\n\r\n", .done),
        ("HTTP/1.1 204 No Content\r\n\r\n", .done),
        ("HTTP/1.1 299 Odd\r\nX: y\r\n\r\n", .done),
        // RFC 9110 §9.3.6: both fields are to be ignored.
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", .done),
        ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", .done),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n\(opened)", .done),
        ("\(opened)x", .failed(.tunnel(.unexpectedData))),
        ("\(opened)HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .failed(.tunnel(.unexpectedData))),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", .failed(.tunnel(.unexpectedData))),
        ("HTTP/1.1 302 Found\r\nLocation: http://elsewhere.test/\r\n\r\n", .failed(.tunnel(.status(302)))),
        ("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\r\n", .failed(.tunnel(.status(401)))),
        ("HTTP/1.1 403 No\r\nContent-Length: 100000000\r\n\r\n", .failed(.tunnel(.status(403)))),
        ("HTTP/1.1 502 No\r\nTransfer-Encoding: chunked\r\n\r\n", .failed(.tunnel(.status(502)))),
        ("HTTP/1.1 999 ?\r\n\r\n", .failed(.tunnel(.status(999)))),
        ("\(challenge)\r\n", .failed(.tunnel(.credentialsRequired))),
        ("HTTP/1.1 101 Switching\r\n\r\n", .failed(.tunnel(.invalidHead))),
        ("HTTP/2 200 OK\r\n\r\n", .failed(.tunnel(.invalidHead))),
        ("\u{5}\u{0}", .failed(.tunnel(.invalidHead))),
        ("<html>no</html>", .failed(.tunnel(.invalidHead))),
        ("HTTP/1.1 200 OK\n\n", .failed(.tunnel(.invalidHead))),
        ("HTTP/1.1 200 OK\r\n folded\r\n\r\n", .failed(.tunnel(.invalidHead))),
        ("HTTP/1.1 403 No\r\nContent-Length: 1, 2\r\n\r\n", .failed(.tunnel(.invalidHead))),
        ("HTTP/1.1 200 OK\r\nX: y", .needsMore), ("HTTP/1.1 200 OK\r\n\r", .needsMore), ("HTT", .needsMore),
        ("HTTP/1.1 100 Continue\r\n\r\n", .needsMore),
    ]

    @Test(arguments: answers.indices)
    func responsesAreParsedInPiecesOfAnySize(_ index: Int) {
        let (answer, ending) = Self.answers[index]
        // Bytes after a head that arrive in a separate piece are detected on the connection, not here.
        let isWhole = ending == .failed(.tunnel(.unexpectedData))
        for pieces in isWhole ? [nil] : [nil, 1, 2, 3, 11] {
            #expect(Self.read([answer], pieces: pieces).last == ending, "\(pieces ?? 0)")
        }
    }

    @Test func everySplitOfAResponseGivesTheSameResult() {
        let answer = "HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nX-Proxy: 1\r\n\r\n"
        for cut in 1..<answer.utf8.count {
            var handshake = ConnectHandshake(to: "a.test:443", authenticator: nil)
            _ = handshake.begin()
            let first = Array(answer.utf8.prefix(cut)).withUnsafeBytes { handshake.receive($0) }
            #expect(first == .needsMore, "\(cut)")
            let second = Array(answer.utf8.dropFirst(cut)).withUnsafeBytes { handshake.receive($0) }
            #expect(second == .done, "\(cut)")
        }
    }

    @Test func headsAreLimited() {
        let field = "X: \(String(repeating: "y", count: 1000))\r\n"
        let long = "HTTP/1.1 200 OK\r\n" + String(repeating: field, count: 17)
        let line = "HTTP/1.1 200 OK\r\nX: \(String(repeating: "y", count: 20_000))"
        let early = String(repeating: "HTTP/1.1 103 Early\r\n\(field)\r\n", count: 17)
        let many = "HTTP/1.1 200 OK\r\n" + String(repeating: "a:\r\n", count: 1001)
        for text in [long, line, early, many] {
            for pieces in [nil, 1000] {
                let ending = Self.read([text], pieces: pieces).last
                #expect(ending == .failed(.tunnel(.headTooLarge)))
            }
        }
        let hundred = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 101)
        #expect(Self.read([hundred]).last == .failed(.tunnel(.invalidHead)))
    }

    @Test func closedConnectionFailsAtAnyByte() {
        for count in 0..<Self.opened.utf8.count {
            let answer = String(decoding: Self.opened.utf8.prefix(count), as: UTF8.self)
            let reading = Self.read([answer], thenClose: true)
            #expect(reading.last == .failed(.tunnel(.closed)), "\(count)")
        }
    }

    // MARK: Credentials

    @Test(
        arguments: [
            "Content-Length: 0\r\n\r\n", "Content-Length: 3\r\n\r\nwho",
            "Transfer-Encoding: chunked\r\n\r\n3\r\nwho\r\n0\r\nX: y\r\n\r\n",
        ]
    )
    func challengeIsAnsweredOnTheSameConnection(_ rest: String) {
        for pieces in [nil, 1, 2, 5] {
            let reading = Self.read([Self.challenge + rest, Self.opened], Counting(), pieces: pieces)
            #expect(
                Self.text(reading) == [
                    "\(Self.request)\r\n", "\(Self.request)Proxy-Authorization: Count Basic realm=\"x\" 1\r\n\r\n",
                ]
            )
            #expect(reading.last == .done)
        }
    }

    /// Challenges after which the connection cannot be reused, or is not worth reusing.
    @Test(
        arguments: [
            "\r\n", "Connection: close\r\nContent-Length: 3\r\n\r\nwho", "Transfer-Encoding: gzip\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\nnonsense\r\n", "Content-Length: 70000\r\n\r\n",
        ]
    )
    func unusableConnectionIsReplacedAfterAChallenge(_ rest: String) {
        var handshake = ConnectHandshake(to: "a.test:443", authenticator: Counting())
        let body = rest.contains("70000") ? String(repeating: "x", count: 66_000) : ""
        let isRefused = rest.contains("gzip")
        let first = HandshakeReading(&handshake, [Array((Self.challenge + rest + body).utf8)])
        #expect(first.last == (isRefused ? .failed(.tunnel(.invalidHead)) : .reconnect))
        if isRefused { return }
        let second = HandshakeReading(&handshake, [Array(Self.opened.utf8)])
        #expect(
            Self.text(second) == ["\(Self.request)Proxy-Authorization: Count Basic realm=\"x\" 1\r\n\r\n"]
        )
        #expect(second.last == .done)
    }

    @Test func closedConnectionAfterAChallengeIsReplaced() {
        for cut in ["Content-Length: 9\r\n\r\nwho", "Content-Length: 0\r\n\r\n"] {
            var handshake = ConnectHandshake(to: "a.test:443", authenticator: Counting())
            let first = HandshakeReading(&handshake, [Array((Self.challenge + cut).utf8)], thenClose: true)
            #expect(first.last == .reconnect)
            let second = HandshakeReading(&handshake, [], thenClose: true)
            #expect(Self.text(second)[0].contains("Proxy-Authorization: Count"))
            // On a new connection, it is not an answer.
            #expect(second.last == .failed(.tunnel(.closed)))
        }
    }

    @Test func numberOfChallengesIsLimited() {
        let emptyChallenge = "\(Self.challenge)Content-Length: 0\r\n\r\n"
        let reading = Self.read(Array(repeating: emptyChallenge, count: 10), Counting())
        #expect(reading.sent.count == 4)
        #expect(reading.last == .failed(.tunnel(.credentialsRejected)))
        var handshake = ConnectHandshake(to: "a.test:443", authenticator: Counting())
        var connections = 0
        var last = ProxyHandshakeAction.reconnect
        while last == .reconnect, connections < 20 {
            connections += 1
            last = HandshakeReading(&handshake, [Array("\(Self.challenge)\r\n".utf8)]).last
        }
        #expect(connections == 4)
        #expect(last == .failed(.tunnel(.credentialsRejected)))
    }

    @Test func bytesAfterAChallengeAreAFlaw() {
        let emptyChallenge = "\(Self.challenge)Content-Length: 0\r\n\r\n"
        #expect(Self.read([emptyChallenge + Self.opened], Counting()).last == .failed(.tunnel(.unexpectedData)))
    }

    @Test func basicIsSentOnce() throws {
        let emptyChallenge = "\(Self.challenge)Content-Length: 0\r\n\r\n"
        let alone = try Self.basic()
        let asked = Self.read([emptyChallenge, Self.opened], alone)
        #expect(asked.sent.count == 1)
        #expect(asked.last == .failed(.tunnel(.credentialsRejected)))
        let either = try Self.basic([.basic, .digest])
        let answered = Self.read([emptyChallenge, Self.opened], either)
        #expect(
            Self.text(answered) == [
                "\(Self.request)\r\n", "\(Self.request)Proxy-Authorization: Basic YWRhOnB3\r\n\r\n",
            ]
        )
        #expect(answered.last == .done)
        #expect(Self.read([emptyChallenge, emptyChallenge], either).last == .failed(.tunnel(.credentialsRejected)))
        let other = emptyChallenge.replacing("Basic", with: "Negotiate")
        #expect(Self.read([other], either).last == .failed(.tunnel(.noAcceptableMethod)))
    }

    @Test func everyFlawHasAnErrorText() {
        for (flaw, words) in [
            (.status(403), "refused it with status 403"), (.credentialsRequired, "requires credentials (407)"),
            (.credentialsRejected, "did not accept the credentials (407)"),
            (
                .noAcceptableMethod,
                "requires an authentication method that is not supported or not among the allowed ones (407)"
            ),
            (.closed, "closed the connection before the tunnel was established"),
            (.invalidHead, "sent a response that is not valid HTTP"),
            (.headTooLarge, "sent a response whose head exceeds the limit of 16384 bytes"),
            (.unexpectedData, "sent data after its response"),
        ] as [(ProxyError.Tunnel, String)] {
            let error = ProxyError.tunnel(flaw).error(to: "a.test:81", by: "the proxy at p.test:3128")
            #expect(error.code == .proxyFailed)
            #expect(
                error.reason
                    == "The connection to a.test:81 could not be established: the proxy at p.test:3128 \(words)."
            )
        }
    }
}
#endif
