import SluiceFoundation
import SluiceHTTP

/// The description of a request, without its types. An ``Endpoint`` provides it, and a client's
/// ``APIClient/Configuration/endpointMapping`` can change it.
public struct RequestDraft: ModifiableRequest {
    /// The method; GET by default.
    public var method: HTTPMethod
    /// The path, which is appended to the base URL, optionally with a query, or a whole URL that replaces it.
    public var path: String
    /// The headers. Each replaces the client's header of the same name.
    public var headers: HTTPHeaders = [:]
    /// The body; nil for none.
    public var body: RequestBody?
    private(set) var query: [QueryPart] = []
    /// The options that most requests do not set.
    private var box = OptionsBox.none

    /// Creates a draft with a method and a path.
    public init(method: HTTPMethod = .get, path: String) {
        self.method = method
        self.path = path
    }

    /// The draft itself.
    public var draft: RequestDraft {
        get { self }
        set { self = newValue }
    }

    mutating func add(_ part: QueryPart) {
        // A query with one item usually gets more.
        if query.isEmpty { query.reserveCapacity(4) }
        query.append(part)
    }

    /// Removes items from the query so far, and from the parameters so far where they are sent in the query.
    mutating func remove(_ names: QueryNames) {
        add(.removal(names))
        if !options.parameters.isEmpty {
            for index in options.parameters.indices { options.parameters[index].removed.append(names) }
        }
    }

    /// A class, because the options are the largest part of a request, and requests are copied often.
    private final class OptionsBox: Sendable {
        static let none = OptionsBox(RequestOptions())
        let options: RequestOptions

        init(_ options: RequestOptions) {
            self.options = options
        }
    }

    var options: RequestOptions {
        // Yields the options instead of copying them.
        _read { yield box.options }
        set { box = OptionsBox(newValue) }
    }

    /// The draft, changed to bypass all gates.
    var skippingAllGates: RequestDraft {
        var draft = self
        draft.options.steps.skipsAllGates = true
        return draft
    }

    /// The options for the model's place in the response, read without copying all options.
    var modelLocation: ModelLocation { box.options.modelLocation }
}

/// The options of a request besides its method, path, headers, query and body.
struct RequestOptions: Sendable {
    var baseURL: String?
    var host: String?
    var urlBuilder: URLBuilder?
    var tags: Set<String> = []
    var networkAccess = NetworkAccess.all
    var priority = RequestPriority.normal
    var usesCookies = true
    var route: String?
    var steps = StepOverrides()
    var retry: RetryPolicy?
    var hedging: HedgingPolicy?
    var isIdempotent: Bool?
    var redirects: RedirectPolicy?
    /// The outer nil is for the client's credentials, the inner nil for none.
    var credentials: ChallengeCredentials??
    var stub: Stub?
    var stubMode: StubMode?
    var parameters: [RequestParameters] = []
    var timeouts = Override<Timeouts>()
    /// The time by which the request must be complete.
    var deadline: Deadline?
    var limits = Override<ResponseLimits>()
    var validation = Override<Validation>()
    var caching = Override<Caching>()
    var sharing: RequestSharing?
    var modelLocation = ModelLocation()
    /// The endpoint that the request was created from; nil for a path.
    var endpoint: (any Endpoint)?
    var userInfo: [String: any Sendable] = [:]
    /// True for the request of a ``Target``, whose task may have a body that its method does not allow.
    var isTarget = false
    /// True if the request changes the steps of the client.
    var changesSteps: Bool { !steps.isEmpty || retry != nil || hedging != nil || redirects != nil }
    /// The reason why the draft could not be created.
    var failure: SluiceError?
}

extension RequestDraft {
    /// The base URL that replaces the client's; nil for the client's.
    public var baseURL: String? {
        get { options.baseURL }
        set { options.baseURL = newValue }
    }
    /// The host that replaces the URL's: `cdn.example.com`, `[::1]:8080`, or with another
    /// scheme, `http://cdn.example.com`.
    public var host: String? {
        get { options.host }
        set { options.host = newValue }
    }
    /// The tags, by which gates and interceptors distinguish requests.
    public var tags: Set<String> {
        get { options.tags }
        set { options.tags = newValue }
    }
    /// The name that similar requests share in metrics: `users/{id}`. Nil for the path without
    /// the parts that look like an ID.
    public var route: String? {
        get { options.route }
        set { options.route = newValue }
    }
}

