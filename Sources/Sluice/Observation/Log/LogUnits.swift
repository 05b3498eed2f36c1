/// Durations and sizes as people say them, in six characters at most.
enum LogUnits {
    /// `0.4 ms`, `35 ms`, `1.3 s`, `42 s`, `3 min`, `5 h`
    static func text(_ duration: Duration) -> String {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let milliseconds = max(0, seconds * 1000)
        return switch milliseconds {
        case ..<9.95: "\(tenths(milliseconds)) ms"
        case ..<999.5: "\(whole(milliseconds)) ms"
        case ..<9_950: "\(tenths(milliseconds / 1000)) s"
        case ..<119_500: "\(whole(milliseconds / 1000)) s"
        case ..<5_970_000: "\(whole(milliseconds / 60_000)) min"
        default: "\(whole(milliseconds / 3_600_000)) h"
        }
    }

    /// `12 B`, `1.2 kB`, `35 MB`; a kilobyte has 1,000 bytes.
    static func text(bytes: Int) -> String {
        if bytes < 1000 { return "\(max(0, bytes)) B" }
        var amount = Double(bytes) / 1000
        for unit in ["kB", "MB", "GB"] {
            if amount < 9.95 { return "\(tenths(amount)) \(unit)" }
            if amount < 999.5 { return "\(whole(amount)) \(unit)" }
            amount /= 1000
        }
        return amount < 9.95 ? "\(tenths(amount)) TB" : "\(whole(amount)) TB"
    }

    /// A count with its noun, in the plural where it must be.
    static func text(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    private static func tenths(_ amount: Double) -> String {
        let tenths = Int((amount * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func whole(_ amount: Double) -> String {
        String(Int(exactly: amount.rounded()) ?? .max)
    }
}
