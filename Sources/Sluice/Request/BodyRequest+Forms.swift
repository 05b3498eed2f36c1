import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension BodyRequest {
    /// Sets a JSON body of names and values of any encodable types. The members are in no particular order.
    ///
    /// ```swift
    /// .json(["name": name, "nick": nil, "tags": ["a"]], root: "user")     // nick is left out
    /// .json(Parameters(["name": name, "nick": nil], nilValues: .null))    // nick is null
    /// ```
    public consuming func json(
        _ parameters: Parameters,
        root: String? = nil,
        encoder: JSONEncoder? = nil
    ) -> APIRequest<Model, ErrorModel> {
        body(.json(parameters, root: root, encoder: encoder))
    }

    /// Sets a form body, `application/x-www-form-urlencoded`.
    ///
    /// - Parameters:
    ///   - value: A structure or dictionary.
    ///   - encoder: The encoder; nil for the client's.
    /// - Returns: The request with that body.
    @_disfavoredOverload
    public consuming func form(
        _ value: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder? = nil
    ) -> APIRequest<Model, ErrorModel> {
        body(.form(value, encoder: encoder))
    }

    /// Sets a form body of names and values of any encodable types.
    public consuming func form(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> APIRequest<
        Model, ErrorModel
    > {
        body(.form(parameters, encoder: encoder))
    }

    /// Sets a multipart form body. Files and streams are read while they are sent (RFC 7578).
    public consuming func multipart(_ form: MultipartForm) -> APIRequest<Model, ErrorModel> { body(.multipart(form)) }

    /// Sets a property list body, in XML by default.
    public consuming func propertyList(
        _ value: some Encodable & Sendable,
        format: PropertyListDecoder.PropertyListFormat = .xml
    ) -> APIRequest<Model, ErrorModel> {
        body(.propertyList(value, format: format))
    }

    /// Sets a file as the body. It is read while it is sent. A missing file fails the request before a byte is sent.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - contentType: The media type; nil to derive it from the file's extension.
    /// - Returns: The request with that body.
    public consuming func file(_ url: URL, contentType: String? = nil) -> APIRequest<Model, ErrorModel> {
        body(.file(url, contentType: contentType))
    }
}
