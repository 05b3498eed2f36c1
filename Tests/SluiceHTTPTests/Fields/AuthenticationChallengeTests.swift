import SluiceHTTP
import Testing

/// Parsing of `WWW-Authenticate`.
@Suite struct AuthenticationChallengeTests {
    @Test(arguments: [
        ("", ""), (" , ,", ""), ("Bearer", "bearer"), ("bearer ,", "bearer"),
        (#"Bearer realm="x", error="invalid_token""#, "bearer error=invalid_token realm=x"),
        (
            #"Basic realm="a, Bearer b=\"c\"", Bearer error=invalid_token"#,
            #"basic realm=a, Bearer b="c"; bearer error=invalid_token"#
        ),
        (#"Negotiate YWJj==, Bearer ERROR = "x""#, "negotiate; bearer error=x"),
        (#"Bearer error="open"#, "bearer error=open"), (#"Bearer error="a\"#, #"bearer error=a\"#),
        ("Bearer error=", "bearer"), ("Bearer error=,realm=x", "bearer realm=x"),
        ("Bearer error=one, error=two", "bearer error=one"), ("error=x", ""), ("=\"=,;Bearer", "bearer"),
        ("Bearer err\u{E9}=x", "bearer; err; x"), ("Digest nonce=a/b==,qop=auth", "digest nonce=a/b== qop=auth"),
        ("Digest nonce==a, realm=b;c, x=y", "digest x=y"),
        ("Basic realm=\"a\",Digest nonce=b", "basic realm=a; digest nonce=b"),
    ])
    func challengesAreParsed(_ value: String, _ expected: String) {
        let challenges = AuthenticationChallenge.all(in: value).map { challenge in
            ([challenge.scheme] + challenge.parameters.map { "\($0.key)=\($0.value)" }.sorted()).joined(separator: " ")
        }
        // Arbitrary text may look like a challenge without parameters.
        #expect(challenges.joined(separator: "; ") == expected)
    }

    @Test func parametersWithoutASchemeAreParsed() {
        let info = AuthenticationChallenge.parameters(in: #"nextnonce="a, b=\"c\"",QOP=auth , nc=00000001"#)
        #expect(info == ["nextnonce": #"a, b="c""#, "qop": "auth", "nc": "00000001"])
        #expect(AuthenticationChallenge.parameters(in: "").isEmpty)
    }
}
