import Dispatch
import SluiceFoundation
import SluiceHTTP

/// A recording of HTTP exchanges in the format that browsers' developer tools read and write: HTTP Archive 1.2.
///
/// ```swift
/// let har = try HAR(parsing: Data(contentsOf: file))
/// let slow = har.entries.filter { $0.time > 1000 }
/// try HAR(entries: slow).data().write(to: other)
/// ```
///
/// Decoding is tolerant of fields that other programs omit or add. Only the start time of each page and exchange, and the
/// method and the URL of each exchange are required. Numbers of milliseconds and bytes are as in the format, except that a
/// value that does not apply is nil here and -1 in the file.
public struct HAR: Sendable, Hashable, Codable {
    package var version = "1.2"
    /// The program that wrote the recording.
    package var creator: Program
    /// The browser that sent the requests; nil if it was another program.
    package var browser: Program?
    /// The pages that a browser loaded.
    package var pages: [Page] = []
    /// The exchanges.
    public var entries: [Entry]
    /// A comment.
    public var comment: String?
    /// The number of older exchanges that the recorder dropped; written as `_droppedEntries`.
    public var droppedEntries: Int?

    private enum CodingKeys: String, CodingKey {
        case log
    }

    private enum LogKeys: String, CodingKey {
        case version, creator, browser, pages, entries, comment
        case droppedEntries = "_droppedEntries"
    }

    /// Creates a recording whose creator is Sluice.
    public init(entries: [Entry] = []) {
        creator = .sluice
        self.entries = entries
    }

    /// The name and version of the program that recorded the exchanges: those of the browser, if there was one. Empty
    /// if the file names no program.
    public var recorder: String {
        let program = browser ?? creator
        return [program.name, program.version].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The title of the first page that a browser loaded; nil without a page.
    public var title: String? { pages.first?.title }

    /// Decodes a recording.
    ///
    /// - Parameter data: JSON in UTF-8, with or without a byte order mark.
    /// - Throws: A ``SluiceError`` of code ``SluiceError/Code/decodingFailed`` that names the field, if the data is not
    ///   JSON or not a recording.
    public init(parsing data: Data) throws(SluiceError) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let json = data.starts(with: mark) ? data.dropFirst(mark.count) : data
        do {
            // A copy, because the indices of a slice do not start at 0.
            self = try JSONDecoder().decode(HAR.self, from: Data(json))
        } catch {
            throw SluiceError(
                .decodingFailed,
                "The data is not an HTTP archive: \((error as? DecodingError).map(HAR.reason) ?? "it cannot be read.")",
                step: .serialization,
                underlyingError: error
            )
        }
    }

    /// Encodes the recording as indented JSON with sorted keys. The same recording always gives the same bytes.
    ///
    /// - Throws: A ``SluiceError`` of code ``SluiceError/Code/encodingFailed`` if a time is not finite.
    public func data() throws(SluiceError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(self)
        } catch {
            throw SluiceError(
                .encodingFailed,
                "The HTTP archive cannot be written: a time in it is not finite.",
                step: .serialization,
                underlyingError: error
            )
        }
    }

    /// Decodes a recording.
    public init(from decoder: any Decoder) throws {
        let log = try decoder.container(keyedBy: CodingKeys.self).nestedContainer(keyedBy: LogKeys.self, forKey: .log)
        version = try log.decodeIfPresent(String.self, forKey: .version) ?? "1.2"
        creator = try log.decodeIfPresent(Program.self, forKey: .creator) ?? Program(name: "", version: "")
        browser = try log.decodeIfPresent(Program.self, forKey: .browser)
        pages = try log.decodeIfPresent([Page].self, forKey: .pages) ?? []
        entries = try log.decode([Entry].self, forKey: .entries)
        comment = try log.decodeIfPresent(String.self, forKey: .comment)
        droppedEntries = try log.integer(forKey: .droppedEntries)
    }

    /// Encodes the recording.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var log = container.nestedContainer(keyedBy: LogKeys.self, forKey: .log)
        try log.encode(version, forKey: .version)
        try log.encode(creator, forKey: .creator)
        try log.encodeIfPresent(browser, forKey: .browser)
        try log.encode(pages, forKey: .pages)
        try log.encode(entries, forKey: .entries)
        try log.encodeIfPresent(comment, forKey: .comment)
        try log.encodeIfPresent(droppedEntries, forKey: .droppedEntries)
    }

    private static func reason(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context):
            return "\((context.codingPath + [key]).text) is missing."
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            let path = context.codingPath.text
            return path.isEmpty ? "it is not a JSON object." : "\(path) has the wrong type."
        case .dataCorrupted(let context):
            return context.codingPath.isEmpty ? "it is not JSON." : "\(context.codingPath.text) is not valid."
        @unknown default:
            return "it cannot be read."
        }
    }
}

