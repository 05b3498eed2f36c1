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
public struct ContentDisposition: Sendable, Hashable {
    /// The type in lower case: `attachment`, `inline`, or an unknown type, which is treated as `attachment` (RFC 6266
    /// §4.2).
    public let type: String
    /// The file name that the server suggests; `filename*` takes precedence over `filename` (RFC 6266 §4.3). Nil if
    /// there is none.
    public let fileName: String?

    /// Parses a field value; nil if the type is missing or not a token.
    ///
    /// Malformed parameters are skipped, and the first parameter of each name counts. A quote that is not closed ends
    /// with the text, and a `filename` without quotes may contain spaces. Percent-encoding is decoded in `filename*`
    /// only (RFC 8187), which may be in UTF-8 or ISO-8859-1.
    ///
    /// - Parameter text: The value of one `Content-Disposition`.
    public init?(_ text: String) {
        var reader = ContentDispositionReader(text)
        guard let type = reader.type() else { return nil }
        self.type = type
        var plain: String?
        var extended: String?
        while let parameter = reader.nextParameter() {
            switch parameter.name {
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
    public init?(of head: HTTPResponse) {
        guard let value = head.headers.values(for: .contentDisposition).lazy.compactMap(Self.init).first else {
            return nil
        }
        self = value
    }
}

/// Parses the value of a `Content-Disposition` from start to end.
private struct ContentDispositionReader {
    struct Parameter {
        let name: String
        let value: String
        let isQuoted: Bool
    }

    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    mutating func type() -> String? {
        let type = take(until: ";").trimmed
        guard !type.isEmpty, type.allSatisfy(\.isTokenCharacter) else { return nil }
        return Substring(type).lowercased()
    }

    /// Returns the next well-formed parameter; nil at the end.
    mutating func nextParameter() -> Parameter? {
        while skip(";") {
            let name = take(until: "=", ";").trimmed
            guard skip("=") else { continue }
            rest = rest.drop(while: \.isWhiteSpace)
            let isQuoted = skip("\"")
            let value = isQuoted ? quoted() : String(Substring(take(until: ";").trimmed))
            if isQuoted { _ = take(until: ";") }
            guard !name.isEmpty, !value.isEmpty, name.allSatisfy(\.isTokenCharacter) else { continue }
            return Parameter(name: Substring(name).lowercased(), value: value, isQuoted: isQuoted)
        }
        return nil
    }

    /// Reads the rest of a quoted string, after its opening quote (RFC 9110 §5.6.4).
    private mutating func quoted() -> String {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { break }
            bytes.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func take(until ends: Unicode.Scalar...) -> Substring.UTF8View {
        let taken = rest.prefix { byte in !ends.contains { byte == UInt8(ascii: $0) } }
        rest = rest[taken.endIndex...]
        return taken
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
        guard parts.count == 3, parts[2].allSatisfy({ (0x21...0x7E).contains($0) }),
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

extension UInt8 {
    fileprivate var isWhiteSpace: Bool { self == 0x20 || self == 0x09 }
}

extension Substring.UTF8View {
    /// The text without leading and trailing spaces and tabs.
    fileprivate var trimmed: Self {
        var text = drop(while: \.isWhiteSpace)
        while let last = text.last, last.isWhiteSpace { text = text.dropLast() }
        return text
    }
}
