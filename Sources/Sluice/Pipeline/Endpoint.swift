import SluiceFoundation
import SluiceHTTP

/// A description that a request can be created from: a path, a ``URITemplate`` with its variables, or a ``Target``.
public protocol Endpoint: Sendable {
    /// Returns the description of the request.
    ///
    /// - Returns: The description of the request.
    /// - Throws: Any error. The request fails with it when it is sent.
    func draft() throws -> RequestDraft
}

/// A path that is appended to the base URL, optionally with a query, or a whole URL that replaces it.
extension String: Endpoint {
    /// Returns a GET request to this path.
    public func draft() -> RequestDraft { RequestDraft(path: self) }
}

/// A whole URL that replaces the base URL, or a path if the URL is relative and has no base of its own.
extension URL: Endpoint {
    /// Returns a GET request to this URL.
    public func draft() -> RequestDraft { RequestDraft(path: absoluteString) }
}

// MARK: - Targets

/// A part of an API as a type, usually an enum with one case for each request.
///
/// ```swift
/// enum GitHub: Target {
///     case zen, user(Int), mute(thread: Int)
///
///     var baseURL: String { "https://api.github.com" }
///     var path: String {
///         switch self {
///         case .zen: "zen"
///         case .user(let id): "user/\(id)"
///         case .mute(let thread): "notifications/threads/\(thread)/subscription"
///         }
///     }
///     var method: HTTPMethod {
///         if case .mute = self { .put } else { .get }
///     }
/// }
///
/// let user: User = try await client.request(GitHub.user(10_639_145)).sender().value
/// let zen = try await client.string.request(GitHub.zen).sender().value
/// ```
///
/// All requirements except ``baseURL`` and ``path`` have defaults, and a target with a ``RequestTask`` must say its
/// ``method``. One client can send targets of any number of types.
///
/// A property may be optional where its type here is not, and the reverse, except ``baseURL``, ``path``, ``method``,
/// ``validation``, ``usesCookies`` and ``userInfo``. Headers can be a `[String: String]`, the task a ``MethodTask``, and tags a
/// `[String]`. A property with the name of a requirement and any other type does not compile.
public protocol Target: Endpoint, _TargetDeclarations {
    /// An absolute http or https URL, which replaces the client's.
    var baseURL: String { get }
    /// The path, which is appended to the base URL, optionally with a query.
    var path: String { get }
    /// The method; by default that of a ``MethodTask``, and GET without a task.
    var method: HTTPMethod { get }
    /// Parameters and body, as a ``RequestTask`` or, with the method of each case, as a ``MethodTask``. Without
    /// parameters and body by default.
    var task: RequestTask { get }
    /// The headers, which replace the client's of the same name; none by default.
    var headers: HTTPHeaders { get }
    /// The rules for successful responses; ``Validation/client`` by default.
    var validation: Validation { get }
    /// The time-outs; nil, the default, for the client's.
    var timeouts: Timeouts? { get }
    /// Another host to send to, such as a CDN's; nil by default.
    var host: String? { get }
    /// The networks that can carry the request; all by default. No effect on Linux.
    var networkAccess: NetworkAccess { get }
    /// True if the request sends and stores cookies, if the client has a cookie jar. The default is true.
    var usesCookies: Bool { get }
    /// The instructions for caches; none by default.
    var cachePolicy: CachePolicy { get }
    /// The source of the response: the server, or a stored response to an earlier request. Nil, the default, for the
    /// client's. Like the client's, it applies to safe methods only.
    var dataSource: DataSource? { get }
    /// The expiration of the responses that the ``dataSource`` stores; nil, the default, for the client's.
    var cacheExpiration: CacheExpiration? { get }
    /// The tags of the responses that the cache stores, by which ``CacheStore/remove(tag:)`` removes them together. They
    /// are added to the client's; none by default.
    var cacheTags: Set<String> { get }
    /// The tags, by which gates and interceptors distinguish requests; none by default.
    var tags: Set<String> { get }
    /// Values of the target's own, which plugins and the other steps can read; none by default. They are not sent.
    var userInfo: [String: any Sendable] { get }
    /// The stub that answers instead of the server; nil by default. A client whose
    /// ``APIClient/Configuration/stubMode`` is ``StubMode/never`` ignores it.
    var stub: Stub? { get }
}

