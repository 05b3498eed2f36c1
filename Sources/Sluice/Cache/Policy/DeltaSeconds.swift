/// Numbers of seconds (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// What a number counts for that is greater, and what an age is taken for that cannot be told.
    static let limit = 2_147_483_648.0

    /// Reads digits and nothing else; nil for anything else, a sign or a fraction among it.
    static func parse(_ text: some Collection<UInt8>) -> Double? {
        if text.isEmpty { return nil }
        var value = 0.0
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            // Once it is above the limit, no digit can bring it back.
            value = min(value * 10 + Double(byte - UInt8(ascii: "0")), limit)
        }
        return value
    }

    /// A time that is a sum or difference of others, within 0 and the limit; the limit for what is no number.
    static func clamped(_ seconds: Double) -> Double {
        seconds.isNaN ? limit : min(max(seconds, 0), limit)
    }

    static func of(_ duration: Duration) -> Double {
        let parts = duration.components
        return clamped(Double(parts.seconds) + Double(parts.attoseconds) * 1e-18)
    }
}
