import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct AuthorizationRequestTests {
    private func gate(_ url: String = "https://id.example/authorize?tenant=7", scope: String? = "read write") -> OAuth2
    {
        OAuth2(
            .authorizationCode(
                id: "app",
                authorizationURL: url,
                redirectURL: "https://app.example/back?x=1&y",
                scope: scope,
                issuer: "https://id.example",
                parameters: ["prompt": "consent", "resource": ["a", "b"], "state": "mine"]
            ),
            tokenURL: "https://id.example/token"
        ) {
            $0.randomBytes = { [UInt8](repeating: 255, count: $0) }
        }
    }

    @Test func encodesAllParametersInURL() throws {
        let request = try gate().authorizationRequest(parameters: ["login_hint": "a b&c"])
        let random = String(repeating: "_", count: 42) + "8"
        #expect(request.state == random)
        #expect(request.verifier == random)
        let challenge = ProofKey(verifier: random).challenge ?? ""
        #expect(
            request.url == "https://id.example/authorize?tenant=7&client_id=app&code_challenge=\(challenge)"
                + "&code_challenge_method=S256&login_hint=a%20b%26c&prompt=consent"
                + "&redirect_uri=https%3A%2F%2Fapp.example%2Fback%3Fx%3D1%26y&resource=a&resource=b&response_type=code"
                + "&scope=read%20write&state=\(random)"
        )
    }

    @Test func stateAndVerifierAreRandomWith43Characters() throws {
        let oauth = OAuth2(
            .authorizationCode(id: "a", authorizationURL: "https://x.example/", redirectURL: "app:/back"),
            tokenURL: "https://x.example/token"
        )
        let requests = try (0..<20).map { _ in try oauth.authorizationRequest() }
        #expect(Set(requests.map(\.state)).union(requests.map(\.verifier)).count == 40)
        #expect(requests.allSatisfy { $0.verifier.utf8.count == 43 && $0.state.utf8.count == 43 })
    }

    @Test func roundTripsThroughJSONAndHidesVerifier() throws {
        let request = try gate().authorizationRequest()
        let kept = try JSONDecoder().decode(OAuth2.AuthorizationRequest.self, from: JSONEncoder().encode(request))
        #expect(kept == request)
        var shown = "\(request) \(String(reflecting: request))"
        dump(request, to: &shown)
        #expect(!shown.contains(request.verifier))
    }

    @Test(arguments: ["", "id.example/authorize", "ftp://id.example/", "https://", "https://a b/"])
    func rejectsInvalidAuthorizationURL(_ url: String) {
        let error = #expect(throws: SluiceError.self) { try gate(url).authorizationRequest() }
        #expect(error?.code == .authorizationFailed)
        #expect(error?.authorizationError?.code == .unsupported)
    }

    @Test func rejectsOtherGrants() async {
        let oauth = OAuth2(.clientCredentials(id: "i", secret: "s"), tokenURL: "https://x.example/token")
        let error = #expect(throws: SluiceError.self) { try oauth.authorizationRequest() }
        #expect(error?.authorizationError?.code == .unsupported)
    }

    private static let iss = "iss=https%3A%2F%2Fid.example"

    @Test(arguments: [
        ("https://app.example/back?x=1&code=c&state=st&\(iss)", "c"),
        ("/back?code=a%2Bb+c%zz&state=st&\(iss)#code=other", "a+b c%zz"),
        ("code=c&state=st&\(iss)", "c"), ("?state=st&code=c&\(iss)&code2=d", "c"),
        ("?code=c&state=other&\(iss)", "stateMismatch"), ("?code=c&state=s&\(iss)", "stateMismatch"),
        ("?code=c&\(iss)", "stateMismatch"), ("", "stateMismatch"), ("https://app.example/back", "stateMismatch"),
        ("?error=access_denied&\(iss)", "stateMismatch"), ("?error=access_denied&state=st&\(iss)", "access_denied"),
        ("?error=login_required&state=st", "issuerMismatch"), ("?code=c&state=st", "issuerMismatch"),
        ("?code=c&state=st&iss=https%3A%2F%2Fevil.example", "issuerMismatch"),
        ("?state=st&\(iss)", "invalidResponse"), ("?code=&state=st&\(iss)", "invalidResponse"),
        ("?code=a&code=b&state=st&\(iss)", "invalidResponse"), ("?code=a&state=st&state=st&\(iss)", "invalidResponse"),
        ("?code=c&state=st&\(iss)&\(iss)", "invalidResponse"), ("?&&=&%&state=st&\(iss)&code=c", "c"),
    ])
    func checksStateIssuerAndCodeOfRedirect(_ redirect: String, _ expected: String) {
        do {
            let code = try AuthorizationResponse(redirect).code(state: "st", issuer: "https://id.example")
            #expect(code == expected)
        } catch {
            #expect(error.code.rawValue == expected)
        }
    }

    @Test(arguments: ["&iss=any", "&iss=https%3A%2F%2Fevil.example", "&iss=", ""])
    func acceptsAnyIssuerIfNoneIsConfigured(_ issuer: String) throws {
        #expect(try AuthorizationResponse("?code=c&state=s\(issuer)").code(state: "s", issuer: nil) == "c")
    }

    @Test func keepsDescriptionAndURIOfRefusal() {
        let redirect = "?error=access_denied&error_description=Not+today%0Athanks&error_uri=https%3A%2F%2Fx&state=s"
        let error = #expect(throws: OAuth2Error.self) {
            try AuthorizationResponse(redirect).code(state: "s", issuer: nil)
        }
        #expect(error?.detail == "Not today thanks")
        #expect(error?.uri == "https://x")
    }
}
