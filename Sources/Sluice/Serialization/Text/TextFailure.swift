/// Why a body cannot be read as text: the underlying error of ``SluiceError/Code/decodingFailed``.
public struct TextFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The charset: its name in the WHATWG Encoding Standard, or, if it is none of those, what the response says.
    public let charset: String
    /// The first byte that is not valid in the charset, counted from 0; nil if the charset is the trouble, or the system
    /// does not tell.
    public let offset: Int?
    /// What is wrong, as the rest of a sentence.
    public let reason: String

    /// A charset that is none of the Encoding Standard's.
    static func unknown(_ label: String) -> TextFailure {
        // It comes from the server and goes into logs.
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

    /// One sentence, without any of the text.
    public var description: String { "The response cannot be read as text: \(reason)." }
}
