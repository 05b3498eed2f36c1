/// An expression's operator, which determines how values are joined (RFC 6570 §2.2 and appendix A).
enum URITemplateOperator: UInt8, Sendable {
    /// `{x}`: no operator. The raw value is that of `{`, which no expression can start with.
    case simple = 0x7B
    /// `{+x}`
    case reserved = 0x2B
    /// `{#x}`
    case fragment = 0x23
    /// `{.x}`
    case label = 0x2E
    /// `{/x}`
    case path = 0x2F
    /// `{;x}`
    case parameter = 0x3B
    /// `{?x}`
    case query = 0x3F
    /// `{&x}`
    case continuation = 0x26

    /// The character before the first defined value.
    var first: UInt8? {
        self == .simple || self == .reserved ? nil : rawValue
    }

    /// The character between values, and between the members of an exploded value.
    var separator: UInt8 {
        switch self {
        case .simple, .reserved, .fragment: UInt8(ascii: ",")
        case .query: UInt8(ascii: "&")
        case .label, .path, .parameter, .continuation: rawValue
        }
    }

    /// True if values are preceded by their names.
    var isNamed: Bool {
        self == .parameter || self == .query || self == .continuation
    }

    /// True if the name of an empty value is followed by `=`.
    var marksEmptyValues: Bool {
        self != .parameter
    }

    /// True if reserved characters and existing triplets are kept.
    var keepsReserved: Bool {
        self == .reserved || self == .fragment
    }
}
