#if os(Linux)
import Foundation
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// Digest answers, compared with the examples of the standards and with values computed by Python's `hashlib`.
@Suite struct DigestAnswerTests {
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    private static let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"

    private static func challenge(_ text: String) throws -> DigestChallenge {
        try #require(AuthenticationChallenge.all(in: text).lazy.compactMap(DigestChallenge.init).first)
    }

    private static func credentials(_ user: String, _ password: String) -> AuthenticationCredentials {
        let origin = HTTPOrigin(scheme: "http", authority: "www.example.org")
        return AuthenticationCredentials(target: .server(origin), user: user, password: password, methods: .digest)
    }

    /// Returns the field value for the first nonce of a challenge.
    private static func value(
        _ challenge: String,
        user: String = "Mufasa",
        password: String = "Circle of Life",
        uri: String = "/dir/index.html",
        cnonce: String = DigestAnswerTests.cnonce,
        count: UInt32 = 1,
        upload: UploadSource = .none
    ) throws -> String {
        var session = DigestSession(try Self.challenge(challenge))
        session.raise(to: count - 1)
        let answer = session.answer(as: credentials(user, password)) { cnonce }
        return try #require(answer.fieldValue(for: AuthenticatedMessage(method: "GET", uri: uri, upload: upload)))
    }