// MARK: - Building

extension RequestDraft {
    /// Creates the draft of an endpoint, changed by the client's mapping.
    init(_ endpoint: some Endpoint, _ mapping: (@Sendable (any Endpoint, RequestDraft) throws -> RequestDraft)?) {
        do {
            let draft = try endpoint.draft()
            self = try mapping?(endpoint, draft) ?? draft
        } catch {
            self.init(path: "")
            options.failure = .building(error, "The endpoint could not be converted to a request")
        }
        // Most endpoints are paths, which the draft has.
        if type(of: endpoint) != String.self { options.endpoint = endpoint }
    }

    /// Builds the request that passes through the pipeline.
    func build(for pipeline: Pipeline) throws(SluiceError) -> HTTPRequest {
        if let failure = options.failure { throw failure }
        let location = try wholeLocation(for: pipeline)
        let body = hasParametersInBody ? .form(options.parameters) : body
        var request = HTTPRequest(
            method: method,
            scheme: location.scheme,
            authority: location.authority,
            path: location.target,
            headers: mergedHeaders(with: defaultHeaders(at: location, of: pipeline))
        )
        if let body {
            if options.isTarget, [.get, .head, .trace].contains(method) { throw .bodyWithoutMethod(request) }
            try request.setBody(body, hasContentType: headers.contains(.contentType), for: pipeline)
        }
        guard let mapping = pipeline.configuration.requestMapping else { return request }
        do {
            var mapped = try mapping(request)
            var original: HTTPRequest? = request
            try mapped.encodeBody(for: pipeline, since: &original)
            return mapped
        } catch {
            throw .building(error, "The request could not be mapped").with(request: request)
        }
    }

    /// The request without headers and body; nil if its URL cannot be built.
    func head(for pipeline: Pipeline) -> HTTPRequest? {
        guard options.failure == nil, let location = try? wholeLocation(for: pipeline) else { return nil }
        return HTTPRequest(
            method: method,
            scheme: location.scheme,
            authority: location.authority,
            path: location.target
        )
    }

    func wholeLocation(for pipeline: Pipeline) throws(SluiceError) -> RequestLocation {
        var location = try location(for: pipeline)
        if !query.isEmpty { try location.add(query, pipeline.configuration.formEncoder) }
        if !options.parameters.isEmpty, !hasParametersInBody {
            try location.add(options.parameters.map(QueryPart.encoded), pipeline.configuration.formEncoder)
        }
        return location
    }

    /// True if the parameters are sent as the body.
    var hasParametersInBody: Bool {
        (body?.isNone ?? true) && method.takesParametersInBody && !options.parameters.isEmpty
    }

    /// Returns the client's headers. Headers with secrets are removed if the path, which may come from a server, leads
    /// to another origin than the request's or the client's base URL.
    private func defaultHeaders(at location: RequestLocation, of pipeline: Pipeline) -> HTTPHeaders {
        let headers = pipeline.configuration.headers
        guard location.isFromPath, let base = try? base(for: pipeline), leaves(base, location) else { return headers }
        var publicHeaders = headers
        for name in HTTPHeaderName.credentialFields + pipeline.steps.secretHeaders {
            publicHeaders.remove(name)
        }
        return publicHeaders
    }

    /// Returns true if a location from the path must not receive the secrets of the base URL: it has another origin, or,
    /// with a host of the request's own, no encryption in place of that of the base URL.
    private func leaves(_ base: RequestLocation, _ location: RequestLocation) -> Bool {
        guard let host = options.host else { return location.origin != base.origin }
        return !host.contains("://") && location.scheme != "https" && base.scheme == "https"
    }

    private func mergedHeaders(with defaults: HTTPHeaders) -> HTTPHeaders {
        if headers.isEmpty { return defaults }
        var merged = HTTPHeaders()
        for field in defaults where !headers.contains(field.name) { merged.append(field) }
        merged.append(contentsOf: headers)
        return merged
    }
}

