/// A plain validator for the grammar of RFC 8259, with at most 512 levels of nesting.
struct ReferenceJSON {
    private let bytes: [UInt8]
    private var position = 0

    static func isValid(_ bytes: [UInt8]) -> Bool {
        var reader = ReferenceJSON(bytes: bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
        guard reader.value(depth: 0) else { return false }
        return reader.position == bytes.count
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func skip(_ text: String) -> Bool {
        text.utf8.allSatisfy { skip($0) }
    }

    private mutating func blanks() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    /// Reads a value and the white space around it.
    private mutating func value(depth: Int) -> Bool {
        blanks()
        let isValid =
            switch next {
            case UInt8(ascii: "{"): list(depth: depth + 1, until: UInt8(ascii: "}"), hasNames: true)
            case UInt8(ascii: "["): list(depth: depth + 1, until: UInt8(ascii: "]"), hasNames: false)
            case UInt8(ascii: "\""): string()
            case UInt8(ascii: "t"): skip("true")
            case UInt8(ascii: "f"): skip("false")
            case UInt8(ascii: "n"): skip("null")
            default: number()
            }
        blanks()
        return isValid
    }

    private mutating func list(depth: Int, until end: UInt8, hasNames: Bool) -> Bool {
        guard depth <= 512 else { return false }
        position += 1
        blanks()
        if skip(end) { return true }
        repeat {
            if hasNames {
                blanks()
                guard string() else { return false }
                blanks()
                guard skip(UInt8(ascii: ":")) else { return false }
            }
            guard value(depth: depth) else { return false }
        } while skip(UInt8(ascii: ","))
        return skip(end)
    }

    private mutating func number() -> Bool {
        _ = skip(UInt8(ascii: "-"))
        if !skip(UInt8(ascii: "0")), !digits() { return false }
        if skip(UInt8(ascii: ".")), !digits() { return false }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            return digits()
        }
        return true
    }

    private mutating func digits() -> Bool {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        return position > start
    }

    private mutating func string() -> Bool {
        guard skip(UInt8(ascii: "\"")) else { return false }
        var text: [UInt8] = []
        var units: [UInt16] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                // A lone surrogate is invalid, in UTF-8 and in escapes.
                return String(validating: text, as: UTF8.self) != nil
                    && String(validating: units, as: UTF16.self) != nil
            case 0..<0x20:
                return false
            case UInt8(ascii: "\\"):
                guard let escape = next else { return false }
                position += 1
                if escape == UInt8(ascii: "u") {
                    let digits = bytes[position...].prefix(4)
                    let isHex = digits.count == 4 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
                    guard isHex, let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16) else {
                        return false
                    }
                    position += 4
                    units.append(unit)
                    continue
                }
                guard "\"\\/bfnrt".utf8.contains(escape) else { return false }
                units.append(0x20)
                text.append(0x20)
            default:
                text.append(byte)
                units.append(0x20)
            }
        }
        return false
    }
}
