extension Redaction {
    /// Names whose values are secret.
    ///
    /// Compared are letters and digits alone, without regard to case: `access_token`, `Access-Token` and `accessToken` are
    /// one name. A `*` at the beginning or end of a name stands for anything, so `*token` is every name that ends so. Of a name
    /// of several parts, `user[password]` or `user.password`, each part counts, and the whole.
    public struct Names: Sendable, Hashable, ExpressibleByArrayLiteral {
        /// A name with a star.
        fileprivate struct Pattern: Hashable {
            let letters: [UInt8]
            let isOpenBefore: Bool
            let isOpenBehind: Bool
        }

        private var exact: Set<[UInt8]> = []
        private var patterns: Set<Pattern> = []

        /// Of a longer name the beginning and the end are looked at.
        private static let lengthLimit = 256

        /// Makes a set of names.
        public init(_ names: some Sequence<String>) {
            for name in names { insert(name) }
        }

        /// Makes a set of names.
        public init(arrayLiteral elements: String...) {
            self.init(elements)
        }

        /// Whether it holds none.
        public var isEmpty: Bool { exact.isEmpty && patterns.isEmpty }

        /// Adds a name.
        public mutating func insert(_ name: String) {
            if let pattern = Self.pattern(name) {
                patterns.insert(pattern)
            } else {
                exact.insert(Self.letters(of: name.utf8))
            }
        }

        /// Takes out a name that was put in as it is written here, stars included.
        public mutating func remove(_ name: String) {
            if let pattern = Self.pattern(name) {
                patterns.remove(pattern)
            } else {
                exact.remove(Self.letters(of: name.utf8))
            }
        }

        /// These names and others.
        public func union(_ other: Names) -> Names {
            var union = self
            union.exact.formUnion(other.exact)
            union.patterns.formUnion(other.patterns)
            return union
        }

        /// Whether what has the name is secret.
        public func contains(_ name: String) -> Bool {
            contains(name.utf8)
        }

        func contains(_ name: some BidirectionalCollection<UInt8>) -> Bool {
            if isEmpty { return false }
            let isMark = { (byte: UInt8) in "[].".utf8.contains(byte) }
            if name.contains(where: isMark) {
                for part in name.split(whereSeparator: isMark) where matches(Self.letters(of: part)) { return true }
            }
            return matches(Self.letters(of: name))
        }

        private func matches(_ letters: [UInt8]) -> Bool {
            if letters.isEmpty { return false }
            return exact.contains(letters) || patterns.contains { $0.matches(letters) }
        }

        private static func pattern(_ name: String) -> Pattern? {
            let star = UInt8(ascii: "*")
            guard name.utf8.first == star || name.utf8.last == star else { return nil }
            return Pattern(
                letters: letters(of: name.utf8),
                isOpenBefore: name.utf8.first == star,
                isOpenBehind: name.utf8.last == star
            )
        }

        /// Small letters and digits alone; what is not ASCII stays.
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
}

extension Redaction.Names.Pattern {
    fileprivate func matches(_ name: [UInt8]) -> Bool {
        let rest = name.count - letters.count
        if rest < 0 { return false }
        guard let first = letters.first else { return true }
        switch (isOpenBefore, isOpenBehind) {
        case (true, false): return letters.last == name.last && name.suffix(letters.count).elementsEqual(letters)
        case (false, true): return first == name.first && name.starts(with: letters)
        default:
            return (0...rest).contains { start in
                name[start] == first && name[start..<(start + letters.count)].elementsEqual(letters)
            }
        }
    }
}
