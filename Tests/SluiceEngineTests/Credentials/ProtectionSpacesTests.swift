#if os(Linux)
import Foundation
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// Protection spaces, in which credentials are sent without waiting for a challenge.
@Suite struct ProtectionSpacesTests {
    private static let origin = HTTPOrigin(scheme: "http", authority: "a.test")
    private let ada = ProtectionSpacesTests.credentials()

    private static func credentials(
        _ user: String = "ada",
        password: String = "pw",
        target: AuthenticationCredentials.Target = .server(origin)
    ) -> AuthenticationCredentials {
        AuthenticationCredentials(target: target, user: user, password: password, methods: [.basic, .digest])
    }

    private func challenge(_ text: String) throws -> DigestChallenge {
        try #require(AuthenticationChallenge.all(in: "Digest \(text)").lazy.compactMap(DigestChallenge.init).first)
    }

    private func get(_ path: String) -> AuthenticatedMessage { AuthenticatedMessage(method: "GET", uri: path) }

    private func known(
        _ spaces: inout ProtectionSpaces,
        _ path: String,
        _ credentials: AuthenticationCredentials? = nil
    ) -> String? {
        switch spaces.known(credentials ?? ada, for: get(path), cnonce: { "c" }) {
        case nil: nil
        case .basic(let realm): "basic \(realm)"
        case .digest(let answer): "\(answer.challenge.realm) \(answer.nonce) \(answer.count)"
        }
    }

    /// Answers a challenge to a path, and marks the answer as accepted.
    private func acceptAnswer(
        _ spaces: inout ProtectionSpaces,
        _ text: String,
        at path: String = "/",
        _ credentials: AuthenticationCredentials? = nil
    ) throws {
        let answer = spaces.answer(
            try challenge(text),
            as: credentials ?? ada,
            to: get(path),
            cnonce: { "c" }
        )
        spaces.accept(answer)
    }

