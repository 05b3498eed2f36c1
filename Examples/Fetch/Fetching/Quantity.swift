/// Formats quantities for people.
public enum Quantity {
    /// Formats a number of bytes: `999 B`, `1.5 KiB`, `20 MiB`.
    public static func bytes(_ count: Int64) -> String {
        bytes(Double(max(0, count)))
    }

    /// Formats a rate, such as `1.5 MiB/s`; nil for NaN, negative or unrealistic values.
    public static func rate(_ bytesPerSecond: Double?) -> String? {
        guard let bytesPerSecond, bytesPerSecond >= 0, bytesPerSecond < Double(Int64.max) else { return nil }
        return bytes(bytesPerSecond) + "/s"
    }

    /// Formats a duration as `0:05`, `12:34` or `1:02:03`; nil for four days or more.
    public static func time(_ duration: Duration?) -> String? {
        guard let duration, duration >= .zero, duration < .seconds(345_600) else { return nil }
        let seconds = Int(duration.components.seconds)
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        let rest = padded(seconds % 60)
        return hours > 0 ? "\(hours):\(padded(minutes)):\(rest)" : "\(minutes):\(rest)"
    }

    /// Formats a percentage, which is 100 only at the end; nil if the total is unknown.
    public static func percent(_ completed: Int64, of total: Int64?) -> Int? {
        guard let total, total > 0 else { return total == 0 ? 100 : nil }
        if completed >= total { return 100 }
        return min(99, max(0, Int(Double(completed) / Double(total) * 100)))
    }

    private static func bytes(_ count: Double) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        // A value that would be written as 1024 of a unit is written as 1.0 of the next.
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
