#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSON {
    /// The output format of a JSON value.
    public struct Format: Sendable, Hashable {
        /// True to write each element and member on a separate line, indented by two spaces per level.
        public var isPretty: Bool
        /// True to sort members by name. If false, the order differs between runs of a program.
        public var sortsKeys: Bool

        /// Creates a format.
        public init(isPretty: Bool = false, sortsKeys: Bool = true) {
            self.isPretty = isPretty
            self.sortsKeys = sortsKeys
        }

        /// One line without spaces, members sorted by name.
        public static let compact = Format()
        /// Several lines, members sorted by name.
        public static let pretty = Format(isPretty: true)
    }

    /// Returns the value as UTF-8 (RFC 8259). Numbers keep their literals.
    public func encoded(_ format: Format = .compact) -> Data {
        Data(JSONWriter.utf8(of: self, format))
    }

    /// Returns the value as text (RFC 8259). Numbers keep their literals.
    public func formatted(_ format: Format = .pretty) -> String {
        String(decoding: JSONWriter.utf8(of: self, format), as: UTF8.self)
    }
}

extension JSON: CustomStringConvertible {
    /// The value as JSON on one line.
    public var description: String { formatted(.compact) }
}
