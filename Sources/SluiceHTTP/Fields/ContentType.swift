/// The value of a `Content-Type`: a media type and its parameters (RFC 9110 §8.3).
///
/// ```swift
/// let type = ContentType(#"Text/HTML; Charset="windows-1251""#)
/// type?.essence  // text/html
/// type?.charset  // windows-1251
/// ```
public struct ContentType: Sendable, Hashable {
    /// A parameter.
    package struct Parameter: Sendable, Hashable {
        /// The name in lowercase.
        package let name: String
        /// The value, unquoted and unescaped.
        package let value: String
    }

    /// The type in lowercase, such as `text`.
    public let type: String
    /// The subtype in lowercase, such as `html`.
    public let subtype: String
    /// The parameters in their order. Of parameters with the same name only the first is kept.
    package let parameters: [Parameter]

    /// Parses a field's value; nil if the type or subtype is missing or is not a token.
    ///
    /// As the WHATWG MIME Sniffing Standard requires, malformed parameters are skipped, and an unclosed quoted string
    /// ends with the text. Parameters after the hundredth are ignored.
    ///
    /// - Parameter text: The value of one `Content-Type` field.
    public init?(_ text: String) {
        var parser = FieldParser(text.utf8[...])
        let type = parser.take { $0 == UInt8(ascii: "/") }.trimmed
        guard type.isToken, parser.skip("/") else { return nil }
        let subtype = parser.take { $0 == UInt8(ascii: ";") }.trimmed
        guard subtype.isToken else { return nil }
        self.type = Substring(type).lowercased()
        self.subtype = Substring(subtype).lowercased()
        var parameters: [Parameter] = []
        while parameters.count < 100, let parameter = parser.nextParameter() {
            let name = Substring(parameter.name).lowercased()
            guard parameter.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }),
                !parameters.contains(where: { $0.name == name })
            else { continue }
            parameters.append(Parameter(name: name, value: parameter.value))
        }
        self.parameters = parameters
    }

    /// The media type without parameters, in lowercase, such as `text/html`.
    public var essence: String { "\(type)/\(subtype)" }

    /// Returns the text before the parameters as it is written. The text need not be a valid media type.
    package static func essence(of text: String) -> Substring {
        Substring(text.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") })
    }

    /// The value of the parameter `charset` as received; nil if there is none.
    public var charset: String? { self["charset"] }

    /// The value of a parameter, unquoted and unescaped; nil if there is none. The case of the name is ignored.
    public subscript(parameter: String) -> String? {
        parameters.first { $0.name == parameter.lowercased() }?.value
    }
}

extension ContentType: CustomStringConvertible {
    /// The value in the form of a field. Parameter values that are not tokens are quoted.
    public var description: String {
        parameters.reduce(into: essence) { text, parameter in
            let value = parameter.value
            text += ";\(parameter.name)=\(value.utf8.isToken ? value : value.asQuotedString)"
        }
    }
}
