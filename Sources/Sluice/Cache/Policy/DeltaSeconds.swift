/// Numbers of seconds in cache fields (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// The value used for larger numbers and for an unknown age.
    static let limit = 2_147_483_648.0

    /// Parses a number that consists of digits only; nil for anything else, including a sign or a fraction.
    static func parse(_ text: some Collection<UInt8>) -> Double? {
        if text.isEmpty { return nil }
        var value = 0.0
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            // Clamping at each digit is correct because the value never decreases.
            value = min(value * 10 + Double(byte - UInt8(ascii: "0")), limit)
        }
        return value
    }

    /// Clamps a computed time to the range from 0 to the limit; NaN becomes the limit.
    static func clamped(_ seconds: Double) -> Double {
        seconds.isNaN ? limit : min(max(seconds, 0), limit)
    }

    static func of(_ duration: Duration) -> Double {
        let parts = duration.components
        return clamped(Double(parts.seconds) + Double(parts.attoseconds) * 1e-18)
    }
}
