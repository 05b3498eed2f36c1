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
        if entry.kind.isBool, input.conversions.contains(.numbersFromBools) { return entry.kind == .true ? 1 : 0 }
        return input.withNumberText(of: node) { NumberLiteral($0)?.integer($0) }
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
            guard input.conversions.contains(.numbersFromBools) else { return nil }
            return input.kind(of: node) == .true ? 1 : 0
        case .string:
            if case .convertFromString(let positive, let negative, let nan) = input.decoder
                .nonConformingFloatDecodingStrategy
            {
                if input.document.string(of: node, equals: positive) { return .infinity }
                if input.document.string(of: node, equals: negative) { return -.infinity }
                if input.document.string(of: node, equals: nan) { return .nan }
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
        case .number where input.conversions.contains(.stringsFromNumbers): input.document.text(of: node)
        case .true where input.conversions.contains(.stringsFromNumbers): "true"
        case .false where input.conversions.contains(.stringsFromNumbers): "false"
        default: nil
        }
    }
}

extension Bool: LenientScalar {
    static func read(_ node: JSONDocument.Node, of input: LenientInput) -> Bool? {
        switch input.kind(of: node) {
        case .true: true
        case .false: false
        case .number where input.conversions.contains(.boolsFromNumbersAndStrings):
            input.withNumberText(of: node) { NumberLiteral($0)?.integer($0) as UInt8? }.flatMap(Bool.init(digit:))
        case .string where input.conversions.contains(.boolsFromNumbersAndStrings):
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
        if kind.isBool, input.conversions.contains(.numbersFromBools) { return kind == .true ? 1 : 0 }
        return input.withNumberText(of: node) { text in
            if text.count > 38 { input.doubt() }
            return NumberLiteral(text).flatMap { _ in Decimal(string: String(decoding: text, as: UTF8.self)) }
        }
    }
}

extension JSONDocument.Kind {
    fileprivate var isBool: Bool { self == .true || self == .false }
}
