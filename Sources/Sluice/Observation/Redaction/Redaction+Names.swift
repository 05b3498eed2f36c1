import SluiceHTTP

extension Redaction {
    /// A set of names whose values are secret.
    ///
    /// Only letters and digits are compared, case-insensitively: `access_token`, `Access-Token` and `accessToken` are
    /// the same name. A `*` at the beginning or end matches any text, so `*token` matches every name that ends with it.
    /// For a name of several parts, such as `user[password]` or `user.password`, each part and the whole are compared.
    public struct Names: Sendable, Hashable, ExpressibleByArrayLiteral {
        private(set) var names: SecretNames

        /// Creates a set of names.
        public init(_ names: some Sequence<String>) {
            self.names = SecretNames(names)
        }

        /// Creates a set of names.
        public init(arrayLiteral elements: String...) {
            self.init(elements)
        }

        /// True if the set is empty.
        public var isEmpty: Bool { names.isEmpty }

        /// Adds a name.
        public mutating func insert(_ name: String) {
            names.insert(name)
        }

        /// Removes a name, which must be written as it was inserted, including stars.
        public mutating func remove(_ name: String) {
            names.remove(name)
        }

        /// Returns the union of these names and others.
        public func union(_ other: Names) -> Names {
            var union = self
            union.names = names.union(other.names)
            return union
        }

        /// Returns true if values with the name are secret.
        public func contains(_ name: String) -> Bool { names.contains(name) }
        func contains(_ name: [UInt8]) -> Bool { names.contains(name) }
    }
}
