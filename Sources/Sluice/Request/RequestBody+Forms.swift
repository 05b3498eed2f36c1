import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RequestBody {
    /// A form body of names and values.
    ///
    /// - Parameters:
    ///   - value: A structure or dictionary.
    ///   - encoder: The encoder; nil for the client's.
    /// - Returns: A body of type `application/x-www-form-urlencoded`.
    @_disfavoredOverload
    public static func form(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> RequestBody {
        form([RequestParameters(value: value, encoder: encoder)])
    }

    /// A form body of names and values of any encodable types.
    public static func form(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> RequestBody {
        form([RequestParameters(value: parameters, encoder: encoder)])
    }

    static func form(_ parameters: [RequestParameters]) -> RequestBody {
        RequestBody(contentType: "application/x-www-form-urlencoded") { configuration in
            let texts = try parameters.map { try $0.text(by: configuration.formEncoder) }
            return .data(Data(texts.filter { !$0.isEmpty }.joined(separator: "&").utf8))
        }
    }

    /// A multipart form body. Files and streams are read while they are sent (RFC 7578).
    public static func multipart(_ form: MultipartForm) -> RequestBody {
        RequestBody(contentType: form.contentType) { _ in try form.body() }
    }

    /// A property list body.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - format: The format; XML by default.
    /// - Returns: A body of type `application/x-plist`.
    public static func propertyList(
        _ value: some Encodable & Sendable,
        format: PropertyListDecoder.PropertyListFormat = .xml
    ) -> RequestBody {
        RequestBody(contentType: "application/x-plist") { _ in
            let encoder = PropertyListEncoder()
            encoder.outputFormat = format
            return .data(try encoder.encode(value))
        }
    }

    /// A file as the body. It is read while it is sent. A missing file fails the request before a byte is sent.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - contentType: The media type; nil to derive it from the file's extension.
    /// - Returns: A body with the contents of the file.
    public static func file(_ url: URL, contentType: String? = nil) -> RequestBody {
        .bytes(.file(url), contentType: contentType ?? MediaType.forFileExtension(url.pathExtension))
    }
}
