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
    }

    /// A set of patterns.
    fileprivate struct PatternList: Hashable {
        var all: Set<Pattern> = [] {
            didSet {
                list = Array(all)
                masks = list.map { letterMask(of: $0.letters) }
            }
        }
        private var list: [Pattern] = []
        /// The letters of each pattern in the list.
        private var masks: [UInt64] = []

        /// Returns true if all letters of some pattern are in the mask of a name. Otherwise, the name matches none.
        func mayMatch(_ mask: UInt64) -> Bool {
            for required in masks where mask & required == required { return true }
            return false
        }

        func match(_ words: Words) -> Bool {
            if words.letters.isEmpty { return false }
            for index in masks.indices where words.mask & masks[index] == masks[index] && words.match(list[index]) {
                return true
            }
            return false
        }

        static func == (one: Self, other: Self) -> Bool { one.all == other.all }
        func hash(into hasher: inout Hasher) { hasher.combine(all) }
    }

    private var patterns = PatternList()
    /// The names that are not secret although a pattern matches them.
    private var exemptions = PatternList()

    /// The maximum number of bytes compared. A longer name is reduced to its first and last 128 bytes.
    private static let lengthLimit = 256

    package init(_ names: some Sequence<String>) {
        patterns.all = Set(names.map(Self.pattern))
    }

    package init(arrayLiteral elements: String...) {
        self.init(elements)
    }

    /// True if the set is empty.
    package var isEmpty: Bool { patterns.all.isEmpty }

    package mutating func insert(_ name: String) {
        patterns.all.insert(Self.pattern(name))
    }

    /// Removes a name. It must be written as it was inserted, including wildcards.
    package mutating func remove(_ name: String) {
        patterns.all.remove(Self.pattern(name))
    }

    /// Returns the union of both sets. A name that either exempts is not secret.
    package func union(_ other: SecretNames) -> SecretNames {
        var union = self
        union.patterns.all.formUnion(other.patterns.all)
        union.exemptions.all.formUnion(other.exemptions.all)
        return union
    }

    /// Returns the set without the names that `others` matches. A compound name is exempt if its secret part is.
    package func excluding(_ others: SecretNames) -> SecretNames {
        var names = self
        names.exemptions.all.formUnion(others.patterns.all)
        return names
    }

    /// Returns true if a value with this name is secret.
    package func contains(_ name: String) -> Bool { contains(Array(name.utf8)[...]) }
    /// Returns true if a value with this name is secret.
    package func contains(_ name: [UInt8]) -> Bool { contains(name[...]) }
    /// Returns true if a value with this name is secret.
    package func contains(_ name: ArraySlice<UInt8>) -> Bool {
        let mask = Self.letterMask(of: name)
        guard mask != 0, patterns.mayMatch(mask) else { return false }
        if name.contains(where: Self.isSeparator) {
            var hasExemption = false
            for part in name.split(whereSeparator: Self.isSeparator) {
                let words = Words(part)
                if exemptions.match(words) {
                    hasExemption = true
                } else if patterns.match(words) {
                    return true
                }
            }
            if hasExemption { return false }
        }
        let words = Words(name)
        return patterns.match(words) && !exemptions.match(words)
    }

    /// Returns true if a byte separates the parts of a compound name.
    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "/"), 0x20: true
        default: false
        }
    }

    private static func pattern(_ name: String) -> Pattern {
        let star = UInt8(ascii: "*")
        return Pattern(
            letters: Words(Array(name.utf8)[...]).letters,
            hasLeadingWildcard: name.utf8.first == star,
            hasTrailingWildcard: name.utf8.last == star,
            beginsWithWord: name.utf8.starts(with: "*-".utf8)
        )
    }

    /// The letters and digits of a name, in lowercase, and the beginnings of its words. Bytes that are not ASCII are
    /// letters.
    fileprivate struct Words {
        private(set) var letters: [UInt8] = []
        /// True for each letter that begins a word: after another character, and in camel case.
        private var begins: [Bool] = []
        /// The set of letters that occur.
        let mask: UInt64

        init(_ name: ArraySlice<UInt8>) {
            let isLong = name.count > lengthLimit
            let name = isLong ? name.prefix(lengthLimit / 2) + name.suffix(lengthLimit / 2) : name
            mask = letterMask(of: name)
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
    private static func letterMask(of name: some Sequence<UInt8>) -> UInt64 {
        var mask: UInt64 = 0
        for byte in name {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): mask |= 1 << (byte - UInt8(ascii: "a"))
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): mask |= 1 << (byte - UInt8(ascii: "A"))
            case UInt8(ascii: "0")...UInt8(ascii: "9"): mask |= 1 << (26 + byte - UInt8(ascii: "0"))
            case 0x80...: mask |= 1 << 36
            default: break
            }
        }
        return mask
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte.isLetter || byte.isDigit || byte >= 0x80 }
}

extension SecretNames.Pattern {
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
        for pattern in patterns.all where pattern.letters.count >= 5 {
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
