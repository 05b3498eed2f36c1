/// A decimal number, parsed without rounding.
struct NumberLiteral {
    private(set) var isNegative = false
    /// The digits without the decimal point and leading zeros, as many as fit.
    private(set) var significand: UInt64 = 0
    /// The power of ten by which the significand is multiplied.
    private(set) var exponent = 0
    /// True if the significand contains all significant digits.
    private(set) var isExact = true

    /// The number of digits that always fit into the significand.
    private static let capacity = 19
    /// A limit that is far beyond every number type, and whose product with ten fits 32 bits.
    private static let exponentLimit = 100_000_000

    /// Parses a number in JSON syntax. Also accepts a plus sign, leading zeros, and no digits on one side of the
    /// decimal point.
    ///
    /// - Parameter text: The complete number. Any other content gives nil.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        var position = 0
        if let first = text.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            isNegative = first == UInt8(ascii: "-")
            position = 1
        }
        var digitCount = 0
        var significantCount = 0
        var isFraction = false
        while position < text.count {
            let byte = text[position]
            if byte == UInt8(ascii: "."), !isFraction {
                isFraction = true
                position += 1
                continue
            }
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            position += 1
            digitCount += 1
            if significantCount < Self.capacity {
                significand = significand &* 10 &+ UInt64(digit)
                if significand > 0 { significantCount += 1 }
                if isFraction { exponent -= 1 }
            } else {
                if digit > 0 { isExact = false }
                if !isFraction { exponent += 1 }
            }
        }
        guard digitCount > 0 else { return nil }
        if position < text.count, text[position] | 0x20 == UInt8(ascii: "e") {
            guard let power = Self.exponent(in: UnsafeBufferPointer(rebasing: text[(position + 1)...])) else {
                return nil
            }
            exponent += power
        } else if position < text.count {
            return nil
        }
    }

    private static func exponent(in text: UnsafeBufferPointer<UInt8>) -> Int? {
        var digits = text[...]
        if let sign = digits.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { digits.removeFirst() }
        guard !digits.isEmpty else { return nil }
        var power = 0
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            power = min(power * 10 + Int(digit), exponentLimit)
        }
        return text.first == UInt8(ascii: "-") ? -power : power
    }
}

extension NumberLiteral {
    /// Returns the number as an integer; nil if it has a fraction or the type cannot represent it. 1.0 and 1e3 are
    /// integers.
    @inline(__always)
    func integer<Integer: FixedWidthInteger>(_ text: UnsafeBufferPointer<UInt8>) -> Integer? {
        guard isExact else { return Self.wideInteger(text) }
        var significand = significand
        guard significand > 0 else { return 0 }
        var exponent = exponent
        while exponent < 0 {
            let (quotient, remainder) = significand.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { return nil }
            significand = quotient
            exponent += 1
        }
        guard var magnitude = Integer.Magnitude(exactly: significand) else { return nil }
        while exponent > 0 {
            let (product, isOverflow) = magnitude.multipliedReportingOverflow(by: 10)
            guard !isOverflow else { return nil }
            magnitude = product
            exponent -= 1
        }
        guard magnitude <= (isNegative ? Integer.min.magnitude : Integer.max.magnitude) else { return nil }
        let value = Integer(truncatingIfNeeded: magnitude)
        return isNegative ? 0 &- value : value
    }

    /// Returns the integer value of a number with more than nineteen digits.
    @inline(never)
    private static func wideInteger<Integer: FixedWidthInteger>(_ text: UnsafeBufferPointer<UInt8>) -> Integer? {
        let mantissa = text.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        let power = mantissa.count < text.count ? exponent(in: .init(rebasing: text[(mantissa.count + 1)...])) : 0
        let fraction = mantissa.drop { $0 != UInt8(ascii: ".") }.dropFirst()
        var digits = mantissa.filter { $0 &- UInt8(ascii: "0") < 10 }[...]
        var exponent = (power ?? 0) - fraction.count
        while exponent < 0, digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        guard exponent >= 0 else { return nil }
        let isNegative = mantissa.first == UInt8(ascii: "-")
        var value: Integer = 0
        for digit in digits.lazy.map({ Integer(truncatingIfNeeded: $0 - UInt8(ascii: "0")) }) {
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isOverflow) =
                isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            guard !isTooLarge, !isOverflow else { return nil }
            value = sum
        }
        while exponent > 0, value != 0 {
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            guard !isTooLarge else { return nil }
            value = product
            exponent -= 1
        }
        return value
    }

    /// Returns the nearest value of a floating-point type; nil if that is infinite, or zero for a nonzero number.
    @inline(__always)
    func floating<Value: BinaryFloatingPoint & LosslessStringConvertible>(
        _ text: UnsafeBufferPointer<UInt8>
    ) -> Value? {
        // If the digits and the power of ten are both exact, a single operation rounds correctly.
        let exactPower = Value.significandBitCount >= 52 ? 22 : Value.significandBitCount >= 23 ? 10 : 0
        if isExact, significand >> UInt64(Value.significandBitCount + 1) == 0, abs(exponent) <= exactPower {
            let magnitude = Value(significand)
            let power = Value(Self.powersOfTen[abs(exponent)])
            let value = exponent < 0 ? magnitude / power : magnitude * power
            return isNegative ? -value : value
        }
        guard let value = Value(String(decoding: text, as: UTF8.self)), value.isFinite else { return nil }
        return value == 0 && significand > 0 ? nil : value
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}
