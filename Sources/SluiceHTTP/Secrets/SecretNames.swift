/// Names whose values are secret, for `Redaction` of Sluice and the cassettes of SluiceTesting.
///
/// Only letters and digits are compared, without regard to case: `access_token`, `Access-Token` and `accessToken` are
/// one name. A `*` at the beginning or end of a name matches any text, so `*token` matches all names with this ending.
/// In a compound name, such as `user[password]` or `user.password`, each part is compared, and the whole name.
package struct SecretNames: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// A name, with or without wildcards.
    fileprivate struct Pattern: Hashable {
        let letters: [UInt8]
        let hasLeadingWildcard: Bool
        let hasTrailingWildcard: Bool
        /// The set of letters that occur, as a bit mask. A name that lacks one of them cannot match.
        let letterMask: UInt64
    }

    /// Sorted, so that equality does not depend on the order of insertion.
    private var patterns: [Pattern] = []
    /// The names that are not secret although a pattern matches them.
    private var exemptions: [Pattern] = []

    /// The maximum number of bytes compared. A longer name is reduced to its first and last 128 bytes.
    private static let lengthLimit = 256

    package init(_ names: some Sequence<String>) {
        for name in names { insert(name) }
    }

    package init(arrayLiteral elements: String...) {
        self.init(elements)
    }

    /// True if the set is empty.
    package var isEmpty: Bool { patterns.isEmpty }

    package mutating func insert(_ name: String) {
        let pattern = Self.pattern(name)
        if patterns.contains(pattern) { return }
        let index = patterns.firstIndex { pattern.precedes($0) } ?? patterns.endIndex
        patterns.insert(pattern, at: index)
    }

    /// Removes a name. It must be written as it was inserted, including wildcards.
    package mutating func remove(_ name: String) {
        let pattern = Self.pattern(name)
        patterns.removeAll { $0 == pattern }
    }

    /// Returns the union of both sets. A name that either exempts is not secret.
    package func union(_ other: SecretNames) -> SecretNames {
        var union = self
        union.patterns = Set(patterns + other.patterns).sorted { $0.precedes($1) }
        union.exemptions = Set(exemptions + other.exemptions).sorted { $0.precedes($1) }
        return union
    }

    /// Returns the set without the names that `others` matches. A compound name is exempt if its secret part is.
    package func excluding(_ others: SecretNames) -> SecretNames {
        var names = self
        names.exemptions = Set(exemptions + others.patterns).sorted { $0.precedes($1) }
        return names
    }

    /// Returns true if a value with this name is secret.
    package func contains(_ name: String) -> Bool { contains(bytes: name.utf8) }
    /// Returns true if a value with this name is secret.
    package func contains(_ name: [UInt8]) -> Bool { contains(bytes: name) }
    /// Returns true if a value with this name is secret.
    package func contains(_ name: ArraySlice<UInt8>) -> Bool { contains(bytes: name) }

    private func contains(bytes name: some BidirectionalCollection<UInt8>) -> Bool {
        let mask = Self.letterMask(of: name)
        guard mask != 0, patterns.contains(where: { mask & $0.letterMask == $0.letterMask }) else { return false }
        if name.contains(where: Self.isSeparator) {
            var hasExemption = false
            for part in name.split(whereSeparator: Self.isSeparator) {
                let letters = Self.letters(of: part)
                if isExempt(letters) {
                    hasExemption = true
                } else if matches(letters) {
                    return true
                }
            }
            if hasExemption { return false }
        }
        let letters = Self.letters(of: name)
        return !isExempt(letters) && matches(letters)
    }

    private func isExempt(_ letters: [UInt8]) -> Bool {
        !letters.isEmpty && exemptions.contains { $0.matches(letters) }
    }

    /// Returns true if a byte separates the parts of a compound name.
    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: ".")
    }

    private func matches(_ letters: [UInt8]) -> Bool {
        !letters.isEmpty && patterns.contains { $0.matches(letters) }
    }

    private static func pattern(_ name: String) -> Pattern {
        let star = UInt8(ascii: "*")
        let letters = letters(of: name.utf8)
        return Pattern(
            letters: letters,
            hasLeadingWildcard: name.utf8.first == star,
            hasTrailingWildcard: name.utf8.last == star,
            letterMask: letterMask(of: letters)
        )
    }

    /// Returns a bit mask with a bit for each letter and digit that occurs, and one for all bytes that are not ASCII.
    private static func letterMask(of name: some Collection<UInt8>) -> UInt64 {
        name.reduce(into: 0) { mask, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): mask |= 1 << (byte - UInt8(ascii: "a"))
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): mask |= 1 << (byte - UInt8(ascii: "A"))
            case UInt8(ascii: "0")...UInt8(ascii: "9"): mask |= 1 << (26 + byte - UInt8(ascii: "0"))
            case 0x80...: mask |= 1 << 36
            default: break
            }
        }
    }

    /// Returns the letters and digits in lowercase. Bytes that are not ASCII are kept.
    private static func letters(of name: some BidirectionalCollection<UInt8>) -> [UInt8] {
        if name.count > lengthLimit {
            return letters(of: Array(name.prefix(lengthLimit / 2)) + name.suffix(lengthLimit / 2))
        }
        var letters: [UInt8] = []
        letters.reserveCapacity(name.count)
        for byte in name where isLetter(byte) { letters.append(byte >= 0x80 ? byte : byte.asciiLowercased) }
        return letters
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: false
        }
    }
}

