import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

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
        ("Bearer err\u{E9}=x", "bearer; err; x"),
    ])
    func challengesAreRead(_ value: String, _ expected: String) {
        let challenges = AuthenticationChallenge.all(in: value).map { challenge in
            ([challenge.scheme] + challenge.parameters.map { "\($0.key)=\($0.value)" }.sorted()).joined(separator: " ")
        }
        // What is no challenge at all may pass for one without parameters.
        #expect(challenges.joined(separator: "; ") == expected)
    }

    @Test(
        arguments: [
            (401, [], true), (401, ["Bearer"], true), (401, [#"Bearer error="invalid_token""#], true),
            (401, [#"Bearer realm="x""#], true), (401, [#"Basic realm="x""#], true),
            (401, [#"Bearer error="insufficient_scope""#], false), (401, [#"Bearer error="invalid_request""#], false),
            (401, [#"Basic realm="x", Bearer error="invalid_request""#], false),
            (401, [#"Basic realm="x", error="invalid_request""#], true),
            (401, [#"Basic realm="x""#, #"Bearer error="invalid_token""#], true),
            (403, [#"Bearer error="invalid_token""#], false), (400, [#"Bearer error="invalid_token""#], false),
            (200, [], false),
        ] as [(Int, [String], Bool)]
    )
    func aRefusalIsOfTheToken(_ status: Int, _ fields: [String], _ expected: Bool) {
        let credential = Credential(.init(accessToken: "a"), version: 1, margin: .zero, at: Date())
        var request = HTTPRequest(scheme: "https", authority: "x.example", path: "/")
        request.headers[.authorization] = "Bearer a"
        var head = HTTPResponse(status: HTTPStatus(rawValue: status))
        for field in fields { head.headers.append("www-authenticate", field) }
        var response = ServerResponse(request: request, head: head, body: Data())
        #expect(credential.isRefused(by: response) == expected)
        response.request.headers[.authorization] = "Bearer b"
        #expect(!credential.isRefused(by: response))
        response.request.headers[.authorization] = nil
        #expect(!credential.isRefused(by: response))
    }
}
