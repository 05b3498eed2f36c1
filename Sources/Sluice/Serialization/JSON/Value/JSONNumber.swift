/// A JSON number with its original literal (RFC 8259 §6).
///
/// All digits are kept: `1.10` is written as `1.10` again, and all values of `Int64` and `UInt64` are available.
/// Numbers with the same value are equal, so 1, 1.0 and 10e-1 are equal, and -0 equals 0.
///
/// ```swift
/// if case .number(let price) = json.price { print(price.text, price.double ?? 0) }
/// ```
public struct JSONNumber: Sendable, CustomStringConvertible {
    /// The literal.
    public let text: String

    /// Creates a number from a literal. Returns nil if the text is not a JSON number, such as `+1`, `.5`, `01` and
    /// `NaN`.
    public init?(_ text: String) {
        guard Self.isLiteral(text.utf8) else { return nil }
        self.text = text
    }

    /// Creates a number from an integer of any width.
    public init(_ value: some BinaryInteger) {
        text = String(value)
    }

    /// Creates a number with the fewest digits that identify the value. Returns nil if the value is not finite.
    public init?<Value: BinaryFloatingPoint & LosslessStringConvertible>(_ value: Value) {
        self.init(value.description)
    }

    /// Creates a number from a validated literal.
    init(checked text: String) {
        self.text = text
    }

    /// The literal.
    public var description: String { text }

    /// Returns the integer with exactly this value.
    ///
    /// - Parameter type: The integer type, if it cannot be inferred.
    /// - Returns: The integer, also for 1.0 and 1e3; nil if the number has a fraction or the type cannot represent it.
    public func exactly<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) -> Integer? {
        // Almost all integers have an integer literal.
        Integer(text) ?? Significand(text)?.integer(rounding: false)
    }

    /// Returns the integer part; nil if the type cannot represent it.
    func truncated<Integer: FixedWidthInteger>(to type: Integer.Type = Integer.self) -> Integer? {
        Integer(text) ?? Significand(text)?.integer(rounding: true)
    }

    /// The nearest `Double`; nil if the number is too large for a finite `Double`, such as 1e400.
    public var double: Double? {
        Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    /// True if the value is 0 in any notation. 1e-400 is not 0, although its nearest `Double` is.
    var isZero: Bool {
        !text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.contains { $0 > UInt8(ascii: "0") }
    }

    private static func isLiteral(_ text: String.UTF8View) -> Bool {
        var rest = text[...]
        func skip(_ bytes: UInt8...) -> Bool {
            guard let first = rest.first, bytes.contains(first) else { return false }
            rest.removeFirst()
            return true
        }
        func skipDigits() -> Bool {
            let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            rest = rest[digits.endIndex...]
            return !digits.isEmpty
        }
        _ = skip(UInt8(ascii: "-"))
        guard skip(UInt8(ascii: "0")) || skipDigits() else { return false }
        if skip(UInt8(ascii: ".")), !skipDigits() { return false }
        if skip(UInt8(ascii: "e"), UInt8(ascii: "E")) {
            _ = skip(UInt8(ascii: "+"), UInt8(ascii: "-"))
            guard skipDigits() else { return false }
        }
        return rest.isEmpty
    }
}

extension JSONNumber: Hashable {
    /// Returns true if two numbers have the same value.
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        if left.text == right.text { return true }
        // Equal numbers have the same nearest `Double`, which is fast to compute.
        guard Double(left.text) == Double(right.text) else { return false }
        guard let left = Significand(left.text), let right = Significand(right.text) else { return false }
        return left == right
    }

    /// Hashes the value, so that equal numbers have equal hashes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Double(text))
    }
}
