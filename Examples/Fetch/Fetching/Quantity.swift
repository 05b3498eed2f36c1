/// Numbers as people read them.
public enum Quantity {
    /// `999 B`, `1.5 KiB`, `20 MiB`.
    public static func bytes(_ count: Int64) -> String {
        bytes(Double(max(0, count)))
    }

    /// `1.5 MiB/s`; nil for what is no number.
    public static func rate(_ bytesPerSecond: Double?) -> String? {
        guard let bytesPerSecond, bytesPerSecond.isFinite, bytesPerSecond >= 0 else { return nil }
        return bytes(bytesPerSecond) + "/s"
    }

    /// `0:05`, `12:34`, `1:02:03`; nil for what is longer than anybody waits, four days.
    public static func time(_ duration: Duration?) -> String? {
        guard let duration, duration >= .zero, duration < .seconds(345_600) else { return nil }
        let seconds = Int(duration.components.seconds)
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        let rest = padded(seconds % 60)
        return hours > 0 ? "\(hours):\(padded(minutes)):\(rest)" : "\(minutes):\(rest)"
    }

    /// `42%`, never 100 before the end; nil where the whole is not known.
    public static func percent(_ completed: Int64, of total: Int64?) -> Int? {
        guard let total, total > 0 else { return total == 0 ? 100 : nil }
        if completed >= total { return 100 }
        return min(99, max(0, Int(Double(completed) / Double(total) * 100)))
    }

    private static func bytes(_ count: Double) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        // What would be written as 1024 of a unit is 1.0 of the next.
        guard count >= 1023.5 else { return "\(Int(count.rounded())) B" }
        var (value, unit) = (count / 1024, 0)
        while value >= 1023.5, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        let tenths = (value * 10).rounded()
        guard tenths < 100 else { return "\(Int(value.rounded())) \(units[unit])" }
        return "\(Int(tenths) / 10).\(Int(tenths) % 10) \(units[unit])"
    }

    private static func padded(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
