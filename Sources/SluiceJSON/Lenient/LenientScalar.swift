import SluiceFoundation

/// A type that is read from a single JSON value without a separate decoder.
protocol LenientScalar: Decodable {
    /// Reads a value. Returns nil for null, and if the conversion would lose information.
    static func read(_ node: JSONDocument.Node, of input: LenientInput) -> Self?

    /// Creates the neutral value.
    init()
}

extension LenientScalar where Self: FixedWidthInteger {
    @inline(__always)
    static func read(_ node: JSONDocument.Node, of input: LenientInput) -> Self? {
        let entry = input.document.tape[node.index]
        if entry.kind == .number, entry.isPlain, let value = shortInteger(node, of: input) { return value }
        // 1.0 is an integer, but each decoder has its limits.
        if entry.kind == .number, !entry.isPlain || Self.bitWidth > 64 { input.doubt() }
        if entry.kind.isBool, input.convertsTypes { return entry.kind == .true ? 1 : 0 }
        let value: Self? = input.withNumberText(of: node) { NumberLiteral($0)?.integer($0) }
        // Foundation has an error of its own for a number that does not fit.
        if entry.kind == .number, value == nil { input.doubt() }
        return value
    }

    /// Reads an unsigned literal that is too short to overflow.
    @inline(__always)
    private static func shortInteger(_ node: JSONDocument.Node, of input: LenientInput) -> Self? {
        input.document.withBytes(of: node) { text in
            guard text.count <= 18 else { return nil }
            var value: Int64 = 0
            for byte in text {
                let digit = byte &- UInt8(ascii: "0")
                guard digit < 10 else { return nil }
                value = value &* 10 &+ Int64(digit)
            }
            return Self(exactly: value)
        }
    }
}

extension LenientScalar where Self: BinaryFloatingPoint & LosslessStringConvertible {
    @inline(__always)
    static func read(_ node: JSONDocument.Node, of input: LenientInput) -> Self? {
        switch input.kind(of: node) {
        case .true, .false:
            guard input.convertsTypes else { return nil }
            return input.kind(of: node) == .true ? 1 : 0
        case .string:
            if case .convertFromString(let positive, let negative, let nan) = input.decoder
                .nonConformingFloatDecodingStrategy
            {
                // Foundation finds these texts only if they have no escapes.
                if !input.document.tape[node.index].isPlain { input.doubt() }
                if input.document.string(of: node, hasBytesOf: positive) { return .infinity }
                if input.document.string(of: node, hasBytesOf: negative) { return -.infinity }
                if input.document.string(of: node, hasBytesOf: nan) { return .nan }
            }
            fallthrough
        default:
            let value: Self? = input.withNumberText(of: node) { NumberLiteral($0)?.floating($0) }
            // Foundation rejects some zeros with an exponent, such as 0e3.
            if value == nil || value == 0 && input.document.withBytes(of: node, { $0.contains { $0 | 0x20 == 0x65 } }) {
                input.doubt()
            }
            return value
        }
    }
}

extension Int: LenientScalar {}
extension Int8: LenientScalar {}
extension Int16: LenientScalar {}
extension Int32: LenientScalar {}
extension Int64: LenientScalar {}
extension Int128: LenientScalar {}
extension UInt: LenientScalar {}
extension UInt8: LenientScalar {}
extension UInt16: LenientScalar {}
extension UInt32: LenientScalar {}
extension UInt64: LenientScalar {}
extension UInt128: LenientScalar {}
extension Float: LenientScalar {}
extension Double: LenientScalar {}

extension String: LenientScalar {
    static func read(_ node: JSONDocument.Node, of input: LenientInput) -> String? {
        switch input.kind(of: node) {
        case .string: input.document.string(of: node)
        case .number where input.convertsTypes: input.document.text(of: node)
        case .true where input.convertsTypes: "true"
        case .false where input.convertsTypes: "false"
        default: nil
        }
    }
}

extension Bool: LenientScalar {
    static func read(_ node: JSONDocument.Node, of input: LenientInput) -> Bool? {
        switch input.kind(of: node) {
        case .true: true
        case .false: false
        case .number where input.convertsTypes:
            input.withNumberText(of: node) { NumberLiteral($0)?.integer($0) as UInt8? }.flatMap(Bool.init(digit:))
        case .string where input.convertsTypes:
            input.withTrimmedString(of: node, Bool.init(word:))
        default: nil
        }
    }

    private init?(digit: UInt8) {
        guard digit < 2 else { return nil }
        self = digit == 1
    }

    private init?(word: UnsafeBufferPointer<UInt8>) {
        guard word.count <= 5 else { return nil }
        switch String(decoding: word, as: UTF8.self).lowercased() {
        case "true", "yes", "1": self = true
        case "false", "no", "0": self = false
        default: return nil
        }
    }
}

extension Decimal: LenientScalar {
    static func read(_ node: JSONDocument.Node, of input: LenientInput) -> Decimal? {
        let kind = input.kind(of: node)
        if kind.isBool, input.convertsTypes { return kind == .true ? 1 : 0 }
        return input.withNumberText(of: node) { text in
            if text.count > 38 { input.doubt() }
            let value = NumberLiteral(text).flatMap { _ in Decimal(string: String(decoding: text, as: UTF8.self)) }
            if kind == .number, value == nil { input.doubt() }
            return value
        }
    }
}

extension JSONDocument.Kind {
    fileprivate var isBool: Bool { self == .true || self == .false }
}

// MARK: - Number literal

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
        JSONNumber(checked: String(decoding: text.drop { $0 == UInt8(ascii: "+") }, as: UTF8.self)).exactly()
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
