import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A gate that gives requests an access token: gets one, replaces it in time, and again when an API refuses it.
///
/// ```swift
/// let client = APIClient(baseURL: "https://api.example.com") {
///     $0.gates = [
///         OAuth2(
///             .clientCredentials(id: "reports", secret: secret, scope: "orders.read"),
///             tokenURL: "https://id.example.com/token"
///         )
///     ]
/// }
/// ```
///
/// - A request waits only where there is no good token. One request to the authorization server serves all who wait, however
///   many; one who is cancelled leaves at once. When nobody waits any longer it is cancelled, but for a refresh: that goes on and
///   its token is kept, since the server may have ceased to know the old one.
/// - A token is replaced ahead of its end, while requests wait. If that fails they go on with the old one as long as it lasts.
/// - A request to which the API answers 401 is sent once more with a new token, if its body can be. A refusal of that one is
///   the request's outcome. A 401 counts if the request carried the token, and unless it names an error other than `invalid_token`
///   (RFC 6750 §3.1): many servers name none.
/// - A new token is stored before it is used. One that could not be stored is not lost: the next request stores it first.
/// - The token goes to the origin of the client's base URL, or to ``Configuration/origins``, and nowhere else; requests to other
///   origins, and those with an `Authorization` of their own, are admitted as they are.
///
/// What fails is a ``SluiceError`` of the code ``SluiceError/Code/authorizationFailed`` with an ``OAuth2Error`` in it, or of
/// ``SluiceError/Code/authorizationRequired`` where only the user can help. All who had waited get it; the next request tries
/// again.
///
/// A gate can serve several clients. Requests to the authorization server pass none of a client's gates and interceptors and
/// carry none of its headers.
public final class OAuth2: ImmediateGate {
    /// By what requests opt out of it.
    public let name: String
    let grant: Grant
    let configuration: Configuration
    let tokenURL: String
    let desk: Locked<Desk>
    let audience: Audience

    /// False: a token is there for all.
    public var holds: Bool { false }

    /// Makes a gate.
    ///
    /// - Parameters:
    ///   - grant: What tokens are got for.
    ///   - tokenURL: The authorization server's token endpoint. RFC 6749 §3.2 demands https.
    ///   - configure: Changes the configuration from its defaults.
    public init(_ grant: Grant, tokenURL: String, configure: (inout Configuration) -> Void = { _ in }) {
        var configuration = Configuration()
        configure(&configuration)
        self.grant = grant
        self.tokenURL = tokenURL
        self.configuration = configuration
        name = configuration.name
        audience = Audience(configuration.origins)
        desk = Locked(Desk(state: TokenState(grant, configuration)))
    }

    /// Admits a request on the spot if there is a good token for it, or it needs none.
    ///
    /// - Parameter request: What asks to be admitted.
    /// - Returns: A pass, or nil if it has to wait or is to be refused.
    public func admitImmediately(_ request: RequestContext) -> Pass? {
        if request.request.headers.contains(.authorization) { return Pass() }
        switch audience.reach(request) {
        case .outside: return Pass()
        case .refused: return nil
        case .inside:
            let date = (configuration.client ?? request.client).pipeline.time.date
            guard let credential = desk.withLock({ $0.state.credential(at: date) }) else { return nil }
            return Ticket(of: self, credential, for: request).pass
        }
    }

    /// Admits a request once there is a good token for it.
    ///
    /// - Parameter request: What asks to be admitted.
    /// - Returns: A pass that adds the token.
    /// - Throws: A ``SluiceError`` of the code ``SluiceError/Code/authorizationFailed``,
    ///   ``SluiceError/Code/authorizationRequired`` or ``SluiceError/Code/cancelled``.
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Pass {
        if request.request.headers.contains(.authorization) { return Pass() }
        switch audience.reach(request) {
        case .outside: return Pass()
        case .refused(let error): throw error
        case .inside:
            let client = configuration.client ?? request.client
            return Ticket(of: self, try await credential(by: client, for: request), for: request).pass
        }
    }
}

extension OAuth2: CustomReflectable {
    /// Its name and for what it gets tokens where; nothing of these.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["name": name, "grant": "\(grant)", "tokenURL": SecretRules.usual.url(tokenURL)],
            displayStyle: .class
        )
    }
}

/// What a request takes along: a class, so that both closures of its pass are one pointer.
private final class Ticket: Sendable {
    private let gate: OAuth2
    private let credential: Credential
    private let context: RequestContext
    private var pipeline: Pipeline { context.client.pipeline }

    init(of gate: OAuth2, _ credential: Credential, for request: RequestContext) {
        self.gate = gate
        self.credential = credential
        context = request
    }

    var pass: Pass {
        Pass(signing: { [self] request in sign(&request) }, judging: { [self] outcome in judge(outcome) })
    }

    private func sign(_ request: inout HTTPRequest) {
        guard !request.headers.contains(.authorization), gate.audience.includes(request, of: pipeline) else { return }
        request.headers.append(.authorization, credential.authorization)
    }

    private func judge(_ outcome: TransportOutcome) -> Pass.Verdict {
        guard case .success(let response) = outcome, credential.isRefused(by: response) else { return .settled }
        // A new token that is refused at once may be good for other requests, and another would fare no better.
        let first = context.remembered("Sluice.OAuth2.\(gate.name)") { context.attempt }
        guard context.attempt == first else { return .settled }
        let moment = Moment((gate.configuration.client?.pipeline ?? pipeline).time)
        let isReplayed = gate.desk.withLock { $0.state.refused(version: credential.version, at: moment) }
        return isReplayed ? .replay : .settled
    }
}

extension TokenState {
    fileprivate init(_ grant: OAuth2.Grant, _ configuration: OAuth2.Configuration) {
        var rules = Rules(
            scope: grant.scope,
            margin: configuration.refreshMargin,
            limit: configuration.refreshLimit
        )
        var seed: Secret?
        switch grant.kind {
        case .clientCredentials:
            rules.isRepeatable = true
            rules.usesRefreshTokens = false
        case .password: rules.isRepeatable = true
        case .refreshToken(let token): seed = token
        case .authorizationCode: break
        }
        self.init(rules, seed: seed)
    }
}
