/// A number of a JSON text with the literal it was written with (RFC 8259 §6).
///
/// No digit is lost, however many there are: `1.10` is written as `1.10` again, and all of `Int64` and `UInt64` can be
/// had. Two numbers are equal if they have the same value, so 1, 1.0 and 10e-1 are equal, and -0 equals 0.
///
/// ```swift
/// if case .number(let price) = json.price { print(price.text, price.double ?? 0) }
/// ```
public struct JSONNumber: Sendable, CustomStringConvertible {
    /// The literal.
    public let text: String

    /// Makes a number of a literal, or nothing of a text that is none in JSON, like `+1`, `.5`, `01` and `NaN`.
    public init?(_ text: String) {
        guard Self.isLiteral(text.utf8) else { return nil }
        self.text = text
    }

    /// Makes a number of an integer of any width.
    public init(_ value: some BinaryInteger) {
        text = String(value)
    }

    /// Makes a number with as few digits as tell it from its neighbours; nothing of what is not finite.
    public init?<Value: BinaryFloatingPoint & LosslessStringConvertible>(_ value: Value) {
        self.init(value.description)
    }

    /// Keeps a literal that has been checked.
    init(checked text: String) {
        self.text = text
    }

    /// The literal.
    public var description: String { text }

    /// The integer that has exactly this value.
    ///
    /// - Parameter type: The integer's type, where the context does not name it.
    /// - Returns: The integer, of 1.0 and 1e3 as well; nil for a fraction, or what the type cannot hold.
    public func exactly<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) -> Integer? {
        // Nearly every integer is written as one.
        Integer(text) ?? Significand(text)?.integer(rounding: false)
    }

    /// The integer that is left without the fraction; nil for what the type cannot hold.
    func truncated<Integer: FixedWidthInteger>(to type: Integer.Type = Integer.self) -> Integer? {
        Integer(text) ?? Significand(text)?.integer(rounding: true)
    }

    /// The nearest `Double`; nil if the number is too large for a finite one, like 1e400.
    public var double: Double? {
        Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    /// Whether it is 0, however that is written; 1e-400 is not, though the nearest `Double` is.
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
    /// Whether two numbers have the same value.
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        if left.text == right.text { return true }
        // Equal numbers have the same nearest Double, which is quick to find.
        guard Double(left.text) == Double(right.text) else { return false }
        guard let left = Significand(left.text), let right = Significand(right.text) else { return false }
        return left == right
    }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Double(text))
    }
}
