extension JSONNumber {
    /// A number as digits times a power of ten. There are no leading or trailing zeros, so equal values have equal
    /// representations.
    struct Significand: Equatable {
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
