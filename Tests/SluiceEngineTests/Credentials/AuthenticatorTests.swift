#if os(Linux)
import Foundation
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// The answers of a transfer to challenges, as a conversation. Each line is a response, followed by the credentials of the next
/// request.
@Suite struct AuthenticatorTests {
    private static let origin = HTTPOrigin(scheme: "http", authority: "a.test")

    /// A transfer and the protection spaces of its client.
    private final class Conversation {
        var authenticator: Authenticator
        let spaces: Locked<ProtectionSpaces>
        let message: AuthenticatedMessage

        init(
            _ methods: ChallengeCredentials.Methods = [.basic, .digest],
            target: AuthenticationCredentials.Target = .server(origin),
            message: AuthenticatedMessage = AuthenticatedMessage(method: "GET", uri: "/"),
            in spaces: Locked<ProtectionSpaces> = Locked(ProtectionSpaces())
        ) {
            let credentials = AuthenticationCredentials(target: target, user: "ada", password: "pw", methods: methods)
            authenticator = Authenticator(credentials, cnonce: { "c" })
            self.spaces = spaces
            self.message = message
        }

        /// Returns scheme, nonce and count of the next request's credentials; nil for none.
        func request() -> String? {
            guard let value = authenticator.fieldValue(for: message, in: spaces) else { return nil }
            if value == "Basic YWRhOnB3" { return "basic" }
            guard value.hasPrefix("Digest "), let parameters = AuthenticationChallenge.all(in: value).first else {
                return "?"
            }
            let algorithm = parameters["algorithm"].map { " \($0)" } ?? ""
            return "\(parameters["nonce"] ?? "") \(parameters["nc"] ?? "")\(algorithm)"
        }

        /// Handles a challenge. Returns true if the request is sent again.
        func challenge(_ fields: String...) -> Bool {
            var headers: HTTPHeaders = [:]
            for field in fields { headers.append(authenticator.credentials.challengeField, field) }
            let message = message
            return spaces.withLockUnchecked { spaces in
                authenticator.processChallenge(headers, to: message, in: &spaces) == .sendAgain
            }
        }

        func accept(_ info: String? = nil) {
            var headers: HTTPHeaders = [:]
            if let info { headers.append(authenticator.credentials.infoField, info) }
            let message = message
            spaces.withLockUnchecked { authenticator.recordAcceptance(headers, to: message, in: &$0) }
        }
    }

    /// Returns a transfer in which the server has accepted an answer with the nonce "n".
    private static func acceptedConversation() -> Conversation {
        let conversation = Conversation()
        _ = conversation.challenge(digest("n"))
        _ = conversation.request()
        conversation.accept()
        return conversation
    }

    private static func digest(_ nonce: String, realm: String = "r", _ more: String = "") -> String {
        #"Digest realm="\#(realm)", nonce="\#(nonce)", qop="auth"\#(more)"#
    }

    @Test func basicAloneIsSentWithoutAChallenge() {
        let transfer = Conversation(.basic)
        #expect(transfer.request() == "basic")
        #expect(!transfer.challenge(#"Basic realm="r""#))
        let next = Conversation(.basic, in: transfer.spaces)
        #expect(next.request() == "basic")
        next.accept()
        #expect(next.spaces.withLock { $0.count } == 0)
    }

