/// A challenge of `WWW-Authenticate` or `Proxy-Authenticate`: one of the ways a server offers to authenticate
/// (RFC 9110 §11.6.1).
package struct AuthenticationChallenge: Sendable, Equatable {
    /// The scheme in lowercase, such as `bearer`.
    package let scheme: String
    /// The parameters with lowercase names; empty if the challenge has a token68 instead.
    package private(set) var parameters: [String: String] = [:]

    package subscript(name: String) -> String? { parameters[name] }

    /// Parses all challenges of a field's value, in time linear in its length. Skips malformed parts.
    package static func all(in value: String) -> [AuthenticationChallenge] {
        var reader = ChallengeReader(parser: FieldParser(value.utf8[...]))
        var challenges: [AuthenticationChallenge] = []
        while let word = reader.nextWord() {
            if reader.skipEquals() {
                // A parameter, or the end of a token68 if no value follows.
                guard let value = reader.value(), let last = challenges.indices.last else { continue }
                let name = word.lowercased()
                if challenges[last].parameters[name] == nil { challenges[last].parameters[name] = value }
            } else {
                challenges.append(AuthenticationChallenge(scheme: word.lowercased()))
            }
        }
        return challenges
    }

    /// Parses a list of parameters without a scheme, as in `Authentication-Info` (RFC 7615 §3).
    package static func parameters(in value: String) -> [String: String] {
        all(in: "info \(value)").first?.parameters ?? [:]
    }
}

private struct ChallengeReader {
    var parser: FieldParser<Substring.UTF8View>

    /// Reads the next token and skips everything before it; nil at the end.
    mutating func nextWord() -> Substring? {
        _ = parser.take(until: \.isTokenCharacter)
        let word = parser.token()
        return word.isEmpty ? nil : Substring(word)
    }

    mutating func skipEquals() -> Bool {
        parser.skipSpace()
        return parser.skip("=")
    }

    /// Reads a token or a quoted string without its quotes (RFC 9110 §5.6.4); nil if there is neither.
    ///
    /// After the first character of a token, `=` and `/` are accepted: some servers send base64 without quotes.
    mutating func value() -> String? {
        parser.skipSpace()
        if let quoted = parser.quotedString() { return quoted.text }
        let word = parser.take { $0 == UInt8(ascii: ",") || $0.isBlank }
        guard let first = word.first, first.isTokenCharacter,
            word.allSatisfy({ $0.isTokenCharacter || $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "/") })
        else { return nil }
        return String(Substring(word))
    }
}
