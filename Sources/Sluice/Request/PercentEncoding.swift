/// Percent-encoding (RFC 3986 §2).
enum PercentEncoding {
    /// Encodes the bytes no URL may hold and leaves the rest, what is encoded already included.
    static func completed(_ text: String) -> String {
        text.utf8.allSatisfy(isAllowed) ? text : encode(text, isAllowed)
    }

    /// Encodes all but unreserved characters, for a name or value in a query, behind what is there.
    static func append(component text: String, to bytes: inout [UInt8]) {
        append(text, to: &bytes, isUnreserved)
    }

    private static func encode(_ text: String, _ isKept: (UInt8) -> Bool) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 16)
        append(text, to: &bytes, isKept)
        return String(decoding: bytes, as: UTF8.self)
    }

    @inline(__always)
    private static func append(_ text: String, to bytes: inout [UInt8], _ isKept: (UInt8) -> Bool) {
        for byte in text.utf8 {
            if isKept(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(digit(byte >> 4))
                bytes.append(digit(byte & 15))
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
    }

    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Whether a byte may stand in a path or query as it is; `%` is taken to begin an encoded byte.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x7F...0xFF: false
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"), UInt8(ascii: "#"):
            false
        default: true
        }
    }
}
