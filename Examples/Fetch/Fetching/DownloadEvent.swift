#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An event of a download, printed by `--json` as one JSON object on a line. Unknown members are omitted.
public struct DownloadEvent: Codable, Sendable, Equatable {
    /// The kinds of events.
    public enum Kind: String, Codable, Sendable {
        /// The download has started.
        case started
        /// More bytes have arrived.
        case progress
        /// The file is complete and in its place.
        case finished
        /// The download failed. Without a URL, the command failed; the code is `usage` if the command line is not valid.
        case failed
        /// The command was interrupted. The event has no URL.
        case interrupted
    }

    /// The kind of the event.
    public var event: Kind
    /// The URL of the download.
    public var url: String?
    /// The number of bytes that are present.
    public var completed: Int64?
    /// The total number of bytes.
    public var total: Int64?
    /// The recent speed.
    public var bytesPerSecond: Double?
    /// The path of the finished file.
    public var file: String?
    /// The number of bytes that were present from an earlier run.
    public var resumed: Int64?
    /// The SHA-256 digest of the file, if the command line asked for it.
    public var sha256: String?
    /// The duration of the download, in seconds.
    public var seconds: Double?
    /// The error code of the failure.
    public var code: String?
    /// A description of the failure.
    public var reason: String?

    /// Creates an event with a kind and a URL only.
    public init(_ event: Kind, url: String? = nil) {
        self.event = event
        self.url = url
    }

    /// The event as JSON, without a line ending. Characters that a terminal interprets are escaped.
    public var line: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(self) else { return "{}" }
        var line = ""
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            if PlainText.isPlain(scalar) {
                line.unicodeScalars.append(scalar)
            } else {
                for unit in UTF16.encode(scalar) ?? .init() {
                    let digits = String(unit, radix: 16)
                    line += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
                }
            }
        }
        return line
    }
}