extension SluiceError {
    /// Returns the error with the method and URL of the request, if it has none because the request was not built yet.
    func naming(_ draft: RequestDraft, of client: APIClient) -> SluiceError {
        request == nil ? with(request: draft.head(for: client.pipeline)) : self
    }
}

// MARK: - Parameters

/// A value that is encoded as names and values when the request is built.
struct RequestParameters: Sendable {
    let value: any Encodable & Sendable
    /// Nil for the client's encoder.
    let encoder: URLEncodedFormEncoder?
    /// The names that are removed where the value is sent in the query.
    var removed: [QueryNames] = []

    /// Returns the text of a query, without the question mark, or of a form body; empty if the value has no members.
    func text(by standard: URLEncodedFormEncoder) throws(SluiceError) -> String {
        do {
            return try (encoder ?? standard).encode(value)
        } catch {
            throw SluiceError(.encodingFailed, error.sentence, step: .building, underlyingError: error)
        }
    }
}

/// A part of the query. Parts keep their order.
enum QueryPart: Sendable {
    case item(name: String, value: String?)
    /// Indirect, because it is rare and much larger.
    indirect case encoded(RequestParameters)
    /// Removes items that precede it.
    case removal(QueryNames)
}

/// Names of query items to remove.
enum QueryNames: Sendable {
    case all
    /// Also removes the members of the names, as in `name[]` and `name[key]`.
    case some([String])

    /// Returns an encoded query without the items of these names.
    func removed(from query: some Sequence<UInt8>) -> [UInt8] {
        guard case .some(let names) = self else { return [] }
        let removed = names.map { Array($0.utf8) }
        let items = Array(query).split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let kept = items.filter { item in
            let name = PercentEncoding.decoded(item.prefix { $0 != UInt8(ascii: "=") }, plusIsSpace: true)
            return !removed.contains { other in
                name.starts(with: other) && (name.count == other.count || name[other.count] == UInt8(ascii: "["))
            }
        }
        return Array(kept.joined(separator: [UInt8(ascii: "&")]))
    }
}

extension HTTPMethod {
    /// True if parameters are sent in the body by default. For other methods, they are sent in the query.
    var takesParametersInBody: Bool {
        switch self {
        case .get, .head, .delete, .options, .trace: false
        default: true
        }
    }
}

extension SluiceError {
    fileprivate static func bodyWithoutMethod(_ request: HTTPRequest) -> SluiceError {
        SluiceError(
            .invalidMethod,
            "The target's task has a body, and a \(request.method) request takes none. "
                + "Give the case another method, such as .post in “method”, or .post(.json(…)) in a “task: MethodTask”.",
            step: .building,
            request: request
        )
    }
}

// MARK: - Overrides

extension Override<Validation> {
    /// Sets the rules that replace the client's, or restores the client's.
    mutating func replace(by validation: Validation) {
        if validation.isClients { removeAll() } else { replace(with: validation) }
    }
}

/// A replacement of another value, and changes that are applied to that value or its replacement.
struct Override<Value: Sendable>: Sendable {
    private var replacement: Value?
    private var changes: [@Sendable (inout Value) -> Void] = []

    /// True if there is a replacement or a change.
    var isChanged: Bool { replacement != nil || !changes.isEmpty }

    /// Sets the replacement and removes all earlier changes.
    mutating func replace(with value: Value) {
        replacement = value
        changes = []
    }

    /// Removes the replacement and all changes.
    mutating func removeAll() {
        replacement = nil
        changes = []
    }

    mutating func change(_ change: @escaping @Sendable (inout Value) -> Void) {
        changes.append(change)
    }

    func applied(to value: Value) -> Value {
        guard isChanged else { return value }
        var result = replacement ?? value
        for change in changes { change(&result) }
        return result
    }
}

// MARK: - Combination of base URL and path

/// A rule for combining base URL and path.
///
/// ```swift
/// let client = APIClient(baseURL: "https://api.example.com/v2") {
///     $0.urlBuilder = .relative
/// }
/// let request = client.codable.request("v1/users", as: [User].self)
///     .urlBuilder(URLBuilder { base, path in "\(base)/legacy.php?route=\(path)" })
/// ```
///
/// If the path is a whole URL, the rule is not used. The query items of the request are added to the resulting URL.
public struct URLBuilder: Sendable {
    enum Rule: Sendable {
        case appending
        case relative
        case custom(@Sendable (_ base: String, _ path: String) throws -> String)
    }

