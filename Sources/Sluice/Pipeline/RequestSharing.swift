import SluiceFoundation
import SluiceHTTP

/// The requests that share one transfer with an equal request in progress.
///
/// ```swift
/// let feed = APIClient(baseURL: url) { $0.sharing = .safeMethods.ignoring("X-Request-ID") }
/// ```
///
/// Requests of a client are equal if their method, URL, significant headers and body are equal when they are built.
/// This is before any gate, so requests that share pass the gates once. Each caller decodes its own model from the same
/// bytes and can be cancelled on its own; the transfer stops when the last caller is cancelled. Requests that join
/// later use the time-outs of the first, counted from when it was sent, and observers see one request.
///
/// The options for time-outs, limits, cookies, credentials, priority, networks, tags and gates must be equal too. The
/// following are never shared: requests with their own interceptors, plugins, observers, retries, hedging, redirects or
/// caching; requests answered by a stub, or by a ``DataSource`` that reads the cache first; bodies from files and
/// streams; downloads; and streamed responses. When a request with an unsafe method ends, later requests do not join
/// transfers that started before, so they see its changes.
public struct RequestSharing: Sendable, Hashable {
    private enum Methods: Sendable, Hashable {
        case none, safe, all
    }

    private enum Fields: Sendable, Hashable {
        case only(Set<HTTPHeaderName>)
        case except(Set<HTTPHeaderName>)
    }

    private let methods: Methods
    private var fields = Fields.except([])

    private init(_ methods: Methods) {
        self.methods = methods
    }

    /// No request shares a transfer.
    public static let none = RequestSharing(.none)
    /// Requests with safe methods share: GET, HEAD, OPTIONS and TRACE (RFC 9110 §9.2.1).
    public static let safeMethods = RequestSharing(.safe)
    /// Requests of any method share: two equal requests at the same time are sent once.
    public static let allMethods = RequestSharing(.all)

    /// Returns a copy that does not compare these headers, for example a request ID or a trace.
    ///
    /// `Authorization`, `Cookie`, `Proxy-Authorization` and the client's ``APIClient/Configuration/secretHeaders`` are
    /// always compared.
    public func ignoring(_ names: HTTPHeaderName...) -> RequestSharing { comparing(.except(Set(names))) }

    /// Returns a copy that compares only these headers and those that hold secrets.
    public func comparing(only names: HTTPHeaderName...) -> RequestSharing { comparing(.only(Set(names))) }

    private func comparing(_ fields: Fields) -> RequestSharing {
        var copy = self
        copy.fields = fields
        return copy
    }

    /// Returns true if requests with a method share transfers.
    func covers(_ method: HTTPMethod) -> Bool {
        switch methods {
        case .none: false
        case .safe: method.isSafe
        case .all: true
        }
    }

    /// Returns the headers that must be equal.
    func significant(of headers: HTTPHeaders, secrets: [HTTPHeaderName]) -> HTTPHeaders {
        let hidden = HTTPHeaderName.credentialFields + secrets
        switch fields {
        case .except(let names):
            var rest = headers
            for name in names where !hidden.contains(name) { rest.remove(name) }
            return rest
        case .only(let names):
            var chosen = HTTPHeaders()
            for field in headers where names.contains(field.name) || hidden.contains(field.name) {
                chosen.append(field)
            }
            return chosen
        }
    }
}

extension ModifiableRequest {
    /// Lets the request share a transfer with an equal one that is in progress. Overrides the client's
    /// ``APIClient/Configuration/sharing``.
    ///
    /// ```swift
    /// let report = client.post("reports", as: Report.self).json(query).shared()
    /// ```
    ///
    /// Both requests must allow sharing, by this option or by their client's.
    ///
    /// - Parameter sharing: The methods that share and the headers to compare; all methods by default.
    ///   ``RequestSharing/none`` sends the request on its own.
    /// - Returns: A copy that shares.
    public consuming func shared(_ sharing: RequestSharing = .allMethods) -> Self {
        modified { $0.options.sharing = sharing }
    }
}

