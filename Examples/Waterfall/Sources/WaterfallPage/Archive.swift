import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The contents of a HAR file of any program.
///
/// `HAR(parsing:)` fails if a required field of one entry is missing. An archive is more tolerant: it skips entries without
/// a URL, estimates missing start times, converts values of other types, and reads the fields in which Chrome, Safari,
/// Charles and Playwright write failures and sizes.
///
/// ```swift
/// let archive = try Archive(parsing: Data(contentsOf: file))
/// let page = WaterfallPage(archive.har, remarks: archive.remarks)
/// ```
public struct Archive: Sendable {
    /// The recording.
    public let har: HAR
    /// The number of entries without a URL, which the recording lacks.
    public let skippedEntries: Int
    /// The number of entries without a valid start time. Each begins after the entry before it.
    public let undatedEntries: Int

    /// Reads a file.
    ///
    /// - Parameter data: JSON in UTF-8, or in UTF-16 with a byte order mark.
    /// - Throws: An ``ArchiveError`` if the data is no HAR, or if no entry has a URL.
    public init(parsing data: Data) throws(ArchiveError) {
        let root = try Archive.json(data)
        guard case .object(let log) = root["log"] else { throw .noLog }
        guard case .array(let values) = log["entries"] else { throw .noEntries }
        var entries: [HAR.Entry] = []
        entries.reserveCapacity(values.count)
        var end = log["pages"]?[0]["startedDateTime"].string.flatMap(ArchiveDate.date)
        var undated = 0
        for value in values {
            let foreign = ForeignEntry(value)
            guard var entry = foreign.entry else { continue }
            if foreign.start == nil { undated += 1 }
            entry.startedDateTime = foreign.start ?? end ?? entry.startedDateTime
            end = entry.startedDateTime.addingTimeInterval(entry.time.clamped(to: 0...1e14) / 1000)
            entries.append(entry)
        }
        if entries.isEmpty, !values.isEmpty { throw .noReadableEntry(count: values.count) }
        har = Archive.recording(log, entries)
        skippedEntries = values.count - entries.count
        undatedEntries = undated
    }

    /// Sentences about entries that were skipped or estimated; empty if there are none.
    public var remarks: [String] {
        var remarks: [String] = []
        if skippedEntries > 0 {
            remarks.append(
                "Not shown: \(Readable.count(skippedEntries, of: "entry", plural: "entries")) without a URL."
            )
        }
        if undatedEntries > 0 {
            let count = Readable.count(undatedEntries, of: "entry", plural: "entries")
            remarks.append("Without a start time, and drawn after the one before: \(count).")
        }
        return remarks
    }

    private static func json(_ data: Data) throws(ArchiveError) -> JSON {
        for (mark, format) in [([0x1F, 0x8B], "gzip"), ([0x50, 0x4B, 3, 4], "ZIP")] as [([UInt8], String)]
        where data.starts(with: mark) { throw .compressed(format) }
        let bytes: Data
        switch Array(data.prefix(3)) {
        case [0xEF, 0xBB, 0xBF]: bytes = Data(data.dropFirst(3))
        case let mark where mark.starts(with: [0xFF, 0xFE]): bytes = utf8(data.dropFirst(2), isLittleEndian: true)
        case let mark where mark.starts(with: [0xFE, 0xFF]): bytes = utf8(data.dropFirst(2), isLittleEndian: false)
        default: bytes = data
        }
        if bytes.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "<") { throw .markup }
        do {
            return try JSON(parsing: bytes)
        } catch {
            // A body with bytes that are not UTF-8 must not make the whole file unreadable.
            let repaired = String(decoding: bytes, as: UTF8.self)
            guard let json = try? JSON(parsing: repaired) else { throw .notJSON(error) }
            return json
        }
    }

    private static func utf8(_ data: Data, isLittleEndian: Bool) -> Data {
        let bytes = Array(data)
        let units = stride(from: 0, to: bytes.count - bytes.count % 2, by: 2).map { index -> UInt16 in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isLittleEndian ? second << 8 | first : first << 8 | second
        }
        return Data(String(decoding: units, as: UTF16.self).utf8)
    }

    private static func recording(_ members: [String: JSON], _ entries: [HAR.Entry]) -> HAR {
        // The fields beside the entries. One that cannot be read is as good as missing.
        var others = members
        others["entries"] = .array([])
        if others["_droppedEntries"]?.int == nil { others["_droppedEntries"] = nil }
        others["pages"] = .array((members["pages"]?.arrayValue ?? []).compactMap(page))
        for name in ["creator", "browser"] {
            others[name] = others[name]?.dictionary.map { program in
                let texts = ["name", "version"].map { ($0, JSON.string(program[$0]?.stringValue ?? "")) }
                return .object(Dictionary(uniqueKeysWithValues: texts))
            }
        }
        for name in ["version", "comment"] { others[name] = others[name]?.string.map(JSON.string) }
        var har = (try? JSON.object(["log": .object(others)]).decoded(as: HAR.self)) ?? HAR()
        har.entries = entries
        return har
    }

    /// Returns the page in the form that `HAR` reads; nil if that is not possible. No view shows its start time.
    private static func page(_ json: JSON) -> JSON? {
        guard json.dictionary != nil else { return nil }
        var page: JSON = ["startedDateTime": "1970-01-01T00:00:00Z"]
        page["id"] = .string(json["id"].stringValue)
        page["title"] = .string(json["title"].stringValue)
        return page
    }
}

/// The reason why a file cannot be drawn.
public enum ArchiveError: Error, CustomStringConvertible, Sendable {
    /// The file is compressed, in the named format.
    case compressed(String)
    /// The file is HTML or XML.
    case markup
    /// The file is not JSON.
    case notJSON(JSONSyntaxError)
    /// The JSON has no object `log`.
    case noLog
    /// The object `log` has no array `entries`.
    case noEntries
    /// No entry has a request with a URL.
    case noReadableEntry(count: Int)

    /// A sentence that names the reason.
    public var description: String {
        switch self {
        case .compressed(let format): "The file is compressed with \(format). Decompress it, and draw the HAR in it."
        case .markup: "The file is HTML or XML, not a HAR. Export the recording as HAR."
        case .notJSON(let error): "The file is not a HAR. \(error)"
        case .noLog: "The file is JSON, but not a HAR: it has no object “log”."
        case .noEntries: "The file is JSON, but not a HAR: its “log” has no array “entries”."
        case .noReadableEntry(let count):
            "The file has \(Readable.count(count, of: "entry", plural: "entries")), but none has a request with a URL."
        }
    }
}