extension Target {
    /// Returns the request that the target describes.
    ///
    /// It fails with ``SluiceError/Code/invalidMethod`` when it is sent if its task has a body and its method is GET,
    /// HEAD or TRACE.
    public func draft() -> RequestDraft {
        let method: HTTPMethod = method
        var draft = RequestDraft(method: method, path: path)
        var options = RequestOptions()
        options.baseURL = baseURL
        options.host = host
        options.tags = tags
        options.networkAccess = networkAccess
        options.usesCookies = usesCookies
        options.stub = stub
        options.validation.replace(by: validation)
        if let timeouts: Timeouts = timeouts { options.timeouts.replace(with: timeouts) }
        options.isTarget = true
        draft.options = options
        draft.headers = headers
        let cachePolicy: CachePolicy = cachePolicy
        if cachePolicy != .standard { draft = draft.cachePolicy(cachePolicy) }
        let userInfo: [String: any Sendable] = userInfo
        if !userInfo.isEmpty { draft.options.userInfo = userInfo }
        if method.isSafe, let dataSource: DataSource = dataSource { draft = draft.dataSource(dataSource) }
        if let expiration: CacheExpiration = cacheExpiration { draft = draft.caching { $0.expiration = expiration } }
        let cacheTags: Set<String> = cacheTags
        if !cacheTags.isEmpty { draft = draft.caching { $0.tags.formUnion(cacheTags) } }
        let task: RequestTask = task
        task.apply(to: &draft)
        return draft
    }
}

// MARK: - Request task

/// The content of a ``Target``: parameters, a body, or both.
///
/// ```swift
/// var task: RequestTask {
///     switch self {
///     case .search(let words): .parameters(["q": words, "page": 1])
///     case .create(let user): .json(user).query(["notify": true])
///     case .picture(let file): .file(file, contentType: "image/png")
///     }
/// }
/// ```
public struct RequestTask: Sendable {
    private var query: [QueryPart] = []
    private var parameters: RequestParameters?
    private var body: RequestBody?

    /// No parameters and no body.
    public static let plain = RequestTask()

    /// Parameters, sent in the query or, for a method with a body, as a form.
    @_disfavoredOverload
    public static func parameters(
        _ parameters: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder? = nil
    ) -> RequestTask {
        plain.adding(RequestParameters(value: parameters, encoder: encoder))
    }

