/// How an expression joins its values (RFC 6570 §2.2 and appendix A).
enum URITemplateOperator: UInt8, Sendable {
    /// `{x}`: no character of its own, so the brace's stands for it, which no expression can begin with.
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

    /// What comes before the first value that is defined.
    var first: UInt8? {
        self == .simple || self == .reserved ? nil : rawValue
    }

    /// What comes between two values, and between the members of one that is exploded.
    var separator: UInt8 {
        switch self {
        case .simple, .reserved, .fragment: UInt8(ascii: ",")
        case .query: UInt8(ascii: "&")
        case .label, .path, .parameter, .continuation: rawValue
        }
    }

    /// Whether values go with their names.
    var isNamed: Bool {
        self == .parameter || self == .query || self == .continuation
    }

    /// Whether an empty value goes with a `=` behind its name.
    var marksEmptyValues: Bool {
        self != .parameter
    }

    /// Whether reserved characters and encoded bytes stay as they are.
    var keepsReserved: Bool {
        self == .reserved || self == .fragment
    }
}
