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
        var reader = ChallengeReader(rest: value.utf8[...])
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
    var rest: Substring.UTF8View

    /// Reads the next token and skips everything before it; nil at the end.
    mutating func nextWord() -> Substring? {
        rest = rest.drop { !$0.isTokenCharacter }
        let word = rest.prefix(while: \.isTokenCharacter)
        rest = rest[word.endIndex...]
        return word.isEmpty ? nil : Substring(word)
    }

    mutating func skipEquals() -> Bool {
        let after = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard after.first == UInt8(ascii: "=") else { return false }
        rest = after.dropFirst()
        return true
    }

    /// Reads a token or a quoted string without its quotes (RFC 9110 §5.6.4); nil if there is neither.
    ///
    /// After the first character of a token, `=` and `/` are accepted: some servers send base64 without quotes.
    mutating func value() -> String? {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard rest.first == UInt8(ascii: "\"") else {
            let word = rest.prefix { $0 != UInt8(ascii: ",") && $0 != 0x20 && $0 != 0x09 }
            rest = rest[word.endIndex...]
            guard let first = word.first, first.isTokenCharacter else { return nil }
            let isValue = word.allSatisfy {
                $0.isTokenCharacter || $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "/")
            }
            return isValue ? String(Substring(word)) : nil
        }
        rest = rest.dropFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                bytes.append(escaped)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
