extension ArraySlice<UInt8> {
    /// Returns the byte encoded by `%` and two hexadecimal digits (RFC 3986 §2.1); nil if there is no such triplet.
    @inlinable
    package func percentTriplet(at index: Int) -> UInt8? {
        guard self[index] == UInt8(ascii: "%"), endIndex - index > 2 else { return nil }
        guard let high = self[index + 1].hexadecimalValue, let low = self[index + 2].hexadecimalValue else {
            return nil
        }
        return high << 4 | low
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
