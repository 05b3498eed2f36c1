import SluiceHTTP

extension Redaction {
    /// Names whose values are secret.
    ///
    /// Compared are letters and digits alone, without regard to case: `access_token`, `Access-Token` and `accessToken` are
    /// one name. A `*` at the beginning or end of a name stands for anything, so `*token` is every name that ends so. Of a name
    /// of several parts, `user[password]` or `user.password`, each part counts, and the whole.
    public struct Names: Sendable, Hashable, ExpressibleByArrayLiteral {
        private(set) var names: SecretNames

        /// Makes a set of names.
        public init(_ names: some Sequence<String>) {
            self.names = SecretNames(names)
        }

        /// Makes a set of names.
        public init(arrayLiteral elements: String...) {
            self.init(elements)
        }

        /// Whether it holds none.
        public var isEmpty: Bool { names.isEmpty }

        /// Adds a name.
        public mutating func insert(_ name: String) {
            names.insert(name)
        }

        /// Takes out a name that was put in as it is written here, stars included.
        public mutating func remove(_ name: String) {
            names.remove(name)
        }

        /// These names and others.
        public func union(_ other: Names) -> Names {
            var union = self
            union.names = names.union(other.names)
            return union
        }

        /// Whether what has the name is secret.
        public func contains(_ name: String) -> Bool { names.contains(name) }
        func contains(_ name: [UInt8]) -> Bool { names.contains(name) }
    }
}