    @Test func challengeDecidesBetweenBasicAndDigest() {
        for offers in [[#"Basic realm="r""#], [#"Bearer, Basic realm="r", Negotiate abc="#]] {
            let transfer = Conversation()
            #expect(transfer.request() == nil)
            #expect(transfer.challenge(offers[0]))
            #expect(transfer.request() == "basic")
            #expect(!transfer.challenge(offers[0]))
        }
        let transfer = Conversation()
        #expect(transfer.challenge(#"Basic realm="r", Digest realm="r", nonce="n", qop="auth""#))
        #expect(transfer.request() == "n 00000001")
    }

    @Test(
        arguments: [
            (["MD5", "SHA-256"], "SHA-256"), (["SHA-256", "MD5"], "SHA-256"), (["MD5", "SHA-1"], "MD5"),
            (["SHA-256", "SHA-512-256", "MD5"], "SHA-512-256"), (["SHA-256-sess", "SHA-256"], "SHA-256-sess"),
            (["MD5-sess"], "MD5-sess"),
        ] as [([String], String)]
    )
    func strongestAlgorithmIsAnswered(_ algorithms: [String], _ expected: String) {
        let fields = algorithms.map { Self.digest("n\($0)", ", algorithm=\($0)") }
        let inOne = Conversation()
        #expect(inOne.challenge(fields.joined(separator: ",")))
        #expect(inOne.request() == "n\(expected) 00000001 \(expected)")
        let inSeveral = Conversation()
        #expect(inSeveral.challenge(fields[0], fields.count > 1 ? fields[1] : "Basic", fields.last ?? ""))
        #expect(inSeveral.request() == "n\(expected) 00000001 \(expected)")
    }

    @Test(
        arguments: [
            (.digest, #"Basic realm="r""#), (.digest, "Bearer"), (.digest, ""),
            (.digest, #"Digest realm="r", nonce="n", algorithm=SHA-1"#), ([.basic, .digest], "Negotiate, NTLM"),
            (.digest, #"Digest realm="r", qop="auth""#), (.basic, #"Digest realm="r", nonce="n""#),
        ] as [(ChallengeCredentials.Methods, String)]
    )
    func challengeThatCannotBeAnsweredIsDelivered(_ methods: ChallengeCredentials.Methods, _ field: String) {
        let transfer = Conversation(methods)
        _ = transfer.request()
        #expect(!transfer.challenge(field))
        #expect(transfer.authenticator.answers == 0)
    }

    @Test func basicIsUsedIfTheDigestAlgorithmIsUnknown() {
        let transfer = Conversation()
        #expect(transfer.challenge(#"Digest realm="r", nonce="n", algorithm=SHA-1, Basic realm="r""#))
        #expect(transfer.request() == "basic")
    }

    @Test func refusedCredentialsAreNotSentAgain() {
        let transfer = Conversation()
        #expect(transfer.challenge(Self.digest("n")))
        #expect(transfer.request() == "n 00000001")
        #expect(!transfer.challenge(Self.digest("m")))
        #expect(transfer.spaces.withLock { $0.count } == 0)
    }

    @Test func refusedDigestIsNotFollowedByBasic() {
        let transfer = Conversation()
        #expect(transfer.challenge(Self.digest("n"), "Basic realm=r"))
        _ = transfer.request()
        #expect(!transfer.challenge(Self.digest("m"), "Basic realm=r"))
        let other = Conversation()
        #expect(other.challenge(Self.digest("n")))
        _ = other.request()
        #expect(!other.challenge("Basic realm=r"))
    }

    @Test func oldNonceMayBeFollowedByBasicOnce() {
        let first = Self.acceptedConversation()
        let next = Conversation(in: first.spaces)
        #expect(next.request() == "n 00000002")
        #expect(next.challenge("Basic realm=r"))
        #expect(next.request() == "basic")
        #expect(next.challenge(Self.digest("m")))
        #expect(next.request() == "m 00000001")
        #expect(!next.challenge("Basic realm=r"))
    }

    /// Realms are compared by their bytes: "é" as one or two scalars is equal as text.
    @Test func realmsWithOtherBytesAreOtherRealms() {
        let transfer = Conversation()
        #expect(transfer.challenge(Self.digest("n", realm: "\u{E9}")))
        _ = transfer.request()
        #expect(transfer.challenge(Self.digest("m", realm: "e\u{301}")))
        _ = transfer.request()
        #expect(!transfer.challenge(Self.digest("l", realm: "\u{E9}")))
    }

    @Test func staleNonceIsReplaced() {
        let transfer = Conversation()
        #expect(transfer.challenge(Self.digest("n")))
        #expect(transfer.request() == "n 00000001")
        #expect(transfer.challenge(Self.digest("m", ", stale=True")))
        #expect(transfer.request() == "m 00000001")
        #expect(!transfer.challenge(Self.digest("l", ", stale=false")))
    }

    @Test func atMostFourChallengesAreAnswered() {
        let transfer = Conversation()
        var count = 0
        while transfer.challenge(Self.digest("\(count)", ", stale=true")) {
            count += 1
            #expect(transfer.request() == "\(count - 1) 00000001")
            if count > 10 { break }
        }
        #expect(count == 4)
        #expect(transfer.authenticator.answers == 4)
    }

    @Test func challengeOfAnotherRealmIsAnswered() {
        let transfer = Conversation()
        #expect(transfer.challenge(Self.digest("n", realm: "a")))
        _ = transfer.request()
        #expect(transfer.challenge(Self.digest("m", realm: "b")))
        #expect(transfer.request() == "m 00000001")
        #expect(!transfer.challenge(Self.digest("l", realm: "a")))
    }

    @Test func knownNonceIsSentAtOnceWithIncreasingCount() {
        let first = Conversation()
        #expect(first.challenge(Self.digest("n")))
        _ = first.request()
        first.accept()
        for count in 2...3 {
            let next = Conversation(in: first.spaces)
            #expect(next.request() == "n 0000000\(count)")
            next.accept()
        }
    }

    @Test func refusedKnownNonceIsReplacedOnce() {
        let first = Self.acceptedConversation()
        let next = Conversation(in: first.spaces)
        #expect(next.request() == "n 00000002")
        // The server has restarted, and does not report the nonce as stale.
        #expect(next.challenge(Self.digest("m")))
        #expect(next.request() == "m 00000001")
        #expect(!next.challenge(Self.digest("l")))
        let last = Conversation(in: first.spaces)
        #expect(last.request() == nil)
    }

    @Test func repeatedChallengeWithTheRefusedNonceIsDelivered() {
        let first = Self.acceptedConversation()
        let next = Conversation(in: first.spaces)
        #expect(next.request() == "n 00000002")
        #expect(!next.challenge(Self.digest("n")))
    }

    @Test func nextNonceOfAResponseIsUsed() {
        let first = Conversation()
        _ = first.challenge(Self.digest("n"))
        _ = first.request()
        first.accept(#"rspauth="00", nextnonce="m, \"m\"", qop=auth"#)
        let next = Conversation(in: first.spaces)
        #expect(next.request() == "m, \"m\" 00000001")
        next.accept(#"nextnonce="""#)
        let third = Conversation(in: first.spaces)
        #expect(third.request() == "m, \"m\" 00000002")
        third.accept("nextnonce=\"\(String(repeating: "x", count: 8193))\"")
        let last = Conversation(in: first.spaces)
        #expect(last.request() == "m, \"m\" 00000003")
    }

    @Test func challengesOverTheLimitAreIgnored() {
        for scheme in ["Basic realm", "Digest nonce=n, realm"] {
            let field = { (length: Int) in "\(scheme)=\"\(String(repeating: "r", count: length))\"" }
            #expect(Conversation().challenge(field(8000)))
            #expect(!Conversation().challenge(field(8192)))
        }
    }

    @Test func acceptedBasicIsSentWithLaterRequests() {
        let first = Conversation()
        _ = first.challenge("Basic realm=r")
        #expect(first.request() == "basic")
        first.accept()
        let next = Conversation(in: first.spaces)
        #expect(next.request() == "basic")
        #expect(!next.challenge("Basic realm=r"))
        let last = Conversation(in: first.spaces)
        #expect(last.request() == nil)
    }

    @Test func serverCanChangeFromBasicToDigest() {
        let first = Conversation()
        _ = first.challenge("Basic realm=r")
        _ = first.request()
        first.accept()
        let next = Conversation(in: first.spaces)
        #expect(next.request() == "basic")
        #expect(next.challenge(Self.digest("n")))
        #expect(next.request() == "n 00000001")
        next.accept()
        let last = Conversation(in: first.spaces)
        #expect(last.request() == "n 00000002")
    }

    @Test func repeatedAttemptIncreasesTheNonceCount() {
        let transfer = Conversation()
        _ = transfer.challenge(Self.digest("n"))
        #expect(transfer.request() == "n 00000001")
        #expect(transfer.request() == "n 00000002")
        // The nonce has been used twice, so the count may be the reason.
        #expect(transfer.challenge(Self.digest("m")))
    }

    @Test func proxyChallengesUseProxyFields() {
        let message = AuthenticatedMessage(method: "CONNECT", uri: "a.test:443")
        let tunnel = Conversation(target: .proxy("http://p.test:3128"), message: message)
        #expect(tunnel.authenticator.credentials.challengeStatus == 407)
        #expect(tunnel.request() == nil)
        #expect(tunnel.challenge(Self.digest("n")))
        let value = tunnel.authenticator.fieldValue(for: message, in: tunnel.spaces)
        #expect(value?.contains(#"uri="a.test:443""#) == true)
        tunnel.accept(#"nextnonce="m""#)
        let other = AuthenticatedMessage(method: "CONNECT", uri: "b.test:443")
        let next = Conversation(target: .proxy("http://p.test:3128"), message: other, in: tunnel.spaces)
        #expect(next.request() == "m 00000001")
    }

    @Test func streamedBodyIsNotAnsweredWithAuthInt() throws {
        let stream = try UploadSource(RequestBody.stream(AsyncStream<Data> { $0.finish() }))
        let message = AuthenticatedMessage(method: "PUT", uri: "/", upload: stream)
        let transfer = Conversation(message: message)
        #expect(!transfer.challenge(#"Digest realm="r", nonce="n", qop="auth-int""#))
        #expect(transfer.challenge(#"Digest realm="r", nonce="n", qop="auth-int""#, Self.digest("m")))
        #expect(transfer.request() == "m 00000001")
    }

    @Test func digestAloneWaitsForAChallenge() {
        #expect(Conversation(.digest).authenticator.waitsForChallenge)
        #expect(!Conversation(.basic).authenticator.waitsForChallenge)
        let transfer = Conversation(.digest)
        _ = transfer.challenge(Self.digest("n"))
        #expect(!transfer.authenticator.waitsForChallenge)
    }

    @Test func realmThatIsNotUTF8IsNotAnswered() {
        var headers: HTTPHeaders = [:]
        headers.append(
            "WWW-Authenticate",
            value: FieldValue(bytes: Array(#"Digest nonce="n", realm=""#.utf8) + [0xE4, 0x22])
        )
        let transfer = Conversation()
        let decision = transfer.spaces.withLockUnchecked { spaces in
            transfer.authenticator.processChallenge(headers, to: transfer.message, in: &spaces)
        }
        #expect(decision == .deliver)
    }
}
#endif
