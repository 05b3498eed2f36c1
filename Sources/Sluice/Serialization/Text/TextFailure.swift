/// The reason a body cannot be decoded as text: the underlying error of ``SluiceError/Code/decodingFailed``.
public struct TextFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the charset in the WHATWG Encoding Standard, or the label in the response if it is unknown.
    public let charset: String
    /// The offset of the first invalid byte; nil if the charset is unknown or has no converter, or the system does not
    /// report the offset.
    public let offset: Int?
    /// The problem, phrased as the rest of a sentence.
    public let reason: String

    /// The failure for a charset that is not in the Encoding Standard.
    static func unknown(_ label: String) -> TextFailure {
        // The label comes from the server and is written to logs.
        let name = String(label.unicodeScalars.prefix(40).map { (" "..."~").contains($0) ? Character($0) : "?" })
        return TextFailure(charset: name, offset: nil, reason: "its charset “\(name)” is not known")
    }

    static func invalid(_ charset: Charset, at offset: Int?) -> TextFailure {
        let place = offset.map { "its byte at \($0)" } ?? "it"
        return TextFailure(charset: charset.name, offset: offset, reason: "\(place) is not valid \(charset.name)")
    }

    static func unavailable(_ charset: Charset) -> TextFailure {
        let reason = "this system has no converter for its charset “\(charset.name)”"
        return TextFailure(charset: charset.name, offset: nil, reason: reason)
    }

    /// A one-sentence description without any of the text.
    public var description: String { "The response cannot be read as text: \(reason)." }
}
