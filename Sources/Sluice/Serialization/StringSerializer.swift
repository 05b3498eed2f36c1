import SluiceFoundation
import SluiceHTTP

/// Decodes a body as text, in the charset of the response.
///
/// ```swift
/// let page: String = try await client.serialized(by: StringSerializer()).request("index.html").sender().value
/// ```
///
/// The byte order mark takes precedence, then the charset of the `Content-Type`, then the default. Charsets and their
/// labels are those of the WHATWG Encoding Standard. `us-ascii` and `iso-8859-1` are therefore read as windows-1252,
/// which has a character for every byte, `gb2312` as GB18030, and `utf-16` without a mark as little-endian. Other
/// charsets, such as UTF-7 and UTF-32, are not supported, because a server should not be able to select any converter
/// of the system.
///
/// Invalid bytes are an error and are not replaced.
public struct StringSerializer: ResponseSerializer {
    private let defaultCharset: String

    /// Creates a serializer.
    ///
    /// - Parameter defaultCharset: The charset for responses that specify none. If its name is unknown, those responses
    ///   fail.
    public init(defaultCharset: String = "utf-8") {
        self.defaultCharset = defaultCharset
    }

    /// Decodes the body. An empty body is an empty string.
    ///
    /// - Parameter response: A response that has passed validation.
    /// - Returns: The text, without a byte order mark.
    /// - Throws: A ``SluiceError`` with the code ``SluiceError/Code/decodingFailed`` and a ``TextFailure`` as its
    ///   underlying error.
    public func serialize(_ response: ServerResponse) throws(SluiceError) -> String {
        do throws(TextFailure) {
            if let mark = ByteOrderMark(of: response.body) {
                return try mark.charset.decode(response.body, from: mark.length)
            }
            // If there are several fields, use the last valid one, as in the Fetch Standard.
            let types = response.head.headers.values(for: .contentType).compactMap(ContentType.init)
            let label = types.last?.charset.flatMap { $0.isEmpty ? nil : $0 } ?? defaultCharset
            guard let charset = Charset(label: label) else { throw .unknown(label) }
            return try charset.decode(response.body, from: 0)
        } catch {
            throw SluiceError(.decodingFailed, error.description, step: .serialization, underlyingError: error)
        }
    }
}
