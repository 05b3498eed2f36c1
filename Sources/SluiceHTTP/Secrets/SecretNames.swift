/// Names whose values are secret, for `Redaction` of Sluice and the cassettes of SluiceTesting.
///
/// Only letters and digits are compared, without regard to case: `access_token`, `Access-Token` and `accessToken` are
/// one name. A `*` at the beginning or end of a name matches any text, so `*token` matches all names with this ending.
/// `*-` at the beginning matches any words, so `*-pass` matches `db_pass` and `dbPass`, and not `compass`. Digits at the
/// end of a compared name are optional. In a compound name, such as `user[password]` or `user.password`, each part is
/// compared, and the whole name.
package struct SecretNames: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// A name, with or without wildcards.
    fileprivate struct Pattern: Hashable {
        let letters: [UInt8]
        let hasLeadingWildcard: Bool
        let hasTrailingWildcard: Bool
        /// True if the leading wildcard stands for whole words.
        let beginsWithWord: Bool
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
                let words = Words(part)
                if isExempt(words) {
                    hasExemption = true
                } else if matches(words) {
                    return true
                }
            }
            if hasExemption { return false }
        }
        let words = Words(name)
        return !isExempt(words) && matches(words)
    }

    private func isExempt(_ words: Words) -> Bool {
        !words.letters.isEmpty && exemptions.contains { words.match($0) }
    }

    /// Returns true if a byte separates the parts of a compound name.
    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "/"), 0x20: true
        default: false
        }
    }

    private func matches(_ words: Words) -> Bool {
        !words.letters.isEmpty && patterns.contains { words.match($0) }
    }

    private static func pattern(_ name: String) -> Pattern {
        let star = UInt8(ascii: "*")
        let letters = Words(name.utf8).letters
        return Pattern(
            letters: letters,
            hasLeadingWildcard: name.utf8.first == star,
            hasTrailingWildcard: name.utf8.last == star,
            beginsWithWord: name.utf8.starts(with: "*-".utf8),
            letterMask: letterMask(of: letters)
        )
    }

    /// The letters and digits of a name, in lowercase, and the beginnings of its words. Bytes that are not ASCII are
    /// letters.
    fileprivate struct Words {
        private(set) var letters: [UInt8] = []
        /// True for each letter that begins a word: after another character, and in camel case.
        private var begins: [Bool] = []

        init(_ name: some BidirectionalCollection<UInt8>) {
            if name.count > lengthLimit {
                append(Array(name.prefix(lengthLimit / 2)) + name.suffix(lengthLimit / 2))
            } else {
                append(name)
            }
        }

        private mutating func append(_ name: some BidirectionalCollection<UInt8>) {
            letters.reserveCapacity(name.count)
            begins.reserveCapacity(name.count)
            var previous: UInt8 = 0
            for byte in name {
                if isLetter(byte) {
                    // The last capital of `DBPass` begins the second word.
                    if byte.isLowercaseLetter, isCapital(previous), let last = begins.indices.last {
                        begins[last] = true
                    }
                    begins.append(!isLetter(previous) || isCapital(byte) && !isCapital(previous))
                    letters.append(byte >= 0x80 ? byte : byte.asciiLowercased)
                }
                previous = byte
            }
        }

        func match(_ pattern: Pattern) -> Bool {
            if pattern.matches(letters[...], begins) { return true }
            guard let last = letters.last, last.isDigit, let end = letters.lastIndex(where: { !$0.isDigit }) else {
                return false
            }
            return pattern.matches(letters[...end], begins)
        }

        private func isCapital(_ byte: UInt8) -> Bool { byte.isLetter && !byte.isLowercaseLetter }
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

    private static func isLetter(_ byte: UInt8) -> Bool { byte.isLetter || byte.isDigit || byte >= 0x80 }
}

extension SecretNames.Pattern {
    fileprivate func precedes(_ other: Self) -> Bool {
        if letters != other.letters { return letters.lexicographicallyPrecedes(other.letters) }
        if hasLeadingWildcard != other.hasLeadingWildcard { return other.hasLeadingWildcard }
        if beginsWithWord != other.beginsWithWord { return other.beginsWithWord }
        return !hasTrailingWildcard && other.hasTrailingWildcard
    }

