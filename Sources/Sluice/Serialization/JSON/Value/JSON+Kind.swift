extension JSON {
    /// The kinds of a JSON value (RFC 8259 §3).
    public enum Kind: Sendable, Hashable, CustomStringConvertible {
        /// `null`.
        case null
        /// `true` or `false`.
        case boolean
        /// A number.
        case number
        /// A string.
        case string
        /// An array.
        case array
        /// An object.
        case object

        /// The kind of a value.
        public init(_ json: JSON) {
            self =
                switch json {
                case .null: .null
                case .bool: .boolean
                case .number: .number
                case .string: .string
                case .array: .array
                case .object: .object
                }
        }

        /// The kind with its article, such as “an array”.
        public var description: String {
            switch self {
            case .null: "null"
            case .boolean: "a boolean"
            case .number: "a number"
            case .string: "a string"
            case .array: "an array"
            case .object: "an object"
            }
        }
    }
}
