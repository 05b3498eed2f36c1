#if os(Linux)
import Foundation
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// Parsing of Digest challenges.
@Suite struct DigestChallengeTests {
    private func all(_ text: String) -> [DigestChallenge] {
        AuthenticationChallenge.all(in: text).compactMap(DigestChallenge.init)
    }

    @Test(arguments: [
        (#"Digest nonce="n""#, DigestHash.md5, false), (#"DIGEST Nonce=n,Algorithm=md5"#, .md5, false),
        (#"Digest nonce="n", algorithm="MD5-sess""#, .md5, true),
        (#"Digest algorithm=SHA-256,nonce="n""#, .sha256, false),
        (#"Digest algorithm=sha-256-SESS ,  nonce = "n""#, .sha256, true),
        (#"Digest algorithm=SHA-512-256, nonce="n""#, .sha512t256, false),
        (#"Digest algorithm=SHA-512-256-sess, nonce="n""#, .sha512t256, true),
    ])
    func supportedAlgorithmsAreParsed(_ text: String, _ hash: DigestHash, _ isSession: Bool) throws {
        let challenge = try #require(all(text).first)
        #expect(challenge.hash == hash)
        #expect(challenge.isSession == isSession)
        #expect(challenge.nonce == "n")
    }

    @Test(arguments: [
        "", "Digest", #"Digest realm="r""#, #"Basic realm="r", nonce="n""#, #"Digest nonce="n", algorithm=SHA-512"#,
        #"Digest nonce="n", algorithm="""#, #"Digest nonce="n", qop="auth-conf""#,
        #"Digest nonce="n", algorithm=token"#, "Digest nonce=\"a\u{7F}b\"", "Digest nonce=n, realm=\"a\u{1}b\"",
        "Digest nonce=n, opaque=\"a\tb\"", "Digest nonce=n, algorithm=\"MD5\u{301}\"",
        "Digest nonce=n, qop=\"auth\u{301}\"",
    ])
    func rejectsUnsupportedAndMalformedChallenges(_ text: String) {
        #expect(all(text).isEmpty)
    }

    @Test func textsThatAreNotASCIICoverNothing() throws {
        let text = "Digest nonce=n, qop=\"\u{E9}, AUTH\", domain=\"/caf\u{E9}/ /menu/\", stale=\"true\u{301}\""
        let challenge = try #require(all(text).first)
        #expect(challenge.protections == [.auth])
        #expect(challenge.domain == ["", "/menu/"])
        #expect(!challenge.isStale)
    }

    @Test(arguments: ["realm", "nonce", "opaque"])
    func rejectsValuesThatAreTooLongToBeSentBack(_ name: String) {
        func challenges(_ length: Int) -> Int {
            let values = ["realm": "r", "nonce": "n"].merging([name: String(repeating: "x", count: length)]) { $1 }
            return all("Digest " + values.map { "\($0)=\"\($1)\"" }.joined(separator: ", ")).count
        }
        #expect(challenges(8192) == 1)
        #expect(challenges(8193) == 0)
    }

    @Test(
        arguments: [
            ("", [.plain]), (#", qop="""#, [.plain]), (", qop=auth", [.auth]), (#", qop="auth-int""#, [.authInt]),
            (#", qop="auth,auth-int""#, [.auth, .authInt]), (#", qop=" AUTH ,, x , Auth-Int ""#, [.auth, .authInt]),
            (#", qop="auth-conf, auth""#, [.auth]),
        ] as [(String, Set<DigestChallenge.Protection>)]
    )
    func qopIsParsed(_ text: String, _ protections: Set<DigestChallenge.Protection>) {
        #expect(all(#"Digest realm="r", nonce="n"\#(text)"#).first?.protections == protections)
    }

    @Test func otherParametersAreParsedInAnyCase() throws {
        let challenge = try #require(
            all(
                """
                Digest realm="a, \\"b\\"", domain="/a  /b http://x.test/c", nonce=bm9uY2U==, opaque="o", \
                stale=TRUE, qop=auth,userhash=True,charset=utf-8, auth-param="x"
                """
            ).first
        )
        #expect(challenge.realm == #"a, "b""#)
        #expect(challenge.nonce == "bm9uY2U==")
        #expect(challenge.opaque == "o")
        #expect(challenge.isStale && challenge.hashesUser && challenge.isUTF8)
        #expect(challenge.domain == ["/a", "/b", "http://x.test/c"])
        let plain = try #require(all(#"Digest nonce="n", stale=maybe, userhash=false, charset=latin1"#).first)
        #expect(!plain.isStale && !plain.hashesUser && !plain.isUTF8)
        #expect(plain.realm.isEmpty)
        #expect(plain.domain.isEmpty)
        #expect(plain.algorithm == nil)
    }

    @Test func severalChallengesInOneFieldAreParsed() {
        let text =
            #"Basic realm="a, Digest nonce=\"x\"", Digest realm="b",nonce="1", Bearer, Digest nonce="2", qop=auth"#
        #expect(all(text).map(\.nonce) == ["1", "2"])
        #expect(all(text).map(\.realm) == ["b", ""])
    }

    @Test func streamedBodyIsNotProtectedByAuthInt() throws {
        let stream = try UploadSource(RequestBody.stream(AsyncStream<Data> { $0.finish() }))
        let data = UploadSource.data(Data("x".utf8))
        for (offer, forStream) in [
            ("auth", DigestChallenge.Protection.auth), ("auth,auth-int", .auth), ("auth-int", nil),
        ] {
            let challenge = try #require(all(#"Digest nonce="n", qop="\#(offer)""#).first)
            #expect(challenge.protection(for: stream) == forStream)
            for upload in [data, .none] {
                #expect(challenge.protection(for: upload) == (offer == "auth-int" ? .authInt : .auth))
            }
        }
    }

    @Test func hashesAreOrderedByStrengthAndWrittenInLowercase() {
        #expect(DigestHash.allCases.sorted() == [.md5, .sha256, .sha512t256])
        #expect(DigestHash.allCases.allSatisfy { $0.isAvailable })
        #expect(DigestHash.md5.hex(of: "") == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(
            DigestHash.sha256.hex(of: "") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
        #expect(
            DigestHash.sha512t256.hex(of: "") == "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"
        )
    }
}
#endif