    /// Returns true if the pattern matches letters. `begins` is true for each letter that begins a word.
    fileprivate func matches(_ name: ArraySlice<UInt8>, _ begins: [Bool]) -> Bool {
        let rest = name.count - letters.count
        if rest < 0 { return false }
        guard let first = letters.first else { return hasLeadingWildcard || hasTrailingWildcard }
        switch (hasLeadingWildcard, hasTrailingWildcard) {
        case (false, false): return name.elementsEqual(letters)
        case (true, false):
            return letters.last == name.last && (!beginsWithWord || begins[rest])
                && name.suffix(letters.count).elementsEqual(letters)
        case (false, true): return first == name.first && name.starts(with: letters)
        case (true, true):
            return (0...rest).contains { start in
                name[start] == first && (!beginsWithWord || begins[start])
                    && name[start..<(start + letters.count)].elementsEqual(letters)
            }
        }
    }
}

extension SecretNames {
    /// Returns true if a name of at least five letters occurs in binary data, whatever stands around it.
    package func occur(in bytes: some Sequence<UInt8>) -> Bool {
        var starts: [UInt8: [[UInt8]]] = [:]
        for pattern in patterns where pattern.letters.count >= 5 {
            starts[pattern.letters[0], default: []].append(pattern.letters)
        }
        // The letters since the last other character. Names with hyphens and underscores are compared without these.
        var run: [UInt8] = []
        func hasName() -> Bool {
            run.indices.contains { start in
                starts[run[start]]?.contains { run[start...].starts(with: $0) } ?? false
            }
        }
        for byte in bytes {
            let letter = byte.asciiLowercased
            if (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) {
                run.append(letter)
            } else if byte != UInt8(ascii: "_"), byte != UInt8(ascii: "-"), byte != 0 {
                if run.count >= 5, hasName() { return true }
                run.removeAll(keepingCapacity: true)
            }
        }
        return run.count >= 5 && hasName()
    }
}

// MARK: - The usual names

extension SecretNames {
    /// The names of header fields that usually contain secrets.
    package static let usualHeaders = [
        "*authorization", "*authentication", "auth", "*-auth", "cookie", "cookie2", "set-cookie", "set-cookie2",
        "*token", "*api-key*", "*access-key*", "*auth-key", "*subscription-key", "*functions-key", "*master-key*",
        "*account-key*", "*session-key*", "fastly-key", "*secret*", "*password*", "*passwd*", "*passphrase*",
        "*passcode*", "*-pass", "*-pwd", "*-pw", "*-otp", "*-pin", "session", "*-session", "*session-id*", "*sess-id*",
        "*-sid", "*csrf*", "*xsrf*", "*ticket", "*signature", "*assertion", "*credential*", "*private-key*", "*jwt*",
        "*encryption-key", "*encryption-customer-key", "*signing-key", "dpop",
    ]

    /// The names of JSON members that usually contain secrets.
    package static let usualMembers = [
        "*token", "*tokens", "*password*", "*passwd*", "*passwort*", "*kennwort*", "pwd", "*-pwd", "pw", "*-pw",
        "*passphrase*", "*passcode*", "*passkey*", "pass", "*-pass", "*secret*", "*api-key*", "*access-key*",
        "*private-key*", "*auth-key", "*account-key*", "*master-key*", "*signing-key*", "*encryption-key*",
        "*session-key*", "*authorization", "*authentication", "auth", "*-auth", "bearer", "*credential*", "*signature",
        "*jwt*", "session", "*-session", "sess", "*session-id*", "*sess-id*", "*csrf*", "*xsrf*", "ticket",
        "*auth-ticket", "*login-ticket", "*session-ticket", "*granting-ticket", "*service-ticket", "*assertion",
        "code-verifier", "device-code", "user-code", "*auth-code", "*authorization-code", "*recovery-code*",
        "*backup-code*", "*cookie", "*cookies", "set-cookie", "otp", "*-otp", "totp", "*one-time-code", "pin", "*-pin",
        "cvv", "cvc", "*card-number", "ssn", "saml-response", "samlart", "*connection-string*", "dpop",
        "*subscription-key", "*functions-key", "fastly-key", "*encryption-customer-key", "*id-token-hint",
    ]

    /// The names of further parameters that usually contain secrets. In JSON these names often have other meanings.
    package static let usualParameters = ["key", "code", "sig", "*-sig", "sid", "*-sid", "hmac"]

    /// The names that are not secret although a pattern matches them: the numbers of words that a language model reads
    /// and writes.
    package static let usualExemptions = [
        "max-tokens", "*-max-tokens", "*prompt-tokens", "*completion-tokens", "*total-tokens", "*input-tokens",
        "*output-tokens", "*cached-tokens", "*reasoning-tokens",
    ]
}
