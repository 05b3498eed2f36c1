import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RequestBody {
    /// Names and values, as a browser sends a form.
    ///
    /// - Parameters:
    ///   - value: A structure or dictionary.
    ///   - encoder: The encoder, nil for the client's.
    /// - Returns: A body of the type `application/x-www-form-urlencoded`.
    @_disfavoredOverload
    public static func form(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> RequestBody {
        form([RequestParameters(value: value, encoder: encoder)])
    }

    /// Names with values of any encodable types.
    public static func form(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> RequestBody {
        form([RequestParameters(value: parameters, encoder: encoder)])
    }

    static func form(_ parameters: [RequestParameters]) -> RequestBody {
        RequestBody(contentType: "application/x-www-form-urlencoded") { configuration in
            let texts = try parameters.map { try $0.text(by: configuration.formEncoder) }
            return .data(Data(texts.filter { !$0.isEmpty }.joined(separator: "&").utf8))
        }
    }

    /// The parts of a form, files and streams among them, read while they are sent (RFC 7578).
    public static func multipart(_ form: MultipartForm) -> RequestBody {
        RequestBody(contentType: form.contentType) { _ in try form.body() }
    }

    /// A value as a property list.
    ///
    /// - Parameters:
    ///   - value: What to encode.
    ///   - format: XML by default, or binary.
    /// - Returns: A body of the type `application/x-plist`.
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

    /// A file, read while it is sent; one that is missing fails the request before a byte is sent.
    ///
    /// - Parameters:
    ///   - url: Where it is.
    ///   - contentType: Its media type; nil for the one its extension stands for.
    /// - Returns: A body of that file.
    public static func file(_ url: URL, contentType: String? = nil) -> RequestBody {
        .bytes(.file(url), contentType: contentType ?? MediaType.forFileExtension(url.pathExtension))
    }
}
