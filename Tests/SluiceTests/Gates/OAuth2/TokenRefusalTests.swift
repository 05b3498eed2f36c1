import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct TokenRefusalTests {
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
    func detectsRefusalOfOwnToken(_ status: Int, _ fields: [String], _ expected: Bool) {
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