    @Test func nonceIsKnownAfterItsAnswerWasAccepted() throws {
        var spaces = ProtectionSpaces()
        #expect(known(&spaces, "/") == nil)
        let challenge = try challenge(#"realm="r", nonce="n""#)
        let answer = spaces.answer(challenge, as: ada, to: get("/"), cnonce: { "c" })
        #expect(answer.count == 1)
        #expect(known(&spaces, "/") == nil)
        spaces.accept(answer)
        #expect(known(&spaces, "/") == "r n 2")
        #expect(known(&spaces, "/other?x=1") == "r n 3")
        spaces.refuse(answer)
        #expect(known(&spaces, "/") == nil)
        #expect(spaces.count == 0)
    }

    @Test func requestsWithOneNonceHaveDifferentCounts() throws {
        var spaces = ProtectionSpaces()
        let challenge = try challenge(#"realm="r", nonce="n", qop=auth"#)
        let counts = (0..<3).map { _ in spaces.answer(challenge, as: ada, to: get("/"), cnonce: { "c" }).count }
        #expect(counts == [1, 2, 3])
        let next = try self.challenge(#"realm="r", nonce="m", qop=auth"#)
        #expect(spaces.answer(next, as: ada, to: get("/"), cnonce: { "c" }).count == 1)
        // A transfer that used the older nonce continues its count.
        #expect(spaces.answer(challenge, as: ada, to: get("/"), after: 2, cnonce: { "c" }).count == 4)
        #expect(spaces.answer(next, as: ada, to: get("/"), after: 5, cnonce: { "c" }).count == 6)
    }

    @Test func anotherNonceIsUsedOnceItIsAccepted() throws {
        var spaces = ProtectionSpaces()
        try acceptAnswer(&spaces, #"realm="r", nonce="n""#)
        let challenge = try challenge(#"realm="r", nonce="m""#)
        let next = spaces.answer(challenge, as: ada, to: get("/"), cnonce: { "c" })
        #expect(next.count == 1)
        // Other requests go on with the nonce that was accepted.
        #expect(known(&spaces, "/") == "r n 2")
        #expect(spaces.answer(challenge, as: ada, to: get("/"), cnonce: { "c" }).count == 2)
        spaces.accept(next)
        #expect(known(&spaces, "/") == "r m 3")
        #expect(spaces.count == 1)
    }

    @Test func refusedNonceRemovesTheAcceptedOne() throws {
        var spaces = ProtectionSpaces()
        try acceptAnswer(&spaces, #"realm="r", nonce="n""#)
        spaces.refuse(spaces.answer(try challenge(#"realm="r", nonce="m""#), as: ada, to: get("/"), cnonce: { "c" }))
        #expect(known(&spaces, "/") == nil)
    }

    /// Each of many concurrent requests receives a nonce of its own.
    @Test(arguments: [false, true])
    func firstAcceptedNonceOfManyIsUsed(_ isKnown: Bool) throws {
        var spaces = ProtectionSpaces()
        if isKnown { try acceptAnswer(&spaces, #"realm="r", nonce="old""#) }
        let answers = try (0..<3).map { index in
            spaces.answer(try challenge("realm=\"r\", nonce=\"n\(index)\""), as: ada, to: get("/"), cnonce: { "c" })
        }
        #expect(answers.map(\.count) == [1, 1, 1])
        #expect(known(&spaces, "/") == (isKnown ? "r old 2" : nil))
        spaces.accept(answers[1])
        #expect(known(&spaces, "/") == "r n1 2")
        // An earlier nonce is not taken up again.
        spaces.accept(answers[0])
        #expect(known(&spaces, "/") == "r n1 3")
        spaces.accept(answers[2])
        #expect(known(&spaces, "/") == "r n2 2")
    }

    @Test func numberOfPendingNoncesIsLimited() throws {
        var spaces = ProtectionSpaces()
        let answers = try (0..<100).map { index in
            spaces.answer(try challenge("realm=\"r\", nonce=\"n\(index)\""), as: ada, to: get("/"), cnonce: { "c" })
        }
        spaces.accept(answers[67])
        #expect(known(&spaces, "/") == nil)
        spaces.accept(answers[68])
        #expect(known(&spaces, "/") == "r n68 2")
    }

    @Test func nextNonceIsCountedFromOne() throws {
        var spaces = ProtectionSpaces()
        let challenge = try challenge(#"realm="r", nonce="n""#)
        let answer = spaces.answer(challenge, as: ada, to: get("/"), cnonce: { "c" })
        spaces.accept(answer, nextNonce: "m")
        #expect(known(&spaces, "/") == "r m 1")
        #expect(known(&spaces, "/") == "r m 2")
        // A response to a request with the first nonce arrives late.
        spaces.accept(answer, nextNonce: "l")
        spaces.refuse(answer)
        #expect(known(&spaces, "/") == "r m 3")
    }

    @Test func usersPasswordsAndOriginsAreSeparate() throws {
        var spaces = ProtectionSpaces()
        try acceptAnswer(&spaces, #"realm="r", nonce="n""#)
        let others = [
            Self.credentials("eve"), Self.credentials(password: "other"),
            Self.credentials(target: .server(HTTPOrigin(scheme: "https", authority: "a.test"))),
            Self.credentials(target: .server(HTTPOrigin(scheme: "http", authority: "a.test:81"))),
            Self.credentials(target: .proxy("http://a.test")),
            AuthenticationCredentials(target: ada.target, user: "ada", password: "pw", methods: .digest),
        ]
        for other in others { #expect(known(&spaces, "/", other) == nil) }
        #expect(known(&spaces, "/") == "r n 2")
    }

    @Test(arguments: [
        ("", ["/", "/x/y", "/x?q=/a"], []), ("/a", ["/a", "/a/b", "/a?x"], ["/", "/ab", "/A", "/b/a"]),
        ("/a/", ["/a/", "/a/b"], ["/a", "/ab"]),
        ("/a /b/c?d", ["/a", "/b/c", "/b/c/e"], ["/b", "/c", "/b/cd"]),
        ("http://a.test/a HTTP://A.test:80/b", ["/a", "/b"], ["/"]), ("http://a.test", ["/", "/any"], []),
        ("/a/ /a/../b", ["/a/b"], ["/a/../c", "/a/%2E%2e/c", "/a/x/.%2e/../c"]),
        // URLs of other origins are ignored. The space is then the path of the request.
        ("https://a.test/ http://b.test/ //a.test/ mailto:x ../x", ["/here", "/here/x"], ["/", "/hereby"]),
    ])
    func domainDecidesTheProtectedPaths(_ domain: String, _ inside: [String], _ outside: [String]) throws {
        var spaces = ProtectionSpaces()
        try acceptAnswer(&spaces, #"realm="r", nonce="n", domain="\#(domain)""#, at: "/here?now")
        for path in inside { #expect(known(&spaces, path) != nil, "\(path)") }
        for path in outside { #expect(known(&spaces, path) == nil, "\(path)") }
    }

    @Test func mostSpecificSpaceIsUsed() throws {
        var spaces = ProtectionSpaces()
        try acceptAnswer(&spaces, #"realm="inner", nonce="i", domain="/a/b""#)
        try acceptAnswer(&spaces, #"realm="outer", nonce="o""#)
        #expect(known(&spaces, "/a/b/c") == "inner i 2")
        #expect(known(&spaces, "/a/c") == "outer o 2")
        #expect(known(&spaces, "/a/b/../c") == "outer o 3")
        // Of two spaces of the same size, the one that was added last.
        try acceptAnswer(&spaces, #"realm="third", nonce="t""#)
        #expect(known(&spaces, "/") == "third t 2")
    }

    @Test func proxyIsOneSpace() throws {
        var spaces = ProtectionSpaces()
        let proxy = Self.credentials(target: .proxy("http://p.test:3128"))
        let connect = AuthenticatedMessage(method: "CONNECT", uri: "x.test:443")
        let challenge = try challenge(#"realm="p", nonce="n", domain="/only""#)
        spaces.accept(spaces.answer(challenge, as: proxy, to: connect, cnonce: { "c" }))
        #expect(known(&spaces, "http://other.test/a", proxy) == "p n 2")
        spaces.acceptBasic(realm: "b", proxy, for: connect)
        #expect(spaces.count == 2)
    }

    @Test func basicAppliesToTheFolderAndBelow() {
        var spaces = ProtectionSpaces()
        spaces.acceptBasic(realm: "r", ada, for: get("/a/b/c.html?x=/y/"))
        for path in ["/a/b/", "/a/b/d", "/a/b/d/e?f"] { #expect(known(&spaces, path) == "basic r", "\(path)") }
        for path in ["/", "/a/", "/a/b", "/a/bc", "/a/b/../c"] { #expect(known(&spaces, path) == nil, "\(path)") }
        spaces.acceptBasic(realm: "r", ada, for: get("/x/y"))
        #expect(known(&spaces, "/x/z") == "basic r")
        #expect(known(&spaces, "/a/b/d") == "basic r")
        spaces.acceptBasic(realm: "r", ada, for: get("/a"))
        #expect(known(&spaces, "/anything/../at/all") == "basic r")
        #expect(spaces.count == 1)
        spaces.refuseBasic(realm: "other", ada)
        #expect(known(&spaces, "/") == "basic r")
        spaces.refuseBasic(realm: "r", ada)
        #expect(known(&spaces, "/") == nil)
    }

    @Test func numberOfPathsIsLimited() {
        var spaces = ProtectionSpaces()
        for index in 0..<100 { spaces.acceptBasic(realm: "r", ada, for: get("/\(index)/")) }
        let kept = (0..<100).filter { known(&spaces, "/\($0)/") != nil }
        #expect(kept == Array(84..<100))
    }

    @Test func leastRecentlyUsedSpaceIsRemovedFirst() throws {
        var spaces = ProtectionSpaces(limit: 3)
        let users = ["a", "b", "c", "d"].map { Self.credentials($0) }
        for user in users.prefix(3) { try acceptAnswer(&spaces, #"realm="r", nonce="n""#, user) }
        #expect(known(&spaces, "/", users[0]) != nil)
        try acceptAnswer(&spaces, #"realm="r", nonce="n""#, users[3])
        #expect(spaces.count == 3)
        #expect(users.map { known(&spaces, "/", $0) != nil } == [true, false, true, true])
    }

    @Test func numberOfSpacesIsLimited() throws {
        var spaces = ProtectionSpaces()
        for index in 0..<2000 { try acceptAnswer(&spaces, #"realm="\#(index)", nonce="n", domain="/\#(index)""#) }
        #expect(spaces.count == 256)
        #expect(known(&spaces, "/1999") == "1999 n 2")
        #expect(known(&spaces, "/1743") == nil)
    }

    @Test func spaceWithAuthIntIsNotUsedForAStreamedBody() throws {
        var spaces = ProtectionSpaces()
        try acceptAnswer(&spaces, #"realm="r", nonce="n", qop=auth-int"#)
        let stream = try UploadSource(RequestBody.stream(AsyncStream<Data> { $0.finish() }))
        let message = AuthenticatedMessage(method: "PUT", uri: "/", upload: stream)
        #expect(spaces.known(ada, for: message, cnonce: { "c" }) == nil)
        #expect(known(&spaces, "/") == "r n 2")
    }
}
#endif