    /// RFC 7616 §3.9.1.
    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func firstExampleOfTheStandardIsAnswered(_ algorithm: String, _ response: String) throws {
        let value = try Self.value(
            """
            Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), \
            nonce="\(Self.nonce)", opaque="\(Self.opaque)"
            """
        )
        #expect(
            value == """
                Digest username="Mufasa", realm="http-auth@example.org", nonce="\(Self.nonce)", \
                uri="/dir/index.html", response="\(response)", algorithm=\(algorithm), cnonce="\(Self.cnonce)", \
                opaque="\(Self.opaque)", qop=auth, nc=00000001
                """
        )
    }

    /// RFC 7616 §3.9.2 with the values of erratum 4897. The values in the RFC are a truncated SHA-512.
    @Test func exampleWithAHashedUserNameIsAnswered() throws {
        let nonce = "5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK"
        let opaque = "HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS"
        let value = try Self.value(
            """
            Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="\(nonce)", \
            opaque="\(opaque)", charset=UTF-8, userhash=true
            """,
            user: "J\u{E4}s\u{F8}n Doe",
            password: "Secret, or not?",
            uri: "/doe.json",
            cnonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"
        )
        #expect(
            value == """
                Digest username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b", \
                realm="api@example.org", nonce="\(nonce)", uri="/doe.json", \
                response="3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5", \
                algorithm=SHA-512-256, cnonce="NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", \
                opaque="\(opaque)", qop=auth, nc=00000001, userhash=true
                """
        )
    }

    /// RFC 2617 §3.5.
    @Test func exampleOfRFC2617IsAnswered() throws {
        let value = try Self.value(
            """
            Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
            opaque="5ccc069c403ebaf9f0171e9517f40e41"
            """,
            password: "Circle Of Life",
            cnonce: "0a4f113b"
        )
        #expect(
            value == """
                Digest username="Mufasa", realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
                uri="/dir/index.html", response="6629fae49393a05397450978507c4ef1", cnonce="0a4f113b", \
                opaque="5ccc069c403ebaf9f0171e9517f40e41", qop=auth, nc=00000001
                """
        )
    }

    /// RFC 2069 §2.4, with the erratum 749.
    @Test func answerWithoutQopHasNoCountAndNoClientNonce() throws {
        let value = try Self.value(
            #"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#,
            password: "CircleOfLife"
        )
        #expect(
            value == """
                Digest username="Mufasa", realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
                uri="/dir/index.html", response="1949323746fe6a43ef61f9606e7febea"
                """
        )
    }

    @Test(arguments: [
        ("MD5", "auth-int", "f0754568ad01aa45a20d03b0fd4cdfd7"),
        ("SHA-256", "auth-int", "aa440a49ae41e1166233af4ce6ddfd50f9fd61b4b4ad5186dae9b697c6682d94"),
        ("SHA-512-256", "auth-int", "b7ad1b221abfd37535bce4c29f909849a4e99ef9db692494b665cd191e195e7c"),
        ("MD5-sess", "auth", "e783283f46242139c486a698fec7211d"),
        ("MD5-sess", "auth-int", "a85a2a0cca39ef74a2a842eb9ad3f76d"),
        ("SHA-256-sess", "auth", "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7"),
        ("SHA-256-sess", "auth-int", "109e4eb52ad5192557c3bc8d9bf8ba950dbde69506c66ba9d9342f182cbec7f9"),
        ("SHA-512-256", "auth", "430d05014cecc49cab6fbe03176d41a1da86cbfe24a16580e22aaad928d960d0"),
        ("SHA-512-256-sess", "auth", "3f2a34f923c38b0fb26dce2fdfc2ce326c23cecf86fbb1444f3e51fbbc2cb92e"),
        ("SHA-512-256-sess", "auth-int", "8f1330b4bc61775d8764c0e295864ddd53ab6d28cbb7e392902ebd36d8cc1269"),
    ])
    func everyAlgorithmIsAnswered(_ algorithm: String, _ quality: String, _ response: String) throws {
        let value = try Self.value(
            #"Digest realm="http-auth@example.org", qop="\#(quality)", algorithm=\#(algorithm), nonce="\#(Self.nonce)""#,
            upload: .data(Data("content".utf8))
        )
        #expect(value.contains(#", response="\#(response)","#))
        #expect(value.hasSuffix(", qop=\(quality), nc=00000001"))
    }

    @Test func nonceCountHasEightHexadecimalDigits() throws {
        let challenge = #"Digest realm="http-auth@example.org", qop="auth", nonce="\#(Self.nonce)""#
        let second = try Self.value(challenge, count: 2)
        #expect(second.contains(#"response="4b5d595ecf2db9df612ea5b45cd97101""#))
        #expect(second.hasSuffix(", nc=00000002"))
        #expect(try Self.value(challenge, count: 0xABC_DEF0).hasSuffix(", nc=0abcdef0"))
    }

    @Test func textsAreQuotedAndHashedWithoutEscapes() throws {
        let value = try Self.value(
            #"Digest realm="a \"b\" \\ c", nonce="n\"", opaque="\\", qop=auth"#,
            user: #"x"\y"#,
            uri: "/\"",
            cnonce: "c"
        )
        #expect(value.hasPrefix(#"Digest username="x\"\\y", realm="a \"b\" \\ c", nonce="n\"", uri="/\"", "#))
        #expect(value.contains(#"opaque="\\""#))
        let plain = #"x"\y:a "b" \ c:Circle of Life"#
        let digestOfA1 = try #require(DigestHash.md5.hex(of: plain))
        let digestOfA2 = try #require(DigestHash.md5.hex(of: "GET:/\""))
        let response = try #require(DigestHash.md5.hex(of: "\(digestOfA1):n\":00000001:c:auth:\(digestOfA2)"))
        #expect(value.contains(#"response="\#(response)""#))
    }

    @Test func userNameBeyondASCIIIsEncodedUnderUTF8() throws {
        let plain = #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#
        let user = "J\u{E4}s\u{F8}n Doe"
        let old = try Self.value(plain, user: user, password: "p\u{E4}ssword", uri: "/", cnonce: "c")
        #expect(old.hasPrefix("Digest username=\"J\u{E4}s\u{F8}n Doe\", "))
        let new = try Self.value(
            "\(plain), charset=utf-8",
            user: user,
            password: "p\u{E4}ssword",
            uri: "/",
            cnonce: "c"
        )
        #expect(new.hasPrefix("Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, realm"))
        for value in [old, new] {
            #expect(value.contains("7fd3771568dba2970beed2b7d9a5ecd50603423964c84338204cc7961ad1fd17"))
        }
        #expect(try Self.value("\(plain), charset=UTF-8", user: "plain").hasPrefix(#"Digest username="plain", "#))
        let odd = try Self.value("\(plain), charset=UTF-8", user: "\u{E4}'*%(.~")
        #expect(odd.hasPrefix("Digest username*=UTF-8''%C3%A4%27%2A%25%28.~, "))
    }

    @Test func streamedAndLargeBodiesAreNotHashed() throws {
        let challenge = try Self.challenge(#"Digest realm="r", nonce="n", qop="auth-int""#)
        let answer = DigestAnswer(
            challenge: challenge,
            credentials: Self.credentials("a", "b"),
            nonce: "n",
            count: 1,
            cnonce: "c"
        )
        let stream = RequestBody.stream(AsyncStream<Data> { $0.finish() })
        let streamed = AuthenticatedMessage(method: "PUT", uri: "/", upload: try UploadSource(stream))
        #expect(answer.fieldValue(for: streamed) == nil)
        let large = Data(count: DigestChallenge.maximumHashedBody + 1)
        #expect(answer.fieldValue(for: AuthenticatedMessage(method: "PUT", uri: "/", upload: .data(large))) == nil)
        let allowed = AuthenticatedMessage(method: "PUT", uri: "/", upload: .data(large.dropLast()))
        #expect(answer.fieldValue(for: allowed) != nil)
    }

    @Test func sessionKeepsItsKeyWhenTheNonceChanges() throws {
        let challenge = try Self.challenge(#"Digest realm="r", nonce="n", qop="auth", algorithm=MD5-sess"#)
        var session = DigestSession(challenge)
        var made = 0
        let cnonce = {
            made += 1
            return "c\(made)"
        }
        let credentials = Self.credentials("a", "b")
        let first = session.answer(as: credentials, cnonce: cnonce)
        let second = session.answer(as: credentials, cnonce: cnonce)
        session.replaceNonce(with: "m")
        let third = session.answer(as: credentials, cnonce: cnonce)
        #expect([first, second, third].map(\.nonce) == ["n", "n", "m"])
        #expect([first, second, third].map(\.count) == [1, 2, 1])
        #expect([first, second, third].map(\.cnonce) == ["c1", "c1", "c1"])
        let key = try #require(DigestHash.md5.hex(of: "a:r:b").flatMap { DigestHash.md5.hex(of: "\($0):n:c1") })
        let digestOfA2 = try #require(DigestHash.md5.hex(of: "GET:/"))
        let response = try #require(DigestHash.md5.hex(of: "\(key):m:00000001:c1:auth:\(digestOfA2)"))
        let value = third.fieldValue(for: AuthenticatedMessage(method: "GET", uri: "/"))
        #expect(value?.contains(#"response="\#(response)""#) == true)
    }

    @Test func answersWithoutASessionHaveDifferentClientNonces() throws {
        var session = DigestSession(try Self.challenge(#"Digest realm="r", nonce="n", qop="auth""#))
        let answers = (0..<3).map { _ in
            session.answer(as: Self.credentials("a", "b"), cnonce: Authenticator.randomNonce)
        }
        #expect(Set(answers.map(\.cnonce)).count == 3)
        #expect(answers.allSatisfy { $0.cnonce.utf8.count == 32 })
        session.replaceNonce(with: "n")
        #expect(session.answer(as: Self.credentials("a", "b"), cnonce: { "" }).count == 4)
    }

    @Test func descriptionContainsNoPassword() throws {
        let session = DigestSession(try Self.challenge(#"Digest realm="r", nonce="n""#))
        var copy = session
        let answer = copy.answer(as: Self.credentials("ada", "hidden"), cnonce: { "c" })
        var text = "\(answer)"
        dump(answer, to: &text)
        #expect(text.contains("ada"))
        #expect(!text.contains("hidden"))
    }
}
#endif