extension HAR {
    /// The name and version of a program.
    package struct Program: Sendable, Hashable, Codable {
        package var name: String
        package var version: String

        /// Sluice in the version that the program uses.
        package static let sluice = Program(name: "Sluice", version: SluiceVersion.current)
    }

    /// A page that a browser loaded.
    package struct Page: Sendable, Hashable, Codable {
        /// The time at which loading began.
        package var startedDateTime: Date
        /// The ID by which entries refer to the page.
        package var id: String
        package var title: String
        /// The time until the document was loaded, in milliseconds; nil if it is not known.
        package var onContentLoad: Double?
        /// The time until the whole page was loaded, in milliseconds; nil if it is not known.
        package var onLoad: Double?

        private enum CodingKeys: String, CodingKey {
            case startedDateTime, id, title, pageTimings
        }

        private enum TimingKeys: String, CodingKey {
            case onContentLoad, onLoad
        }

        /// Decodes a page.
        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            startedDateTime = try container.date(forKey: .startedDateTime)
            id = try container.decodeIfPresent(String.self, forKey: .id) ?? ""
            title = try container.decodeIfPresent(String.self, forKey: .title) ?? ""
            if container.contains(.pageTimings), try !container.decodeNil(forKey: .pageTimings) {
                let timings = try container.nestedContainer(keyedBy: TimingKeys.self, forKey: .pageTimings)
                onContentLoad = try timings.positive(forKey: .onContentLoad)
                onLoad = try timings.positive(forKey: .onLoad)
            }
        }

        /// Encodes the page.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(HARDate.text(of: startedDateTime), forKey: .startedDateTime)
            try container.encode(id, forKey: .id)
            try container.encode(title, forKey: .title)
            var timings = container.nestedContainer(keyedBy: TimingKeys.self, forKey: .pageTimings)
            try timings.encode(onContentLoad ?? -1, forKey: .onContentLoad)
            try timings.encode(onLoad ?? -1, forKey: .onLoad)
        }
    }
}

// MARK: - Coding

extension HAR.Program {
    /// Decodes a program.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decodeIfPresent(String.self, forKey: .name) ?? ""
        version = try container.decodeIfPresent(String.self, forKey: .version) ?? ""
    }
}

/// Dates in the format of HTTP archives: ISO 8601 with milliseconds.
enum HARDate {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let wholeSeconds = Date.ISO8601FormatStyle()

    static func text(of date: Date) -> String {
        // Rounded here, because the style truncates to milliseconds.
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        return Date(timeIntervalSince1970: (milliseconds + 0.01) / 1000).formatted(style)
    }

    static func date(of text: String) -> Date? {
        (try? style.parse(text)) ?? (try? wholeSeconds.parse(text))
    }
}

extension KeyedDecodingContainer {
    func date(forKey key: Key) throws -> Date {
        let text = try decode(String.self, forKey: key)
        guard let date = HARDate.date(of: text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription: "Expected a date such as 2026-01-31T12:00:00.000Z."
            )
        }
        return date
    }

    /// Decodes milliseconds; nil if they are missing, null, negative or not finite.
    func positive(forKey key: Key) throws -> Double? {
        try decodeIfPresent(Double.self, forKey: key).flatMap { $0 >= 0 && $0.isFinite ? $0 : nil }
    }

    /// Decodes an integer, and rounds a number with a fraction; nil if it is missing, null or out of range.
    func integer(forKey key: Key) throws -> Int? {
        if let integer = try? decodeIfPresent(Int.self, forKey: key) { return integer }
        return try decodeIfPresent(Double.self, forKey: key).flatMap { Int(exactly: $0.rounded()) }
    }

    /// Decodes a number of bytes; nil if it is missing, null or negative.
    func size(forKey key: Key) throws -> Int? {
        try integer(forKey: key).flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Decodes a text, and converts a number or a boolean to text.
    func text(forKey key: Key) throws -> String? {
        if let number = try? decodeIfPresent(Int.self, forKey: key) { return "\(number)" }
        if let number = try? decodeIfPresent(Double.self, forKey: key) { return "\(number)" }
        if let bool = try? decodeIfPresent(Bool.self, forKey: key) { return "\(bool)" }
        return try decodeIfPresent(String.self, forKey: key)
    }
}