    let rule: Rule

    private init(rule: Rule) {
        self.rule = rule
    }

    /// Creates a rule from a closure.
    ///
    /// - Parameter build: Called with the base URL and the path, both as written; returns an absolute URL. An error it
    ///   throws fails the request with ``SluiceError/Code/invalidURL``.
    public init(_ build: @escaping @Sendable (_ base: String, _ path: String) throws -> String) {
        rule = .custom(build)
    }

    /// Appends the path to the base URL's path, with one slash between, and its query to the
    /// base URL's. This is the default.
    public static let appending = URLBuilder(rule: .appending)
    /// Resolves the path against the base URL, as browsers resolve links (RFC 3986 §5).
    public static let relative = URLBuilder(rule: .relative)
}

// MARK: - Building

extension RequestDraft {
    /// Returns the location from base URL, path and host, without the query items.
    func location(for pipeline: Pipeline) throws(SluiceError) -> RequestLocation {
        var location = try locationBeforeHostOverride(for: pipeline)
        if let host { try location.move(to: host) }
        location.path = DotSegments.removing(from: location.path)
        return location
    }

    private func locationBeforeHostOverride(for pipeline: Pipeline) throws(SluiceError) -> RequestLocation {
        if isWholeURL { return try RequestLocation(parsing: path).markedFromPath() }
        let builder = options.urlBuilder ?? pipeline.configuration.urlBuilder
        switch builder.rule {
        case .appending:
            try checkSegments()
            var location = try base(for: pipeline)
            location.append(path)
            return location
        case .relative:
            try checkSegments()
            return try base(for: pipeline).resolving(path).markedFromPath()
        case .custom(let build):
            let url: String
            do {
                url = try build(baseURL ?? pipeline.baseURL, path)
            } catch let error as SluiceError {
                throw error
            } catch {
                throw SluiceError(.invalidURL, "The URL could not be built.", step: .building, underlyingError: error)
            }
            return try RequestLocation(parsing: url).markedFromPath()
        }
    }

    /// Throws if a segment is an escaped `.` or `..`, which would be resolved. Programs escape names to put them into a path.
    private func checkSegments() throws(SluiceError) {
        if DotSegments.areEncoded(in: path) {
            throw .invalidURL("a segment of its path is a percent-encoded “.” or “..”, which cannot be a name")
        }
    }

    /// Returns the base URL of the request, or the client's.
    func base(for pipeline: Pipeline) throws(SluiceError) -> RequestLocation {
        if let baseURL { return try RequestLocation(parsing: baseURL, as: "base URL") }
        return try pipeline.base.get()
    }

    /// True if the path is a whole URL, of any scheme (RFC 3986 §3.1). One that is not supported is an error.
    private var isWholeURL: Bool {
        let bytes = path.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return false
        }
        return URIReference.isScheme(bytes[..<colon])
    }
}

extension RequestLocation {
    /// Appends items to the query.
    mutating func add(_ parts: [QueryPart], _ encoder: URLEncodedFormEncoder) throws(SluiceError) {
        var text = Array((query ?? "").utf8)
        text.reserveCapacity(text.count + 32 * parts.count)
        var isChanged = false
        var isRemoving = false
        for part in parts {
            switch part {
            case .item(let name, let value):
                if !text.isEmpty { text.append(UInt8(ascii: "&")) }
                PercentEncoding.append(component: name, to: &text)
                if let value {
                    text.append(UInt8(ascii: "="))
                    PercentEncoding.append(component: value, to: &text)
                }
            case .encoded(let parameters):
                let items = try parameters.text(by: encoder)
                let kept = parameters.removed.reduce(Array(items.utf8)) { $1.removed(from: $0) }
                if kept.isEmpty { continue }
                if !text.isEmpty { text.append(UInt8(ascii: "&")) }
                text += kept
            case .removal(let names):
                text = names.removed(from: text)
                isRemoving = true
            }
            isChanged = true
        }
        if isChanged { query = isRemoving && text.isEmpty ? nil : String(decoding: text, as: UTF8.self) }
    }
}