/// The properties that must match for requests of a client to be equal.
struct SharedTransferKey: Hashable {
    private let method: HTTPMethod
    private let scheme: String
    private let authority: String
    private let path: String
    /// The significant headers as they are sent.
    private let headers: [UInt8]
    private let body: Data?
    private let timeoutChanges: [TimeoutChange]
    private let rules: Rules

    /// The options of a request that affect its transfer.
    private struct Rules: Hashable {
        let tags: Set<String>
        let userInfo: ComparableUserInfo
        let route: String?
        let priority: RequestPriority
        let networkAccess: NetworkAccess
        let usesCookies: Bool
        let credentials: ChallengeCredentials??
        let isIdempotent: Bool?
        let skippedGates: Set<String>
        let skippedTypes: Set<ObjectIdentifier>
        let skipsAllGates: Bool
        /// Nil for the client's time-outs.
        let timeouts: Timeouts?
        let limits: ResponseLimits?

        /// Creates rules; nil if a value of the request's own cannot be compared.
        init?(_ options: borrowing RequestOptions, _ configuration: borrowing APIClient.Configuration) {
            guard let userInfo = ComparableUserInfo(options.userInfo) else { return nil }
            self.userInfo = userInfo
            tags = options.tags
            route = options.route
            priority = options.priority
            networkAccess = options.networkAccess
            usesCookies = options.usesCookies
            credentials = options.credentials
            isIdempotent = options.isIdempotent
            skippedGates = options.steps.skippedGates
            skippedTypes = options.steps.skippedTypes
            skipsAllGates = options.steps.skipsAllGates
            timeouts = options.timeouts.isChanged ? options.timeouts.applied(to: configuration.timeouts) : nil
            limits = options.limits.isChanged ? options.limits.applied(to: configuration.limits) : nil
        }
    }

    /// Creates a key; nil for a request that shares no transfer.
    ///
    /// - Parameters:
    ///   - request: The request as it is built.
    ///   - draft: The draft that it was built from.
    ///   - pipeline: The pipeline that it would pass through.
    init?(_ request: HTTPRequest, _ draft: RequestDraft, _ pipeline: Pipeline) {
        let sharing = draft.options.sharing ?? pipeline.sharing
        guard sharing.covers(request.method), !draft.options.changesSteps, !draft.options.caching.isChanged,
            !pipeline.isStubbed(draft)
        else { return nil }
        switch request.body.source {
        case .none: body = nil
        case .data(let data): body = data
        case .file, .stream, .deferred, .encoded: return nil
        }
        // A request that a gate or an interceptor sends for a shared transfer could otherwise join that transfer and
        // wait for itself.
        guard SharedTransfers.current !== pipeline.transfers else { return nil }
        guard pipeline.steps.gates.isEmpty || GateBypass.current.isEmpty else { return nil }
        method = request.method
        scheme = request.scheme
        authority = request.authority
        path = request.path
        timeoutChanges = request.timeoutChanges
        headers = sharing.significant(of: request.headers, secrets: pipeline.steps.secretHeaders).bytes
        guard let rules = Rules(draft.options, pipeline.configuration) else { return nil }
        self.rules = rules
    }

    /// Hashes the properties that usually differ between requests.
    func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(authority)
        hasher.combine(method)
        headers.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(body)
    }
}

/// The values of a request's own, if all of them can be compared.
private struct ComparableUserInfo: Hashable, Sendable {
    private let values: [String: any Sendable]

    init?(_ values: [String: any Sendable]) {
        guard values.values.allSatisfy({ Self.hashable($0) != nil }) else { return nil }
        self.values = values
    }

    static func == (one: Self, other: Self) -> Bool {
        one.values.count == other.values.count
            && one.values.allSatisfy { key, value in other.values[key].map(hashable) == hashable(value) }
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(values.count)
    }

    private static func hashable(_ value: any Sendable) -> AnyHashable? {
        (value as? any Hashable).map { AnyHashable($0) }
    }
}
