// Accessors without conversion. They return nil for values of another kind.
extension JSON {
    /// The string; nil if this is not a string.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The number as an `Int`; nil if this is not a number, has a fraction, or does not fit.
    public var int: Int? { integer() }

    /// The number as an `Int64`; nil if this is not a number, has a fraction, or does not fit.
    public var int64: Int64? { integer() }

    /// The number as a `UInt64`; nil if this is not a number, has a fraction, or does not fit.
    public var uint64: UInt64? { integer() }

    /// The number as the nearest `Double`; nil if this is not a number, or is too large for a finite `Double`.
    public var double: Double? {
        if case .number(let number) = self { number.double } else { nil }
    }

    /// The boolean; nil if this is not a boolean.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements of the array; nil if this is not an array.
    public var array: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of the object; nil if this is not an object.
    public var dictionary: [String: JSON]? {
        if case .object(let members) = self { members } else { nil }
    }

    private func integer<Integer: FixedWidthInteger>() -> Integer? {
        if case .number(let number) = self { number.exactly() } else { nil }
    }
}
