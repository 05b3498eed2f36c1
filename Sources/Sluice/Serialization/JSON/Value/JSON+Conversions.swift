// Accessors that convert. They return a value for every kind.
extension JSON {
    /// The string, the literal of a number, or `true` or `false`; an empty string for other kinds.
    public var stringValue: String {
        switch self {
        case .string(let text): text
        case .number(let number): number.text
        case .bool(let value): value ? "true" : "false"
        case .null, .array, .object: ""
        }
    }

    /// A number, or a string that contains one, truncated to an integer; 1 for `true`; 0 for all other values and for
    /// numbers that do not fit.
    public var intValue: Int { integerValue() }

    /// A number, or a string that contains one, truncated to an integer; 1 for `true`; 0 for all other values and for
    /// numbers that do not fit.
    public var int64Value: Int64 { integerValue() }

    /// A number, or a string that contains one, truncated to an integer; 1 for `true`; 0 for all other values and for
    /// numbers that do not fit.
    public var uint64Value: UInt64 { integerValue() }

    /// A number, or a string that contains one, as the nearest `Double`; 1 for `true`; 0 for all other values and for
    /// numbers that are too large.
    public var doubleValue: Double { numberValue?.double ?? 0 }

    /// True for `true`, a number other than 0, and the strings “true”, “t”, “yes”, “y” and “1” in any case.
    public var boolValue: Bool {
        switch self {
        case .bool(let value): value
        case .number(let number): !number.isZero
        case .string(let text): ["true", "t", "yes", "y", "1"].contains(text.lowercased())
        case .null, .array, .object: false
        }
    }

    /// The elements of an array; empty for other kinds.
    public var arrayValue: [JSON] { array ?? [] }

    /// The members of an object; empty for other kinds.
    public var dictionaryValue: [String: JSON] { dictionary ?? [:] }

    private func integerValue<Integer: FixedWidthInteger>() -> Integer {
        numberValue?.truncated() ?? 0
    }

    private var numberValue: JSONNumber? {
        switch self {
        case .number(let number): number
        case .string(let text): JSONNumber(forgiving: text)
        case .bool(let value): JSONNumber(value ? 1 : 0)
        case .null, .array, .object: nil
        }
    }
}

extension JSONNumber {
    /// Creates a number from decimal text that may have surrounding whitespace, a plus sign or leading zeros.
    fileprivate init?(forgiving text: String) {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        var utf8 = text.utf8.drop(while: isSpace)
        while let last = utf8.last, isSpace(last) { utf8.removeLast() }
        let trimmed = String(Substring(utf8))
        if let number = JSONNumber(trimmed) {
            self = number
            return
        }
        // `Double` also accepts hexadecimal digits, infinity and NaN.
        let isDecimal = utf8.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "+-.eE".utf8.contains($0)
        }
        guard isDecimal, let number = Double(trimmed).flatMap(JSONNumber.init) else { return nil }
        self = number
    }
}
