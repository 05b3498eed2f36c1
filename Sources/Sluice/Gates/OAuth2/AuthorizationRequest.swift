import SluiceFoundation
import SluiceHTTP

extension OAuth2 {
    /// A request for a user's authorization: the URL to open, and the secrets to check the redirect with.
    ///
    /// Open ``url`` in a browser, and keep the request until the browser is redirected back. A server keeps it in the
    /// user's session, encoded.
    ///
    /// A request can be used only once (RFC 9700 §2.1): a gate refuses a redirect to a request that it has already had
    /// an answer to. Several processes do not know of each other's requests, so a server also removes the request from
    /// the session when the browser comes back.
    public struct AuthorizationRequest: Sendable, Equatable, Codable {
        /// The URL to open.
        public let url: String
        /// A random value that the redirect repeats, which shows that it answers this request (RFC 6749 §10.12).
        public let state: String
        /// The PKCE code verifier, a secret (RFC 7636 §4.1).
        package let verifier: String

        /// Creates a request from stored values.
        package init(url: String, state: String, verifier: String) {
            self.url = url
            self.state = state
            self.verifier = verifier
        }
    }
}

extension OAuth2.AuthorizationRequest: CustomStringConvertible, CustomReflectable {
    /// The URL without its query, which holds the secrets.
    public var description: String { "authorization request to \(url.prefix { $0 != "?" })" }

    /// An empty mirror, because `dump` would show the secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension OAuth2.AuthorizationRequest {
    /// Creates a request.
    ///
    /// - Parameters:
    ///   - grant: The grant with the client's identifier, scope and parameters.
    ///   - code: The endpoints.
    ///   - parameters: Additional parameters of this request.
    ///   - randomBytes: Called for random bytes, with their number.
    /// - Throws: ``OAuth2Error`` if the URL is not valid or SHA-256 is not available.
    init(
        _ grant: OAuth2.Grant,
        _ code: OAuth2.Grant.AuthorizationCode,
        _ parameters: Parameters,
        randomBytes: (Int) -> [UInt8]
    ) throws(OAuth2Error) {
        // 256 bits each, as RFC 7636 §7.1 recommends.
        state = randomBytes(32).base64URL
        verifier = randomBytes(32).base64URL
        guard let challenge = ProofKey(verifier: verifier).challenge else {
            throw OAuth2Error(.unsupported, "the system library does not provide SHA-256")
        }
        var query = grant.parameters.merging(parameters)
        query.merge([
            "response_type": "code", "client_id": grant.id, "redirect_uri": code.redirectURL, "state": state,
            "code_challenge": challenge, "code_challenge_method": "S256",
        ])
        if let scope = grant.scope { query["scope"] = scope }
        do {
            var location = try RequestLocation(parsing: code.authorizationURL)
            try location.add([.encoded(RequestParameters(value: query, encoder: .oauth2Percent))], .oauth2Percent)
            url = "\(location.scheme)://\(location.authority)\(location.target)"
        } catch {
            throw OAuth2Error(.unsupported, error.reason, underlyingError: error)
        }
    }
}

/// The response to an authorization request: the query of the redirect URL (RFC 6749 §4.1.2).
struct AuthorizationResponse: Sendable {
    private var values: [String: String] = [:]
    /// The names that occur more than once, which RFC 6749 §3.1 forbids.
    private var repeated: Set<String> = []

    /// Parses a whole URL, a request target, or only a query or form.
    init(_ redirect: String) {
        var text = redirect.utf8[...]
        if let number = text.firstIndex(of: UInt8(ascii: "#")) { text = text[..<number] }
        if let question = text.firstIndex(of: UInt8(ascii: "?")) { text = text[question...].dropFirst() }
        for pair in text.split(separator: UInt8(ascii: "&")) {
            let name = Self.decoded(pair.prefix { $0 != UInt8(ascii: "=") })
            let value = Self.decoded(pair.drop { $0 != UInt8(ascii: "=") }.dropFirst())
            if values.updateValue(value, forKey: name) != nil { repeated.insert(name) }
        }
    }

    /// Returns true if the response has the state of a request. The comparison takes constant time.
    func answers(state: String) -> Bool {
        values["state"].map { Secret($0) == Secret(state) } ?? false
    }

    /// Returns the authorization code if the response answers the request.
    ///
    /// - Parameters:
    ///   - state: The state of the request.
    ///   - issuer: The expected issuer; nil for no check.
    /// - Returns: The code.
    /// - Throws: The server's error, or the reason why the response is refused.
    func code(state: String, issuer: String?) throws(OAuth2Error) -> String {
        if !repeated.isDisjoint(with: ["code", "state", "iss", "error"]) {
            throw OAuth2Error(.invalidResponse, "the redirect URL contains a parameter more than once")
        }
        // Checked first, because anyone can forge a response, including an error.
        guard answers(state: state) else { throw OAuth2Error(.stateMismatch) }
        if let issuer, values["iss"] != issuer {
            throw OAuth2Error(.issuerMismatch, values["iss"] == nil ? "it has no iss parameter" : nil)
        }
        if let error = values["error"], !error.isEmpty {
            throw OAuth2Error(
                OAuth2Error.Code(rawValue: error.errorDetail),
                values["error_description"].map(\.errorDetail),
                uri: values["error_uri"].map(\.errorDetail)
            )
        }
        guard let code = values["code"], !code.isEmpty else {
            throw OAuth2Error(.invalidResponse, "the redirect URL contains neither a code nor an error")
        }
        return code
    }

    /// Decodes form encoding. Percent signs without two hexadecimal digits stay as they are.
    private static func decoded(_ text: Substring.UTF8View) -> String {
        String(decoding: PercentEncoding.decoded(text, plusIsSpace: true), as: UTF8.self)
    }
}

/// The states of the authorization requests that have been answered, up to a limit.
struct AnsweredRequests: Sendable {
    /// The number of states that are kept; with more, the oldest is forgotten.
    static let limit = 10_000

    private var states: Set<String> = []
    private var order: [String] = []
    private var oldest = 0

    /// Records a state. Returns false if it has been recorded before.
    mutating func insert(_ state: String) -> Bool {
        guard states.insert(state).inserted else { return false }
        if order.count < Self.limit {
            order.append(state)
        } else {
            states.remove(order[oldest])
            order[oldest] = state
            oldest = (oldest + 1) % Self.limit
        }
        return true
    }
}

/// A PKCE code verifier and its challenge (RFC 7636 §4).
struct ProofKey: Sendable, Equatable {
    /// 43 or more characters that need no encoding in URLs.
    let verifier: String

    /// The `code_challenge` for the method S256; nil if the system's library fails.
    var challenge: String? {
        SystemSHA256.digest(of: Array(verifier.utf8)).map(\.base64URL)
    }
}

extension [UInt8] {
    /// The bytes in base64url without padding (RFC 4648 §5).
    var base64URL: String {
        let text = Data(self).base64EncodedString().utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
