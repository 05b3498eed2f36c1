import SluiceHTTP

/// Which requests share one transfer with an equal one that is under way.
///
/// ```swift
/// let feed = APIClient(baseURL: url) { $0.sharing = .safeMethods.ignoring("X-Request-ID") }
/// ```
///
/// Requests of a client are equal if their method, URL, significant headers and body are, as they are built: before any gate, which those
/// that share pass once. Each caller makes its own model of the same bytes, and can be cancelled alone; the last one stops the transfer.
/// Those who come while it is under way have the time-outs of the first, counted from when it was sent, and observers see one request.
///
/// What is said of time-outs, limits, cookies, credentials, priority, networks, tags and gates must be equal too. Never shared are requests
/// with interceptors, plugins, observers, retries, hedging, redirects or caching of their own, those answered with a stub or by a
/// ``DataSource`` that looks at what is kept first, bodies of files and streams, downloads, and streamed responses. A request of an unsafe
/// method that has its outcome keeps later ones from joining what was sent before: they see what it changed.
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
    /// Requests that only read: GET, HEAD, OPTIONS and TRACE (RFC 9110 §9.2.1).
    public static let safeMethods = RequestSharing(.safe)
    /// Requests of any method: two equal ones at the same time do what one does.
    public static let allMethods = RequestSharing(.all)

    /// Leaves these headers out of what is compared: an ID of the request, a trace.
    ///
    /// `Authorization`, `Cookie`, `Proxy-Authorization` and the client's ``APIClient/Configuration/secretHeaders`` are compared all the same.
    public func ignoring(_ names: HTTPHeaderName...) -> RequestSharing { comparing(.except(Set(names))) }

    /// Compares these headers and no others but those that hold secrets.
    public func comparing(only names: HTTPHeaderName...) -> RequestSharing { comparing(.only(Set(names))) }

    private func comparing(_ fields: Fields) -> RequestSharing {
        var copy = self
        copy.fields = fields
        return copy
    }

    /// Whether requests of a method share transfers.
    func covers(_ method: HTTPMethod) -> Bool {
        switch methods {
        case .none: false
        case .safe: method.isSafe
        case .all: true
        }
    }

    /// The headers that must be equal.
    func significant(of headers: HTTPHeaders, secrets: [HTTPHeaderName]) -> HTTPHeaders {
        let isSecret = { (name: HTTPHeaderName) in Self.credentials.contains(name) || secrets.contains(name) }
        switch fields {
        case .except(let names):
            var rest = headers
            for name in names where !isSecret(name) { rest.remove(name) }
            return rest
        case .only(let names):
            var chosen = HTTPHeaders()
            for field in headers where names.contains(field.name) || isSecret(field.name) {
                chosen.append(field)
            }
            return chosen
        }
    }

    private static let credentials: [HTTPHeaderName] = [.authorization, .cookie, .proxyAuthorization]
}
