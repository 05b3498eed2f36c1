#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Something that happened to a download, as `--json` tells it: one JSON object a line, without what is not known.
public struct DownloadEvent: Codable, Sendable, Equatable {
    /// What happened.
    public enum Kind: String, Codable, Sendable {
        /// It has begun.
        case started
        /// More of it is there.
        case progress
        /// It is whole and in its place.
        case finished
        /// It failed.
        case failed
        /// The command was interrupted; it has no URL.
        case interrupted
    }

    /// What happened.
    public var event: Kind
    /// What is fetched.
    public var url: String?
    /// The bytes that are there.
    public var completed: Int64?
    /// The bytes in all.
    public var total: Int64?
    /// The recent speed.
    public var bytesPerSecond: Double?
    /// Where it is.
    public var file: String?
    /// How many of its bytes had been there from an earlier run.
    public var resumed: Int64?
    /// What its bytes come to, where that was asked for.
    public var sha256: String?
    /// How long it took.
    public var seconds: Double?
    /// What kind of failure it was.
    public var code: String?
    /// Why it failed.
    public var reason: String?

    /// Makes an event that says nothing more.
    public init(_ event: Kind, url: String? = nil) {
        self.event = event
        self.url = url
    }

    /// The event as JSON, without an end of line.
    public var line: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
