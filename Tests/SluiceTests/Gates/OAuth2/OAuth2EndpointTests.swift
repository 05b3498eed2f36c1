import Foundation
import Sluice
import SluiceTesting
import Testing

/// The endpoints of an authorization server that secrets may be sent to.
@Suite struct OAuth2EndpointTests {
    /// Answers every request with a token, and records its URL.
    private struct TokenTransport: Transport {
        let urls = Shared<[String]>([])

        func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
            urls.change { $0.append(request.url) }
            let body = ResponseBody(Data(#"{"access_token":"t","token_type":"bearer"}"#.utf8))
            return TransportResponse(head: HTTPResponse(status: .ok), body: body)
        }
    }

    private enum Endpoint: CaseIterable {
        case token, revocation, authorization
    }

    private static let encrypted = "https://id.example/path"

    private func gate(
        _ endpoint: Endpoint,
        at url: String,
        isAllowed: Bool,
        _ transport: TokenTransport,
        _ connection: ConnectionOptions = ConnectionOptions()
    ) -> OAuth2 {
        let authorizationURL = endpoint == .authorization ? url : Self.encrypted
        return OAuth2(
            endpoint == .token
                ? .clientCredentials(id: "i", secret: "s")
                : .authorizationCode(id: "i", authorizationURL: authorizationURL, redirectURL: "app:/back"),
            tokenURL: endpoint == .token ? url : Self.encrypted
        ) {
            if endpoint == .revocation { $0.revocationURL = url }
            $0.insecurelyAllowsUnencryptedEndpoints = isAllowed
            $0.client = APIClient {
                $0.transport = transport
                $0.connection = connection
            }
        }
    }

    /// Uses an endpoint. Returns the requests that were sent to it, or the error.
    private func use(
        _ endpoint: Endpoint,
        at url: String,
        isAllowed: Bool,
        _ connection: ConnectionOptions = ConnectionOptions()
    ) async -> (sent: [String], failure: OAuth2Error?) {
        let transport = TokenTransport()
        let gate = gate(endpoint, at: url, isAllowed: isAllowed, transport, connection)
        do throws(SluiceError) {
            switch endpoint {
            case .token: _ = try await gate.token()
            case .revocation:
                try await gate.signIn(with: .init(accessToken: "t"))
                try await gate.signOut()
            case .authorization: return ([try gate.authorizationRequest().url], nil)
            }
            return (transport.urls.read, nil)
        } catch {
            return (transport.urls.read, error.authorizationError)
        }
    }

    @Test(arguments: [
        "http://id.example/path", "HTTP://id.example/path", "http://id.example:443/path", "http://10.0.0.1/path",
        "http://192.168.1.2/path", "http://[2001:db8::1]/path", "http://127.0.0.1.example/path",
        "http://1270.0.0.1/path",
        "http://localhost.example/path",
    ])
    func endpointsWithoutTLSAreRefusedUnlessAllowed(_ url: String) async {
        for endpoint in Endpoint.allCases {
            let refused = await use(endpoint, at: url, isAllowed: false)
            #expect(refused.sent.isEmpty, "\(endpoint)")
            #expect(refused.failure?.code == .unsupported, "\(endpoint)")
            #expect(refused.failure?.detail?.contains("no TLS") == true, "\(endpoint)")
            let allowed = await use(endpoint, at: url, isAllowed: true)
            #expect(allowed.failure == nil, "\(endpoint)")
            #expect(allowed.sent.count == 1, "\(endpoint)")
        }
    }

    @Test(arguments: [
        encrypted, "HTTPS://id.example/path", "http://localhost/path", "http://127.0.0.1:8080/path",
        "http://[::1]/path",
        "http://127.9.9.9/path",
    ])
    func encryptedAndLoopbackEndpointsAreUsed(_ url: String) async {
        for endpoint in Endpoint.allCases {
            let used = await use(endpoint, at: url, isAllowed: false)
            #expect(used.failure == nil, "\(endpoint)")
            #expect(used.sent.count == 1, "\(endpoint)")
        }
    }

    /// A browser opens the authorization URL, so the client's connection does not matter to it.
    @Test(arguments: ConnectionOptions.leadingElsewhere)
    func loopbackEndpointsAreRefusedIfTheConnectionLeadsElsewhere(_ connection: ConnectionOptions) async {
        for endpoint in Endpoint.allCases {
            let used = await use(endpoint, at: "http://localhost/path", isAllowed: false, connection)
            #expect(used.sent.isEmpty == (endpoint != .authorization), "\(endpoint)")
            #expect(used.failure?.code == (endpoint == .authorization ? nil : .unsupported), "\(endpoint)")
            let encrypted = await use(endpoint, at: "https://localhost/path", isAllowed: false, connection)
            #expect(encrypted.failure == nil, "\(endpoint)")
        }
    }

    // MARK: Authorization requests

    @Test(arguments: ["code=c", "error=access_denied", "code=c&code=d", ""])
    func authorizationRequestServesOnce(_ answer: String) async throws {
        let transport = TokenTransport()
        let gate = gate(.authorization, at: Self.encrypted, isAllowed: false, transport)
        let request = try gate.authorizationRequest()
        // A forged redirect does not use the request up.
        await #expect(throws: SluiceError.self) {
            try await gate.signIn(redirectedTo: "?code=c&state=forged", for: request)
        }
        _ = try? await gate.signIn(redirectedTo: "?\(answer)&state=\(request.state)", for: request)
        let requests = transport.urls.read.count
        #expect(requests == (answer == "code=c" ? 1 : 0))
        // Neither is the request accepted again, nor a copy that was stored in a session.
        let stored = try JSONDecoder().decode(OAuth2.AuthorizationRequest.self, from: JSONEncoder().encode(request))
        for request in [request, stored] {
            let error = await #expect(throws: SluiceError.self) {
                try await gate.signIn(redirectedTo: "?code=other&state=\(request.state)", for: request)
            }
            #expect(error?.authorizationError?.code == .stateMismatch)
            #expect(error?.authorizationError?.detail?.contains("answered before") == true)
        }
        #expect(transport.urls.read.count == requests)
        // Other requests of the gate are not affected.
        let next = try gate.authorizationRequest()
        try await gate.signIn(redirectedTo: "?code=c&state=\(next.state)", for: next)
    }

    @Test func concurrentAnswersUseAnAuthorizationRequestOnce() async throws {
        let transport = TokenTransport()
        let gate = gate(.authorization, at: Self.encrypted, isAllowed: false, transport)
        let request = try gate.authorizationRequest()
        let accepted = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask {
                    (try? await gate.signIn(redirectedTo: "?code=\(number)&state=\(request.state)", for: request))
                        != nil
                }
            }
            return await group.reduce(into: 0) { if $1 { $0 += 1 } }
        }
        #expect(accepted == 1)
        #expect(transport.urls.read.count == 1)
    }
}

extension ConnectionOptions {
    /// Options of clients whose connections to localhost lead to another host.
    static var leadingElsewhere: [ConnectionOptions] {
        var proxied = ConnectionOptions()
        proxied.proxy = .http("proxy.example:3128")
        var tunnelled = ConnectionOptions()
        tunnelled.proxy = .socks5("proxy.example:1080")
        var replaced = ConnectionOptions()
        replaced.hostAddresses = ["localhost": [IPAddress(192, 0, 2, 1)]]
        return [proxied, tunnelled, replaced]
    }
}
