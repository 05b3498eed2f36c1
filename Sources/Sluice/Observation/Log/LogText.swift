import SluiceFoundation
import SluiceHTTP

/// Makes untrusted text safe for a log: it cannot end a line, forge another line, or control a terminal.
enum LogEscaping {
    /// Returns a text on one line.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - limit: The maximum number of Unicode scalars to keep.
    /// - Returns: The text with invisible characters escaped as in Swift, for example `\n` or `\u{1B}`.
    static func line(_ text: String, limit: Int = 2048) -> String {
        var text = text
        let isPlain = text.utf8.count <= limit && text.withUTF8 { $0.allSatisfy { (0x20..<0x7F).contains($0) } }
        if isPlain { return text }
        var line = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index == limit { return line + "…" }
            if isVisible(scalar) {
                line.unicodeScalars.append(scalar)
            } else {
                line += escape(of: scalar)
            }
        }
        return line
    }

    /// Splits a text into lines and makes each safe on its own. Tabs are kept.
    static func lines(_ text: String) -> [String] {
        text.utf8.split(separator: 10, omittingEmptySubsequences: false).map { line in
            let line = line.last == 13 ? line.dropLast() : line
            let pieces = line.split(separator: 9, omittingEmptySubsequences: false)
            return pieces.map { Self.line(String(Substring($0)), limit: .max) }.joined(separator: "\t")
        }
    }

    /// Returns true if a scalar is visible and has no other effect: no control, line break or direction change.
    static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB,
            0xE0000...0xE0FFF:
            false
        default: true
        }
    }

    private static func escape(of scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        case "\0": "\\0"
        default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
    }
}

/// Short texts for durations and sizes, in at most six characters, and ISO 8601 times.
enum LogUnits {
    /// Returns a duration: `0.4 ms`, `35 ms`, `1.3 s`, `42 s`, `3 min`, `5 h`.
    static func text(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
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

    /// Returns a number of bytes: `12 B`, `1.2 kB`, `35 MB`. A kilobyte has 1,000 bytes.
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

    /// Returns a time: `10:15:30.123Z`, or with the day `2026-07-10T10:15:30.123Z`.
    static func text(_ date: Date, withDay: Bool) -> String {
        // Clamped to about a hundred thousand years in each direction.
        let milliseconds = Int64(max(-4e15, min(4e15, (date.timeIntervalSince1970 * 1000).rounded(.down))))
        let seconds = milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
        let civil = CivilTime(secondsSince1970: seconds)
        let clock = [civil.hour, civil.minute, civil.second].map { digits($0, 2) }.joined(separator: ":")
        let time = "\(clock).\(digits(Int(milliseconds - seconds * 1000), 3))Z"
        return withDay ? "\(digits(civil.year, 4))-\(digits(civil.month, 2))-\(digits(civil.day, 2))T\(time)" : time
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }

    /// Returns a count with its noun, in the plural unless the count is 1.
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

// MARK: - JSON layout

/// Formats a JSON text with one line for each element and member, in their original order, up to a limit.
struct JSONLayout {
    /// The maximum level of indentation. Without it, a short text of many brackets would become a very long one.
    private static let maximumIndentation = 32

    private let document: JSONDocument
    private let limit: Int
    private var output: [UInt8] = []

    /// Formats a text.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - limit: The number of bytes after which to stop. The result may be slightly longer.
    /// - Returns: The formatted text; nil if it is not a JSON object or array.
    static func text(_ text: String, limit: Int) -> String? {
        guard let first = text.utf8.first(where: { $0 > 0x20 }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let document = try? JSONDocument(text)
        else { return nil }
        var layout = JSONLayout(document: document, limit: limit)
        layout.value(document.root, level: 0)
        return String(decoding: layout.output, as: UTF8.self)
    }

    private init(document: JSONDocument, limit: Int) {
        self.document = document
        self.limit = limit
    }

    /// Formats a value. The parser's limit on depth bounds the recursion.
    private mutating func value(_ node: JSONDocument.Node, level: Int) {
        let kind = document.kind(of: node)
        guard kind == .array || kind == .object, document.count(of: node) > 0 else {
            if kind == .array { return output += "[]".utf8 }
            if kind == .object { return output += "{}".utf8 }
            return document.withBytes(of: node) { output += $0 }
        }
        output.append(UInt8(ascii: kind == .array ? "[" : "{"))
        if kind == .array {
            for (index, element) in document.elements(of: node).enumerated() {
                guard begin(index, level + 1) else { return }
                value(element, level: level + 1)
            }
        } else {
            for (index, member) in document.members(of: node).enumerated() {
                guard begin(index, level + 1) else { return }
                document.withBytes(of: member.key) { output += $0 }
                output += ": ".utf8
                value(member.value, level: level + 1)
            }
        }
        breakLine(level)
        output.append(UInt8(ascii: kind == .array ? "]" : "}"))
    }

    /// Begins an element or a member. Returns false if the limit is reached.
    private mutating func begin(_ index: Int, _ level: Int) -> Bool {
        if output.count > limit { return false }
        if index > 0 { output.append(UInt8(ascii: ",")) }
        breakLine(level)
        return true
    }

    private mutating func breakLine(_ level: Int) {
        output.append(10)
        output += repeatElement(UInt8(ascii: " "), count: 2 * min(level, Self.maximumIndentation))
    }
}