    /// Names and values of any encodable types. Nil values are omitted.
    public static func parameters(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> RequestTask {
        plain.adding(RequestParameters(value: parameters, encoder: encoder))
    }

    /// Any ``RequestBody``.
    public static func body(_ body: RequestBody) -> RequestTask {
        var task = RequestTask()
        task.body = body
        return task
    }

    /// Bytes with their media type.
    public static func data(_ data: Data, contentType: String? = nil) -> RequestTask {
        body(.data(data, contentType: contentType))
    }

    /// A file or a part of it, read while it is sent.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - range: The positions of the bytes to send; nil for the whole file.
    ///   - contentType: The media type; nil to derive it from the file's extension.
    /// - Returns: A task that uploads the file.
    public static func file(_ url: URL, range: Range<Int>? = nil, contentType: String? = nil) -> RequestTask {
        body(.file(url, range: range, contentType: contentType))
    }

    /// A JSON body.
    @_disfavoredOverload
    public static func json(
        _ value: some Encodable & Sendable,
        root: String? = nil,
        encoder: JSONEncoder? = nil
    ) -> RequestTask {
        body(.json(value, root: root, encoder: encoder))
    }

    /// A JSON body of names and values of any encodable types.
    public static func json(_ parameters: Parameters, root: String? = nil, encoder: JSONEncoder? = nil) -> RequestTask {
        body(.json(parameters, root: root, encoder: encoder))
    }

    /// A form body.
    @_disfavoredOverload
    public static func form(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> RequestTask {
        body(.form(value, encoder: encoder))
    }

    /// A form body of names and values of any encodable types.
    public static func form(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> RequestTask {
        body(.form(parameters, encoder: encoder))
    }

    /// Unavailable: the types of the values are not known. Pass `try Parameters(any: values)`.
    @available(*, unavailable, message: "The types of the values are not known: pass \"try Parameters(any: values)\".")
    @_disfavoredOverload
    public static func parameters(_ values: [String: Any], encoder: URLEncodedFormEncoder? = nil) -> RequestTask {
        .parameters([:])
    }

    /// Unavailable: the types of the values are not known. Write `as JSON` after a literal, or pass `try Parameters(any: values)`.
    @available(
        *,
        unavailable,
        message:
            "The types of the values are not known. Write \"as JSON\" after a literal, or pass \"try Parameters(any: values)\"."
    )
    @_disfavoredOverload
    public static func json(_ values: [String: Any], root: String? = nil, encoder: JSONEncoder? = nil) -> RequestTask {
        .parameters([:])
    }

    /// Unavailable: the types of the values are not known. Pass `try Parameters(any: values)`.
    @available(*, unavailable, message: "The types of the values are not known: pass \"try Parameters(any: values)\".")
    @_disfavoredOverload
    public static func form(_ values: [String: Any], encoder: URLEncodedFormEncoder? = nil) -> RequestTask {
        .parameters([:])
    }

    /// A property list body, in XML by default.
    public static func propertyList(
        _ value: some Encodable & Sendable,
        format: PropertyListDecoder.PropertyListFormat = .xml
    ) -> RequestTask {
        body(.propertyList(value, format: format))
    }

    /// A multipart form body.
    public static func multipart(_ form: MultipartForm) -> RequestTask {
        body(.multipart(form))
    }

    /// Adds parameters to the query, for any method and with any body.
    @_disfavoredOverload
    public func query(_ parameters: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> RequestTask {
        adding(query: RequestParameters(value: parameters, encoder: encoder))
    }

    /// Adds parameters of any encodable types to the query.
    public func query(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> RequestTask {
        adding(query: RequestParameters(value: parameters, encoder: encoder))
    }

    private func adding(_ parameters: RequestParameters) -> RequestTask {
        var task = self
        task.parameters = parameters
        return task
    }

    private func adding(query parameters: RequestParameters) -> RequestTask {
        var task = self
        task.query.append(.encoded(parameters))
        return task
    }

    func apply(to draft: inout RequestDraft) {
        for part in query { draft.add(part) }
        if let parameters { draft.options.parameters.append(parameters) }
        if let body { draft.body = body }
    }
}

/// A ``RequestTask`` and its method, for a ``Target`` whose cases say both in one place.
///
/// ```swift
/// var task: MethodTask {
///     switch self {
///     case .user: .get()
///     case .search(let words): .get(.parameters(["q": words]))
///     case .create(let user): .post(.json(user))
///     case .remove: .delete()
///     }
/// }
/// ```
public struct MethodTask: Sendable {
    let method: HTTPMethod
    let task: RequestTask

    /// Creates a task with any method.
    public init(_ method: HTTPMethod, _ task: RequestTask = .plain) {
        self.method = method
        self.task = task
    }

    /// A GET request. A body fails it with ``SluiceError/Code/invalidMethod``.
    public static func get(_ task: RequestTask = .plain) -> MethodTask { MethodTask(.get, task) }
    /// A POST request.
    public static func post(_ task: RequestTask = .plain) -> MethodTask { MethodTask(.post, task) }
    /// A PUT request.
    public static func put(_ task: RequestTask = .plain) -> MethodTask { MethodTask(.put, task) }
    /// A PATCH request.
    public static func patch(_ task: RequestTask = .plain) -> MethodTask { MethodTask(.patch, task) }
    /// A DELETE request.
    public static func delete(_ task: RequestTask = .plain) -> MethodTask { MethodTask(.delete, task) }
}
