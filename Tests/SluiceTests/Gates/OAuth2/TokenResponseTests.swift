import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct TokenResponseTests {
    private static let date = Date(timeIntervalSince1970: 1000)

    private func read(_ body: String, _ status: HTTPStatus = .ok, secrets: [String] = []) -> Result<
        OAuth2.Token, OAuth2Error
    > {
        TokenResponse(status: status, body: Data(body.utf8), secrets: secrets).token(at: Self.date)
    }

    @Test(
        arguments: [
            (#"{"access_token":"a","token_type":"Bearer"}"#, nil, nil, nil),
            (#"{"access_token":"a","token_type":"bEARER","expires_in":3600}"#, 4600, nil, nil),
            (#"{"access_token":"a","token_type":"Bearer","expires_in":"3600"}"#, 4600, nil, nil),
            (#"{"access_token":"a","token_type":"Bearer","expires_in":0.5}"#, 1000.5, nil, nil),
            (#"{"access_token":"a","token_type":"Bearer","expires_in":0}"#, 1000, nil, nil),
            (#"{"access_token":"a","token_type":"Bearer","expires_in":-5}"#, 995, nil, nil),
            (#"{"access_token":"a","token_type":"Bearer","expires_in":1e300}"#, 3_000_001_000, nil, nil),
            (
                #"{"access_token":"a","token_type":"Bearer","expires_in":null,"refresh_token":null,"scope":null}"#, nil,
                nil, nil
            ),
            (#"{"access_token":"a","token_type":"Bearer","refresh_token":"r","scope":"x y"}"#, nil, "r", "x y"),
            (#"{"access_token":"a","token_type":"Bearer","refresh_token":"","scope":"","other":[1]}"#, nil, nil, nil),
            (#"{"access_token":"a","token_type":"Bearer","refresh_token":"r","scope":["x","y"]}"#, nil, "r", "x y"),
            (#"{"access_token":"a","token_type":"Bearer","refresh_token":"r","scope":[]}"#, nil, "r", nil),
            (#"{"access_token":"a","token_type":"Bearer","refresh_token":false,"scope":7}"#, nil, nil, nil),
            (#"{"access_token":"a","token_type":"Bearer","refresh_token":"r","expires_in":"soon"}"#, nil, "r", nil),
            (#"{"access_token":"a","token_type":"Bearer","refresh_token":"r","expires_in":true}"#, nil, "r", nil),
            (#"{"access_token":"a","token_type":"Bearer","expires_in":""}"#, nil, nil, nil),
        ] as [(String, Double?, String?, String?)]
    )
    func parsesToken(_ body: String, _ end: Double?, _ refresh: String?, _ scope: String?) throws {
        let token = try read(body).get()
        #expect(token.accessToken == "a")
        #expect(token.tokenType == "Bearer")
        #expect(token.expiresAt?.timeIntervalSince1970 == end)
        #expect(token.refreshToken == refresh)
        #expect(token.scope == scope)
    }

    @Test(arguments: [
        "", " ", "null", "[]", "7", "<html>Sign in</html>", #"{"access_token":"a","token_type":"Bearer""#,
        "access_token=a&token_type=bearer", "{}", #"{"token_type":"Bearer"}"#,
        #"{"access_token":"","token_type":"Bearer"}"#, #"{"access_token":7,"token_type":"Bearer"}"#,
        #"{"access_token":"a\r\nX: y","token_type":"Bearer"}"#, #"{"access_token":"a b","token_type":"Bearer"}"#,
        #"{"access_token":"ä","token_type":"Bearer"}"#, #"{"access_token":"a"}"#,
        #"{"access_token":"a","token_type":null}"#, #"{"access_token":"a","token_type":"mac"}"#,
        #"{"access_token":"a","token_type":["Bearer"]}"#,
        String(repeating: "[", count: 100_000), "\u{FEFF}\0",
    ])
    func rejectsInvalidResponse(_ body: String) {
        #expect(read(body).failure?.code == .invalidResponse)
    }

    @Test func acceptsMissingTypeIfAllowed() throws {
        let response = TokenResponse(status: .ok, body: Data(#"{"access_token":"a"}"#.utf8))
        #expect(try response.token(at: Self.date, acceptsMissingType: true).get().accessToken == "a")
    }

    @Test(arguments: [
        (
            #"{"error":"invalid_client","error_description":"No.","error_uri":"https://x.example/e"}"#, 401,
            "invalid_client"
        ),
        (#"{"error":"invalid_grant"}"#, 400, "invalid_grant"),
        // The form of GitHub's error responses.
        (#"{"error":"bad_verification_code"}"#, 200, "bad_verification_code"),
        (#"{"error":"invalid_grant","access_token":"a","token_type":"Bearer"}"#, 200, "invalid_grant"),
        (#"{"access_token":"a","token_type":"Bearer"}"#, 400, "invalidResponse"),
        (#"{"error":{"code":1}}"#, 400, "invalidResponse"), (#"{"error":""}"#, 400, "invalidResponse"),
        (#"{"error":"a\nb"}"#, 400, "invalidResponse"), ("<html>", 500, "invalidResponse"),
        ("", 502, "invalidResponse"),
        ("", 302, "invalidResponse"),
    ])
    func mapsErrorResponseToCode(_ body: String, _ status: Int, _ code: String) {
        let error = read(body, HTTPStatus(rawValue: status)).failure
        #expect(error?.code.rawValue == code)
        #expect(error?.status?.rawValue == status)
    }

    @Test func describesErrorResponse() {
        let body = #"{"error":"invalid_client","error_description":"Who is\nthis?","error_uri":"https://x.example/e"}"#
        let error = read(body, 401).failure
        #expect(error?.detail == "Who is this?")
        #expect(error?.uri == "https://x.example/e")
        #expect(
            error?.description
                == "The authorization server returned the error invalid_client, status 401 (Who is this?)."
        )
    }

    @Test(arguments: ["s3cret", "s3cret\u{301}", "as3crets3cretb"])
    func removesSecretsFromErrors(_ text: String) {
        let body =
            #"{"error":"invalid_grant","error_description":"Bad token \#(text)!","error_uri":"https://x/?\#(text)"}"#
        let error = read(body, 400, secrets: ["s3cret"]).failure
        let shown = "\(error.map { "\($0) \($0.detail ?? "") \($0.uri ?? "")" } ?? "")"
        #expect(shown.contains("Bad token"))
        #expect(!shown.utf8.contains(Array("s3cret".utf8)))
        let basic = #"{"error":"invalid_client","error_description":"bad header: Basic YXBwOnMzY3JldCUyMXg="}"#
        #expect(read(basic, 400).failure?.detail?.contains("YXBw") == false)
        let word = read(#"{"error":"s3cret"}"#, 400, secrets: ["s3cret"]).failure
        #expect(word?.code == .invalidResponse)
    }
}

extension Sequence where Element == UInt8 {
    fileprivate func contains(_ other: [UInt8]) -> Bool {
        let all = Array(self)
        return all.indices.contains { all[$0...].starts(with: other) }
    }
}
