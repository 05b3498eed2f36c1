/// Percent-encoding (RFC 3986 §2).
package enum PercentEncoding {
    /// Encodes the bytes that are not allowed in a path or query, including a `%` that starts no triplet. Existing triplets are
    /// kept.
    ///
    /// - Parameters:
    ///   - text: A path, a query, or a whole URL.
    ///   - isURL: True for a whole URL, in which brackets may be part of the host.
    /// - Returns: The text with more triplets.
    package static func completed(_ text: String, isURL: Bool = false) -> String {
        if !text.containsByte(where: { !isAllowed($0, isURL) || $0 == UInt8(ascii: "%") }) { return text }
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + 16)
        for (index, byte) in bytes.enumerated() {
            let isKept = byte == UInt8(ascii: "%") ? triplet(in: bytes[...], at: index) != nil : isAllowed(byte, isURL)
            append(byte, to: &output, isKept)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a name or value of a query, in which all but unreserved characters are encoded.
    package static func append(component text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 { append(byte, to: &bytes, byte.isUnreserved) }
    }

    @inline(__always)
    private static func append(_ byte: UInt8, to bytes: inout [UInt8], _ isKept: Bool) {
        if isKept { bytes.append(byte) } else { append(triplet: byte, to: &bytes) }
    }

    /// Appends a byte as `%` and two uppercase hexadecimal digits (RFC 3986 §2.1).
    package static func append(triplet byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digit(byte >> 4))
        bytes.append(digit(byte & 15))
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
    }

    /// Returns true if a byte is allowed in a path or query, or with `isURL` in a whole URL. A `%` is allowed only at the
    /// start of a triplet.
    @inline(__always)
    private static func isAllowed(_ byte: UInt8, _ isURL: Bool) -> Bool {
        switch byte {
        case 0...0x20, 0x7F...0xFF: false
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"), UInt8(ascii: "#"):
            false
        case UInt8(ascii: "["), UInt8(ascii: "]"): isURL
        default: true
        }
    }
}

// MARK: - Triplets

extension PercentEncoding {
    /// Returns the byte that `%` and two hexadecimal digits encode (RFC 3986 §2.1), or nil if there is no such triplet.
    @inlinable
    package static func triplet(in bytes: ArraySlice<UInt8>, at index: Int) -> UInt8? {
        guard bytes[index] == UInt8(ascii: "%"), bytes.endIndex - index > 2,
            let high = bytes[index + 1].hexadecimalValue, let low = bytes[index + 2].hexadecimalValue
        else { return nil }
        return high << 4 | low
    }

    /// Decodes the triplets of a text, and with `plusIsSpace` each `+` as a space, as forms need it. A `%` that starts
    /// no triplet is kept.
    package static func decoded(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if let byte = triplet(in: bytes, at: index) {
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(plusIsSpace && bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
                index += 1
            }
        }
        return decoded
    }

    package static func decoded(_ text: some Sequence<UInt8>, plusIsSpace: Bool) -> [UInt8] {
        decoded(Array(text)[...], plusIsSpace: plusIsSpace)
    }

    /// Decodes the triplets of a text; nil if a `%` starts no triplet.
    package static func strictlyDecoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
        let bytes = Array(text)[...]
        let isValid = bytes.indices.allSatisfy { bytes[$0] != UInt8(ascii: "%") || triplet(in: bytes, at: $0) != nil }
        return isValid ? decoded(bytes, plusIsSpace: false) : nil
    }

    /// Appends bytes in percent-encoding. Unreserved characters are kept. With `keepsReserved`, reserved characters and
    /// existing triplets are kept too (RFC 6570 §3.2.1).
    package static func append(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8], keepsReserved: Bool) {
        for (index, byte) in zip(bytes.indices, bytes) {
            let isKept =
                byte.isUnreserved || keepsReserved && (isReserved(byte) || triplet(in: bytes, at: index) != nil)
            append(byte, to: &output, isKept)
        }
    }

    /// Returns the offset in bytes at which the first `count` characters of UTF-8 text end.
    ///
    /// Characters are code points. With `countsTriplets`, a percent-encoded code point counts as one and is not split.
    package static func end(ofFirst count: Int, in bytes: [UInt8], countsTriplets: Bool) -> Int {
        var end = 0
        var left = count
        while end < bytes.count, left > 0 {
            left -= 1
            if countsTriplets, let lead = triplet(in: bytes[...], at: end) {
                end += 3
                var continuations = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0
                while continuations > 0, end < bytes.count, let byte = triplet(in: bytes[...], at: end),
                    byte & 0xC0 == 0x80
                {
                    continuations -= 1
                    end += 3
                }
            } else {
                end += 1
                while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
            }
        }
        return end
    }

    /// Returns true for the general and the sub-delimiters of RFC 3986 §2.2.
    private static func isReserved(_ byte: UInt8) -> Bool {
        ":/?#[]@!$&'()*+,;=".utf8.contains(byte)
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit; nil for any other byte.
    @inlinable package var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