// MARK: - HAR recorder

/// Records the exchanges of a client as an HTTP archive, for browsers' developer tools, `Examples/Waterfall`, or a bug
/// report.
///
/// ```swift
/// let recorder = HARRecorder()
/// let client = APIClient(baseURL: url) { $0.observers = [recorder] }
/// …
/// await client.observersCaughtUp()
/// try await recorder.write(to: URL(filePath: "session.har"))
/// ```
///
/// An observer receives the events of a request after its caller has the outcome. ``APIClient/observersCaughtUp()``
/// waits for the last ones.
///
/// Each exchange becomes an entry when it ends: every attempt, every redirect, and failures too, with status 0 and the
/// reason in `_error`. Secrets are removed before anything is stored. The recorder keeps the newest entries up to a
/// limit, and bodies up to a limit of their own.
public final class HARRecorder: RequestObserver, RecordingObserver {
    private let assembly: Locked<HARAssembly>

    /// Creates an empty recorder.
    ///
    /// - Parameters:
    ///   - redaction: The secrets to remove.
    ///   - maximumEntries: The maximum number of entries; 2,000 by default. The newest are kept.
    ///   - maximumBodyBytes: The maximum length of a body to keep, in bytes; 64 KiB by default, 0 for none. For longer
    ///     bodies only the length is recorded.
    public init(redaction: Redaction = .standard, maximumEntries: Int = 2000, maximumBodyBytes: Int = 64 << 10) {
        let transcript = HARTranscript(redaction: redaction, maximumBodyBytes: maximumBodyBytes)
        assembly = Locked(HARAssembly(transcript, maximumEntries: maximumEntries))
    }

    /// False: the recorder does not read task-local values.
    public var usesTaskLocals: Bool { false }

    /// Records an event.
    public func observe(_ event: RequestEvent, of request: ObservedRequest) {
        assembly.withLock { $0.record(event, of: request) }
    }

    /// Discards exchanges in progress, because their end may be among the dropped events.
    public func didDrop(_ count: Int) {
        assembly.withLock { $0.discardPending() }
    }

    /// Returns the entries so far, in the order in which they began.
    public func har() -> HAR {
        let (entries, dropped) = assembly.withLock { ($0.entries, $0.droppedEntries) }
        // A stable order, so that the same entries give the same output.
        let order = entries.enumerated().sorted {
            ($0.element.startedDateTime, $0.offset) < ($1.element.startedDateTime, $1.offset)
        }
        var har = HAR(entries: order.map(\.element))
        if dropped > 0 { har.droppedEntries = dropped }
        return har
    }

    /// Removes all entries.
    public func reset() {
        assembly.withLock { $0.reset() }
    }

    /// Writes the entries so far to a file atomically: if it fails, an existing file is unchanged.
    ///
    /// - Parameter url: The URL of the file. An existing file is replaced.
    /// - Throws: A ``SluiceError`` of code ``SluiceError/Code/internalFailure`` if the file cannot be written.
    public func write(to url: URL) async throws(SluiceError) {
        let har = har()
        try await BlockingQueues.next.result {
            Result { () throws(SluiceError) in try har.write(to: url) }
        }.get()
    }
}

extension HAR {
    fileprivate func write(to url: URL) throws(SluiceError) {
        let data = try data()
        do {
            // A device or a pipe is not replaced.
            guard SystemFile.replacementError(url.path) == 0 else { throw CocoaError(.fileWriteFileExists) }
            try data.write(to: url, options: .atomic)
        } catch {
            throw SluiceError(
                .internalFailure,
                "The HTTP archive cannot be written to “\(url.path)”.",
                underlyingError: error
            )
        }
    }
}
