import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sends requests to the authorization server.
///
/// They are sent through a separate client, which takes only the transport, the connection settings, the time-outs
/// and the clock of the client whose request needs the token. It has no gates, so that no request waits for itself.
/// It has no headers, which may hold secrets of the API, and no cookies. It follows no redirects, because they would
/// forward the client's secret.
struct TokenEndpoint: Sendable {
    /// The maximum size of a response, far more than a token needs.
    static let bodyLimit: Int64 = 1 << 20

    private let grant: OAuth2.Grant
    private let configuration: OAuth2.Configuration
    private let tokenURL: String
    private let engine: APIClient.Configuration

    init(_ tokenURL: String, _ grant: OAuth2.Grant, _ configuration: OAuth2.Configuration, by client: APIClient) {
        self.grant = grant
        self.configuration = configuration
        self.tokenURL = tokenURL
        engine = client.configuration
    }

    /// Requests a token.
    func token(_ request: TokenRequest) async -> Result<OAuth2.Token, OAuth2Error> {
        // The time of the request, not of the response, so that the token is replaced too early rather than too late.
        let date = engine.time.date
        return await answer(to: request, at: tokenURL).flatMap { answer in
            answer.token(at: date, acceptsMissingType: configuration.acceptsMissingTokenType)
        }
    }

    /// Revokes a token.
    ///
    /// - Returns: The failure; nil also if the server does not know the token (RFC 7009 §2.2).
    func revoke(_ token: Secret, hint: String, at url: String) async -> OAuth2Error? {
        switch await answer(to: .revocation(token, hint: hint), at: url) {
        case .failure(let error): error
        case .success(let answer): answer.status.isSuccess ? nil : answer.error
        }
    }

    private func answer(to request: TokenRequest, at url: String) async -> Result<TokenResponse, OAuth2Error> {
        var parameters = request.parameters(of: grant)
        var headers: HTTPHeaders = [.accept: "application/json"]
        if let secret = grant.secret, configuration.authentication == .basic {
            do throws(FormEncodingFailure) {
                headers[.authorization] = try Self.basic(grant.id, secret.reveal())
            } catch {
                return .failure(OAuth2Error(.unsupported, "the client's id cannot be encoded", underlyingError: error))
            }
        } else {
            parameters["client_id"] = grant.id
            parameters["client_secret"] = grant.secret?.reveal()
        }
        let response = await client(for: url).data.post("").headers(headers)
            .body(.form(parameters, encoder: .oauth2))
            .sender().response
        guard let head = response.head, response.isSuccess else {
            return .failure(Self.unreachable(response.failure))
        }
        return .success(TokenResponse(status: head.status, body: response.body, secrets: request.secrets(of: grant)))
    }

    private func client(for url: String) -> APIClient {
        APIClient(baseURL: url) {
            $0.transport = engine.transport
            $0.time = engine.time
            $0.timeouts = engine.timeouts
            $0.connection = engine.connection
            $0.timeouts.total = configuration.timeout
            $0.limits.body = Self.bodyLimit
            $0.redirects = .none
            $0.validation = .none
        }
    }

    /// Returns the value of `Authorization`. Id and secret are form-encoded, because a colon in the id
    /// would end it (RFC 6749 §2.3.1).
    static func basic(_ id: String, _ secret: String) throws(FormEncodingFailure) -> String {
        let parts = try [id, secret].map { text throws(FormEncodingFailure) -> String in
            let pair: String = try URLEncodedFormEncoder.oauth2Percent.encode(["": text])
            return String(pair.dropFirst())
        }
        return "Basic " + Data(parts.joined(separator: ":").utf8).base64EncodedString()
    }

    /// The failure without its request, which holds the client's secret.
    private static func unreachable(_ failure: SluiceError?) -> OAuth2Error {
        guard let failure else { return OAuth2Error(.unreachable) }
        let bare = SluiceError(failure.code, failure.reason, step: failure.step)
        return OAuth2Error(.unreachable, failure.reason, underlyingError: bare)
    }
}
