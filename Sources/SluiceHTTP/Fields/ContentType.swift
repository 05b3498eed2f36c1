/// The value of a `Content-Type`: a media type and its parameters (RFC 9110 §8.3).
///
/// ```swift
/// let type = ContentType(#"Text/HTML; Charset="windows-1251""#)
/// type?.essence  // text/html
/// type?.charset  // windows-1251
/// ```
public struct ContentType: Sendable, Hashable {
    /// A parameter.
    public struct Parameter: Sendable, Hashable {
        /// The name in lowercase.
        public let name: String
        /// The value, unquoted and unescaped.
        public let value: String
    }

    /// The type in lowercase, such as `text`.
    public let type: String
    /// The subtype in lowercase, such as `html`.
    public let subtype: String
    /// The parameters in their order. Of parameters with the same name only the first is kept.
    public let parameters: [Parameter]

    /// Parses a field's value; nil if the type or subtype is missing or is not a token.
    ///
    /// As the WHATWG MIME Sniffing Standard requires, malformed parameters are skipped, and an unclosed quoted string
    /// ends with the text.
    ///
    /// - Parameter text: The value of one `Content-Type` field.
    public init?(_ text: String) {
        var reader = ContentTypeReader(text)
        guard let type = reader.token(endingAt: "/"), reader.skip("/"), let subtype = reader.token(endingAt: ";") else {
            return nil
        }
        self.type = type
        self.subtype = subtype
        var parameters: [Parameter] = []
        while let parameter = reader.nextParameter() {
            if let parameter, !parameters.contains(where: { $0.name == parameter.name }) {
                parameters.append(parameter)
            }
        }
        self.parameters = parameters
    }

    /// The media type without parameters, in lowercase, such as `text/html`.
    public var essence: String { "\(type)/\(subtype)" }

    /// The value of the parameter `charset` as received; nil if there is none.
    public var charset: String? { self["charset"] }

    /// The value of a parameter; nil if there is none. The case of the name is ignored.
    public subscript(parameter: String) -> String? {
        parameters.first { $0.name == parameter.lowercased() }?.value
    }
}

extension ContentType: CustomStringConvertible {
    /// The value in the form of a field. Parameter values that are not tokens are quoted.
    public var description: String {
        parameters.reduce(into: essence) { text, parameter in
            text += ";\(parameter.name)="
            if !parameter.value.isEmpty, parameter.value.utf8.allSatisfy(\.isTokenCharacter) {
                text += parameter.value
            } else {
                text += "\""
                for scalar in parameter.value.unicodeScalars {
                    if scalar == "\"" || scalar == "\\" { text += "\\" }
                    text.unicodeScalars.append(scalar)
                }
                text += "\""
            }
        }
    }
}

/// A parser for the value of a `Content-Type` field.
private struct ContentTypeReader {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    /// Reads a token up to a delimiter or the end, in lowercase and trimmed; nil if it is not a token. Does not consume
    /// the delimiter.
    mutating func token(endingAt end: Unicode.Scalar) -> String? {
        let text = take { $0 == UInt8(ascii: end) }.trimmed
        guard !text.isEmpty, text.allSatisfy(\.isTokenCharacter) else { return nil }
        return Substring(text).lowercased()
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Reads the next parameter (RFC 9110 §5.6.6); nil at the end, `.some(nil)` if the parameter is malformed.
    mutating func nextParameter() -> ContentType.Parameter?? {
        guard skip(";") else { return nil }
        let name = take { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") }.trimmed
        guard skip("=") else { return .some(nil) }
        let value: String
        if skip("\"") {
            value = quoted()
            _ = take { $0 == UInt8(ascii: ";") }
        } else {
            value = String(Substring(take { $0 == UInt8(ascii: ";") }.trimmed))
            if value.isEmpty { return .some(nil) }
        }
        let isValid = value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
        guard isValid, !name.isEmpty, name.allSatisfy(\.isTokenCharacter) else { return .some(nil) }
        return ContentType.Parameter(name: Substring(name).lowercased(), value: value)
    }

    /// Reads the rest of a quoted string whose opening quote has been consumed (RFC 9110 §5.6.4).
    private mutating func quoted() -> String {
        var bytes: [UInt8] = []
        while let byte = rest.first {
            rest = rest.dropFirst()
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\"), let escaped = rest.first {
                rest = rest.dropFirst()
                bytes.append(escaped)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func take(until isEnd: (UInt8) -> Bool) -> Substring.UTF8View {
        let taken = rest.prefix { !isEnd($0) }
        rest = rest[taken.endIndex...]
        return taken
    }
}

extension Substring.UTF8View {
    /// The text without surrounding spaces and tabs.
    fileprivate var trimmed: Self {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        var text = drop(while: isSpace)
        while let last = text.last, isSpace(last) { text = text.dropLast() }
        return text
    }
}
