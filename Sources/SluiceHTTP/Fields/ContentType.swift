/// The value of a `Content-Type`: a media type and its parameters (RFC 9110 §8.3).
package struct ContentType: Sendable, Hashable {
    package struct Parameter: Sendable, Hashable {
        package let name: String
        /// The value, unquoted and unescaped.
        package let value: String
    }

    /// The type in lowercase, such as `text`.
    package let type: String
    /// The subtype in lowercase, such as `html`.
    package let subtype: String
    /// The parameters in their order. Of parameters with the same name only the first is kept.
    package private(set) var parameters: [Parameter]

    /// Parses a field's value; nil if the type or subtype is missing or is not a token.
    ///
    /// As the WHATWG MIME Sniffing Standard requires, malformed parameters are skipped, and an unclosed quoted string
    /// ends with the text. Parameters after the hundredth are ignored.
    ///
    /// - Parameter text: The value of one `Content-Type` field.
    package init?(_ text: String) {
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
    package var essence: String { "\(type)/\(subtype)" }

    /// Returns the text before the parameters as it is written. The text need not be a valid media type.
    package static func essence(of text: String) -> Substring {
        Substring(text.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") })
    }

    /// The value of the parameter `charset` as received; nil if there is none.
    package var charset: String? { self["charset"] }

    /// Returns the value with another charset in place of its own; unchanged if it has none.
    package func replacingCharset(with charset: String) -> ContentType {
        var type = self
        type.parameters = parameters.map { $0.name == "charset" ? Parameter(name: $0.name, value: charset) : $0 }
        return type
    }

    /// The value of a parameter, unquoted and unescaped; nil if there is none. The case of the name is ignored.
    package subscript(parameter: String) -> String? {
        parameters.first { $0.name == parameter.lowercased() }?.value
    }
}

extension ContentType: CustomStringConvertible {
    /// The value in the form of a field. Parameter values that are not tokens are quoted.
    package var description: String {
        parameters.reduce(into: essence) { text, parameter in
            let value = parameter.value
            text += ";\(parameter.name)=\(value.utf8.isToken ? value : value.asQuotedString)"
        }
    }
}

// MARK: - Content disposition

/// The value of a `Content-Disposition`: how a response is to be presented, and its suggested file name (RFC 6266).
///
/// ```swift
/// let disposition = ContentDisposition("attachment; filename=\"EUR.txt\"; filename*=UTF-8''%E2%82%AC.txt")
/// disposition?.type      // attachment
/// disposition?.fileName  // €.txt
/// ```
///
/// The name is exactly as the server sent it: it may contain slashes, or be a name with a special meaning to the
/// system. A download makes it safe before it uses it.
package struct ContentDisposition: Sendable, Hashable {
    /// The type in lower case: `attachment`, `inline`, or an unknown type, which is treated as `attachment` (RFC 6266
    /// §4.2).
    package let type: String
    /// The file name that the server suggests; `filename*` takes precedence over `filename` (RFC 6266 §4.3). Nil if
    /// there is none.
    package let fileName: String?

    /// Parses a field value; nil if the type is missing or not a token.
    ///
    /// Malformed parameters are skipped, and the first parameter of each name counts. A quote that is not closed ends
    /// with the text, and a `filename` without quotes may contain spaces. Percent-encoding is decoded in `filename*`
    /// only (RFC 8187), which may be in UTF-8 or ISO-8859-1.
    ///
    /// - Parameter text: The value of one `Content-Disposition`.
    package init?(_ text: String) {
        var parser = FieldParser(text.utf8[...])
        let type = parser.take { $0 == UInt8(ascii: ";") }.trimmed
        guard type.isToken else { return nil }
        self.type = Substring(type).lowercased()
        var plain: String?
        var extended: String?
        while let parameter = parser.nextParameter(allowsSpace: true) {
            if parameter.value.isEmpty { continue }
            switch Substring(parameter.name).lowercased() {
            case "filename" where plain == nil: plain = parameter.value
            case "filename*" where extended == nil && !parameter.isQuoted:
                extended = ExtendedValue(parameter.value)?.text
            default: break
            }
        }
        fileName = extended ?? plain
    }

    /// Parses the first readable value of a response; nil if there is none.
    ///
    /// - Parameter head: The response's head.
    package init?(of head: HTTPResponse) {
        let values = head.headers.fieldValues(for: .contentDisposition).lazy
        guard let value = values.compactMap({ Self($0.latin1Text) }).first else { return nil }
        self = value
    }
}

/// The value of a parameter whose name ends with an asterisk: `UTF-8'en'%E2%82%AC` (RFC 8187 §3.2).
private struct ExtendedValue {
    let text: String

    /// Nil for an unsupported charset, for a `%` that does not begin a triplet, and for bytes that are invalid in the
    /// charset.
    ///
    /// Characters that should have been encoded are accepted as they are, because many servers do not encode them.
    init?(_ value: String) {
        let parts = value.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].allSatisfy({ $0 < 0x80 }), parts[2].allSatisfy({ (0x21...0x7E).contains($0) }),
            let bytes = PercentEncoding.strictlyDecoded(parts[2]), !bytes.isEmpty
        else { return nil }
        switch Substring(parts[0]).lowercased() {
        case "utf-8":
            guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
            self.text = text
        case "iso-8859-1":
            text = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default:
            return nil
        }
    }
}
