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
        // The zero byte after a C string ends the number.
        let end = text.withCString(encodedAs: UTF8.self) { try? JSONScanner.number(in: $0, from: 0).end }
        guard end == text.utf8.count else { return nil }
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
    ///
    /// All digits are hashed. Numbers with the same nearest `Double`, of which a server can send any number, differ in
    /// their hashes.
    public func hash(into hasher: inout Hasher) {
        if let significand = Significand(text) {
            hasher.combine(significand)
        } else {
            hasher.combine(text)
        }
    }
}

extension JSONNumber {
    /// A number as digits times a power of ten. There are no leading or trailing zeros, so equal values have equal
    /// representations.
    struct Significand: Hashable {
        private let isNegative: Bool
        private let digits: [UInt8]
        private let exponent: Int

        /// Parses a literal. Returns nil if the exponent of a nonzero number does not fit into an `Int`.
        init?(_ literal: String) {
            var mantissa = Substring(literal).utf8
            var exponent: Int? = 0
            if let mark = mantissa.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
                exponent = Int(Substring(mantissa[mantissa.index(after: mark)...]))
                mantissa = mantissa[..<mark]
            }
            let sign = mantissa.first == UInt8(ascii: "-")
            if sign { mantissa.removeFirst() }
            var digits: [UInt8] = []
            var shift = 0
            var isFraction = false
            for byte in mantissa {
                if byte == UInt8(ascii: ".") {
                    isFraction = true
                } else {
                    if isFraction { shift -= 1 }
                    if byte != UInt8(ascii: "0") || !digits.isEmpty { digits.append(byte) }
                }
            }
            while digits.last == UInt8(ascii: "0") {
                digits.removeLast()
                shift += 1
            }
            self.digits = digits
            if digits.isEmpty {
                isNegative = false
                self.exponent = 0
                return
            }
            guard let exponent, case (let sum, false) = exponent.addingReportingOverflow(shift) else { return nil }
            isNegative = sign
            self.exponent = sum
        }

        /// Returns the value as an integer.
        ///
        /// - Parameter rounding: True to truncate a fraction; false to return nil for it.
        /// - Returns: The integer; nil if the type cannot represent it.
        func integer<Integer: FixedWidthInteger>(rounding: Bool) -> Integer? {
            var digits = digits[...]
            if exponent < 0 {
                guard rounding || digits.isEmpty else { return nil }
                digits = digits.dropLast(Int(clamping: exponent.magnitude))
            }
            if digits.isEmpty { return 0 }
            // A type of n bits represents fewer than n + 1 decimal digits.
            guard exponent <= Integer.bitWidth, digits.count <= Integer.bitWidth else { return nil }
            let zeros = String(repeating: "0", count: max(0, exponent))
            return Integer("\(isNegative ? "-" : "")\(String(decoding: digits, as: UTF8.self))\(zeros)")
        }
    }
}
