import SluiceHTTP

/// Percent-encoding (RFC 3986 §2).
enum PercentEncoding {
    /// Encodes the bytes that are not allowed in a URL, including a `%` that starts no
    /// triplet. Existing triplets are kept.
    static func completed(_ text: String) -> String {
        if text.utf8.allSatisfy({ isAllowed($0) && $0 != UInt8(ascii: "%") }) { return text }
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + 16)
        for (index, byte) in bytes.enumerated() {
            let isKept = byte == UInt8(ascii: "%") ? triplet(in: bytes[...], at: index) != nil : isAllowed(byte)
            append(byte, to: &output, isKept)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a name or value of a query, in which all but unreserved characters are encoded.
    static func append(component text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 { append(byte, to: &bytes, byte.isUnreserved) }
    }

    @inline(__always)
    private static func append(_ byte: UInt8, to bytes: inout [UInt8], _ isKept: Bool) {
        if isKept { return bytes.append(byte) }
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digit(byte >> 4))
        bytes.append(digit(byte & 15))
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
    }

    /// Returns true if a byte is allowed in a path or query. A `%` is allowed only at the start of a triplet.
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
