import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a ``Target`` sends besides its head: parameters, a body, or both.
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

    /// Neither parameters nor body.
    public static let plain = RequestTask()

    /// Parameters, which go into the query where the method has no body, and into a form where it has one.
    @_disfavoredOverload
    public static func parameters(
        _ parameters: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder? = nil
    ) -> RequestTask {
        plain.adding(RequestParameters(value: parameters, encoder: encoder))
    }

    /// Names with values of any encodable types; nil is left out.
    public static func parameters(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> RequestTask {
        plain.adding(RequestParameters(value: parameters, encoder: encoder))
    }

    /// A body described by a ``RequestBody``.
    public static func body(_ body: RequestBody) -> RequestTask {
        var task = RequestTask()
        task.body = body
        return task
    }

    /// Bytes with their media type.
    public static func data(_ data: Data, contentType: String = MediaType.octetStream) -> RequestTask {
        body(.data(data, contentType: contentType))
    }

    /// A file, read while it is sent.
    ///
    /// - Parameters:
    ///   - url: Where it is.
    ///   - contentType: Its media type; nil for the one its extension stands for.
    /// - Returns: A task that uploads the file.
    public static func file(_ url: URL, contentType: String? = nil) -> RequestTask {
        body(.file(url, contentType: contentType))
    }

    /// A value as JSON.
    @_disfavoredOverload
    public static func json(
        _ value: some Encodable & Sendable,
        root: String? = nil,
        encoder: JSONEncoder? = nil
    ) -> RequestTask {
        body(.json(value, root: root, encoder: encoder))
    }

    /// Names with values of any encodable types as JSON.
    public static func json(_ parameters: Parameters, root: String? = nil, encoder: JSONEncoder? = nil) -> RequestTask {
        body(.json(parameters, root: root, encoder: encoder))
    }

    /// Names and values as a browser sends a form.
    @_disfavoredOverload
    public static func form(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> RequestTask {
        body(.form(value, encoder: encoder))
    }

    /// Names with values of any encodable types as a browser sends a form.
    public static func form(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> RequestTask {
        body(.form(parameters, encoder: encoder))
    }

    /// A value as a property list, in XML unless another format is named.
    public static func propertyList(
        _ value: some Encodable & Sendable,
        format: PropertyListDecoder.PropertyListFormat = .xml
    ) -> RequestTask {
        body(.propertyList(value, format: format))
    }

    /// Parts of a form, files among them.
    public static func multipart(_ form: MultipartForm) -> RequestTask {
        body(.multipart(form))
    }

    /// Parameters in the query, whatever the method, beside the body.
    @_disfavoredOverload
    public func query(_ parameters: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> RequestTask {
        adding(query: RequestParameters(value: parameters, encoder: encoder))
    }

    /// Parameters in the query, of any encodable types.
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