extension SecretNames.Pattern {
    fileprivate func precedes(_ other: Self) -> Bool {
        if letters != other.letters { return letters.lexicographicallyPrecedes(other.letters) }
        if hasLeadingWildcard != other.hasLeadingWildcard { return other.hasLeadingWildcard }
        return !hasTrailingWildcard && other.hasTrailingWildcard
    }

    fileprivate func matches(_ name: [UInt8]) -> Bool {
        let rest = name.count - letters.count
        if rest < 0 { return false }
        guard let first = letters.first else { return hasLeadingWildcard || hasTrailingWildcard }
        switch (hasLeadingWildcard, hasTrailingWildcard) {
        case (false, false): return name == letters
        case (true, false): return letters.last == name.last && name.suffix(letters.count).elementsEqual(letters)
        case (false, true): return first == name.first && name.starts(with: letters)
        case (true, true):
            return (0...rest).contains { start in
                name[start] == first && name[start..<(start + letters.count)].elementsEqual(letters)
            }
        }
    }
}

// MARK: - The usual names

extension SecretNames {
    /// The names of header fields that usually contain secrets.
    package static let usualHeaders = [
        "*authorization", "cookie", "cookie2", "set-cookie", "set-cookie2", "*token", "*api-key*", "*access-key*",
        "*auth-key", "*subscription-key", "*functions-key", "*secret*", "*password*", "*passwd*", "*session-id",
        "*signature", "*credential*", "*private-key*", "*jwt*", "dpop",
    ]

    /// The names of JSON members that usually contain secrets.
    package static let usualMembers = [
        "*token", "*tokens", "*password*", "*passwd*", "passwort", "pwd", "*passphrase*", "pass", "*secret*",
        "*api-key*", "*access-key*", "*private-key*", "*auth-key", "*authorization", "auth", "bearer", "*credential*",
        "*signature", "*jwt*", "*session-id", "sessid", "*assertion", "code-verifier", "device-code", "user-code",
        "*auth-code", "*authorization-code", "*cookie", "set-cookie", "otp", "totp", "*one-time-code", "pin", "cvv",
        "cvc", "*card-number", "ssn", "saml-response", "dpop",
    ]

    /// The names of further parameters that usually contain secrets. In JSON these names often have other meanings.
    package static let usualParameters = ["key", "code", "sig", "sid", "hmac"]
}
