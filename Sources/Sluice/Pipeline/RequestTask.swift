import SluiceFoundation
import SluiceHTTP

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

    /// A file, read while it is sent.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - contentType: The media type; nil to derive it from the file's extension.
    /// - Returns: A task that uploads the file.
    public static func file(_ url: URL, contentType: String? = nil) -> RequestTask {
        body(.file(url, contentType: contentType))
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
    @available(
        *,
        unavailable,
        message: "The types of these values are not known: pass \"try Parameters(any: values)\"."
    )
    @_disfavoredOverload
    public static func parameters(_ values: [String: Any], encoder: URLEncodedFormEncoder? = nil) -> RequestTask {
        .parameters([:])
    }

    /// Unavailable: the types of the values are not known. Pass `try Parameters(any: values)`.
    @available(
        *,
        unavailable,
        message: "The types of these values are not known: pass \"try Parameters(any: values)\"."
    )
    @_disfavoredOverload
    public static func json(_ values: [String: Any], root: String? = nil, encoder: JSONEncoder? = nil) -> RequestTask {
        .parameters([:])
    }

    /// Unavailable: the types of the values are not known. Pass `try Parameters(any: values)`.
    @available(
        *,
        unavailable,
        message: "The types of these values are not known: pass \"try Parameters(any: values)\"."
    )
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
