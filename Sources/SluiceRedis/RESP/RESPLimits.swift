/// The limits of one message. They are checked before memory for the announced elements or bytes is allocated.
package struct RESPLimits: Sendable, Hashable {
    /// The number of aggregates within each other.
    package var depth = 16
    /// The number of elements of all aggregates together. An entry of a map counts as two.
    package var elements = 1 << 20
    /// The size of one bulk string in bytes.
    package var bulk = 16 << 20
    /// The size of all lines and bulk strings together in bytes.
    package var total = 32 << 20
    /// The size of one line in bytes, without its end.
    package var line = 64 << 10

    package init() {}
}

/// A violation of the protocol, or of a limit. The connection cannot be used any longer.
package enum RESPSyntaxError: Error, Sendable, Hashable {
    /// A byte that begins no value.
    case unknownType(UInt8)
    /// A CR or LF that does not end a line, or a bulk string without its end.
    case invalidLineEnd
    /// A length or count that is not in digits.
    case invalidLength
    /// A number, boolean or null with another syntax.
    case invalidScalar
    /// A verbatim string without its format.
    case invalidVerbatim
    /// A push within another value.
    case nestedPush
    case tooDeep
    case tooManyElements
    case bulkTooLarge
    case messageTooLarge
    case lineTooLong
}

extension RESPSyntaxError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownType(let byte): "a value begins with the byte \(byte)"
        case .invalidLineEnd: "a line or a bulk string has no valid end"
        case .invalidLength: "a length is not a number"
        case .invalidScalar: "a number, boolean or null is not valid"
        case .invalidVerbatim: "a verbatim string has no format"
        case .nestedPush: "a push is part of another value"
        case .tooDeep: "a value is nested too deeply"
        case .tooManyElements: "a value has too many elements"
        case .bulkTooLarge: "a bulk string is too large"
        case .messageTooLarge: "a value is too large"
        case .lineTooLong: "a line is too long"
        }
    }
}
