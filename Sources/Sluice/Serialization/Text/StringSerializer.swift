import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes a text of a body, in the charset that the response says.
///
/// ```swift
/// let page: String = try await client.serialized(by: StringSerializer()).request("index.html").sender().value
/// ```
///
/// A byte order mark counts first, then the charset of the `Content-Type`, then the default. Charsets are those of the
/// WHATWG Encoding Standard under all their names there; so `us-ascii` and `iso-8859-1` are read as windows-1252, which
/// has a character for every byte, `gb2312` as GB18030, and `utf-16` without a mark as little-endian. Others, UTF-7 and
/// UTF-32 among them, are not known, since a server should not choose among all of a system's converters.
///
/// Nothing is replaced: bytes that the charset does not have are an error.
public struct StringSerializer: ResponseSerializer {
    /// The charset of a response that says none.
    public let defaultCharset: String

    /// Makes a serializer.
    ///
    /// - Parameter defaultCharset: The charset of a response that says none; a name that is not known fails those.
    public init(defaultCharset: String = "utf-8") {
        self.defaultCharset = defaultCharset
    }

    /// Decodes the body; an empty one is an empty text.
    ///
    /// - Parameter response: A response that has passed validation.
    /// - Returns: The text, without a byte order mark.
    /// - Throws: A ``SluiceError`` of ``SluiceError/Code/decodingFailed``, caused by a ``TextFailure``.
    public func serialize(_ response: ServerResponse) throws(SluiceError) -> String {
        do throws(TextFailure) {
            if let mark = ByteOrderMark(of: response.body) {
                return try mark.charset.decode(response.body, from: mark.length)
            }
            // Of several fields, the last that can be read counts, as in the Fetch Standard.
            let types = response.head.headers.values(for: .contentType).compactMap(ContentType.init)
            let label = types.last?.charset.flatMap { $0.isEmpty ? nil : $0 } ?? defaultCharset
            guard let charset = Charset(label: label) else { throw .unknown(label) }
            return try charset.decode(response.body, from: 0)
        } catch {
            throw SluiceError(.decodingFailed, error.description, step: .serialization, underlyingError: error)
        }
    }
}
