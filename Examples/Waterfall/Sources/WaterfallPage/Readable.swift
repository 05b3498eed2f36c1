import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Formats figures for people.
enum Readable {
    /// Formats a duration: `0.4 ms`, `35 ms`, `1.24 s`, `2 min 5 s`.
    static func milliseconds(_ value: Double) -> String {
        let value = value.clamped(to: 0...1e15)
        if value >= 119_500 {
            let seconds = Int((value / 1000).rounded())
            return seconds >= 7200
                ? "\(seconds / 3600) h \(seconds % 3600 / 60) min" : "\(seconds / 60) min \(seconds % 60) s"
        }
        if value >= 999.5 { return "\(digits(value / 1000, value >= 9995 ? 1 : 2)) s" }
        return value > 0 && value < 0.05 ? "<0.1 ms" : "\(digits(value, value >= 9.95 || value == 0 ? 0 : 1)) ms"
    }

    /// Formats a number of bytes: `512 B`, `4.1 kB`, `20 MB`.
    static func bytes(_ count: Int) -> String {
        let value = Double(max(0, count))
        for (unit, size) in [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)] where value >= size * 0.9995 {
            return "\(digits(value / size, value / size >= 9.95 ? 0 : 1)) \(unit)"
        }
        return "\(max(0, count)) B"
    }

    /// Formats a number: `1,204`.
    static func count(_ count: Int) -> String {
        let digits = "\(count)"
        return digits.enumerated().reduce(into: "") { text, digit in
            if digit.offset > 0, (digits.count - digit.offset) % 3 == 0 { text += "," }
            text.append(digit.element)
        }
    }

    /// Formats a number of things: `1 request`, `2 requests`.
    static func count(_ count: Int, of noun: String, plural: String? = nil) -> String {
        "\(Readable.count(count)) \(count == 1 ? noun : plural ?? noun + "s")"
    }

    /// Formats a date: `2026-01-31 12:00:00 UTC`.
    static func date(_ date: Date) -> String {
        let text = date.formatted(Date.ISO8601FormatStyle())
        return text.split(separator: "T").joined(separator: " ").split(separator: "Z").joined() + " UTC"
    }

    /// Formats a number with a fixed number of decimal places.
    static func fixed(_ value: Double, _ places: Int) -> String {
        let scale = [1, 10, 100, 1000][min(max(places, 0), 3)]
        let scaled = Int((value.clamped(to: 0...1e12) * Double(scale)).rounded())
        return places == 0 ? "\(scaled)" : "\(scaled / scale).\("\(scaled % scale + scale)".dropFirst())"
    }

    /// Formats a number with a maximum number of decimal places, without trailing zeros.
    private static func digits(_ value: Double, _ places: Int) -> String {
        let scale = [1, 10, 100][places]
        let scaled = Int((value.clamped(to: 0...1e15) * Double(scale)).rounded())
        var text = "\(scaled / scale)"
        let fraction = scaled % scale
        if fraction > 0 {
            var tail = "\(fraction + scale)".dropFirst()
            while tail.last == "0" { tail = tail.dropLast() }
            text += ".\(tail)"
        }
        return text
    }
}
