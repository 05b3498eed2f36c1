import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension BodyRequest {
    /// Sends names with values of any encodable types as JSON, in any order.
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

    /// Sends names and values as a browser sends a form, `application/x-www-form-urlencoded`.
    ///
    /// - Parameters:
    ///   - value: A structure or dictionary.
    ///   - encoder: The encoder, nil for the client's.
    /// - Returns: The request with that body.
    @_disfavoredOverload
    public consuming func form(
        _ value: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder? = nil
    ) -> APIRequest<Model, ErrorModel> {
        body(.form(value, encoder: encoder))
    }

    /// Sends names with values of any encodable types as a browser sends a form.
    public consuming func form(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> APIRequest<
        Model, ErrorModel
    > {
        body(.form(parameters, encoder: encoder))
    }

    /// Sends the parts of a form, files and streams among them, read while they are sent (RFC 7578).
    public consuming func multipart(_ form: MultipartForm) -> APIRequest<Model, ErrorModel> { body(.multipart(form)) }

    /// Sends a value as a property list, in XML unless another format is named.
    public consuming func propertyList(
        _ value: some Encodable & Sendable,
        format: PropertyListDecoder.PropertyListFormat = .xml
    ) -> APIRequest<Model, ErrorModel> {
        body(.propertyList(value, format: format))
    }

    /// Sends a file, read while it is sent; one that is missing fails the request before a byte is sent.
    ///
    /// - Parameters:
    ///   - url: Where it is.
    ///   - contentType: Its media type; nil for the one its extension stands for.
    /// - Returns: The request with that body.
    public consuming func file(_ url: URL, contentType: String? = nil) -> APIRequest<Model, ErrorModel> {
        body(.file(url, contentType: contentType))
    }
}
