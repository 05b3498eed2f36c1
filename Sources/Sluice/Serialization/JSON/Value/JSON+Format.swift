#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSON {
    /// How a value is written.
    public struct Format: Sendable, Hashable {
        /// Whether each element and member gets a line of its own, indented by two spaces a level.
        public var isPretty: Bool
        /// Whether members stand in the order of their names. If not, their order is another in each run of a program.
        public var sortsKeys: Bool

        /// Makes a format.
        public init(isPretty: Bool = false, sortsKeys: Bool = true) {
            self.isPretty = isPretty
            self.sortsKeys = sortsKeys
        }

        /// In one line without spaces, members in the order of their names.
        public static let compact = Format()
        /// In many lines, members in the order of their names.
        public static let pretty = Format(isPretty: true)
    }

    /// Writes the value as UTF-8 (RFC 8259), numbers with the digits they came with.
    public func encoded(_ format: Format = .compact) -> Data {
        Data(JSONWriter.utf8(of: self, format))
    }

    /// Writes the value as text (RFC 8259), numbers with the digits they came with.
    public func formatted(_ format: Format = .pretty) -> String {
        String(decoding: JSONWriter.utf8(of: self, format), as: UTF8.self)
    }
}

extension JSON: CustomStringConvertible {
    /// The value as JSON in one line.
    public var description: String { formatted(.compact) }
}
