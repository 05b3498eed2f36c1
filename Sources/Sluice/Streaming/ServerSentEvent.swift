import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// An event of a `text/event-stream` body (WHATWG HTML §9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The event type: the value of its field `event`, or `message`.
    public var type: String
    /// The values of its `data` fields, joined by line feeds.
    public var data: String
    /// The last event ID of the stream, set by this event or an earlier one; empty if none was set.
    public var lastEventID: String
    /// The reconnection delay, if this event sets one.
    public var retry: Duration?
    /// The decoder of the client that has received the event.
    var decoder = ClientsDecoder()

    /// Creates an event.
    public init(type: String = "message", data: String, lastEventID: String = "", retry: Duration? = nil) {
        self.type = type
        self.data = data
        self.lastEventID = lastEventID
        self.retry = retry
    }

    /// Decodes the data.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - decoder: The decoder to use; nil, the default, for that of the client that has received the event. For an
    ///     event from elsewhere, that is a `JSONDecoder` with default settings.
    /// - Returns: The decoded value.
    /// - Throws: ``SluiceError/Code/decodingFailed``, which names the type and the coding path.
    public func decoded<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self,
        by decoder: (any DataDecoder)? = nil
    ) throws(SluiceError) -> Value {
        let body = Data(data.utf8)
        let decoder = decoder.map(SharedDecoder.init) ?? self.decoder.shared ?? SharedDecoder(JSONDecoder())
        do throws(SluiceError) {
            return try CodableSerializer(decoder).model(of: body)
        } catch {
            guard let failure = error.underlyingError as? DecodingFailure else { throw error }
            throw .undecodable(failure, "The event's data")
        }
    }
}

extension ServerSentEvent: CustomReflectable, RedactedMirror {
    /// The children that `print` and `dump` show: the properties that the server has sent.
    package var shown: [Mirror.Child] {
        [("type", type), ("data", data), ("lastEventID", lastEventID), ("retry", retry as Any)]
    }
}

/// The decoder of a client, which is no part of an event's value.
struct ClientsDecoder: Sendable, Hashable {
    var shared: SharedDecoder?

    static func == (lhs: Self, rhs: Self) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

/// Parses a `text/event-stream` body that arrives in chunks: see ``StreamedResponse/serverSentEvents(limit:)``.
package struct ServerSentEventParser: StreamParser {
    private var lines: LineReader
    private var event: EventAssembly
    /// The decoder of the client whose response is parsed.
    var decoder = ClientsDecoder()

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - lastEventID: The last event ID of the stream that this body continues; empty for none.
    ///   - limit: The maximum size of an event's data, and of each line, in bytes; 1 MiB by default.
    package init(lastEventID: String = "", limit: Int = 1 << 20) {
        lines = LineReader(endingAt: .any, limit: limit)
        event = EventAssembly(lastEventID: lastEventID, limit: limit)
    }

    /// The last event ID, including that of an event without data. A reconnecting request sends it as `Last-Event-ID`.
    package var lastEventID: String { event.lastEventID }

    /// The reconnection delay that the stream set last.
    package var reconnectionTime: Duration? { event.reconnectionTime }

    /// Appends the next bytes.
    package mutating func append(_ chunk: Data) {
        lines.append(chunk)
    }

    /// Signals the end of the body. An incomplete event is discarded.
    package mutating func finish() {}

    /// Returns the next event, or nil if it is incomplete or there is none.
    ///
    /// - Returns: The next event.
    /// - Throws: ``SluiceError/Code/elementTooLarge``; every later call throws it again.
    package mutating func next() throws(SluiceError) -> ServerSentEvent? {
        while let item = try nextItem() {
            if case .event(var event) = item {
                event.decoder = decoder
                return event
            }
        }
        return nil
    }

    /// Returns the next event or comment, or nil if it is incomplete or there is none.
    mutating func nextItem() throws(SluiceError) -> EventStreamItem? {
        while !event.isOverLimit {
            guard let item = try lines.next(&event, { $0.take($1) }) else { return nil }
            if let item { return item }
        }
        throw .elementTooLarge("An event", lines.limit)
    }

    /// The bytes after the last event. The fields of an incomplete event are in their shortest form, without comments.
    package var unread: Data { event.unread + lines.unread }
}

extension ServerSentEventParser: LineFeedExpectingParser {
    var expectsLineFeed: Bool { lines.expectsLineFeed }
}

extension ServerSentEventParser: ContinuingParser {
    /// Continues with the last event ID.
    mutating func resume(after other: any StreamParser) {
        guard let other = other as? ServerSentEventParser else { return }
        event = EventAssembly(lastEventID: other.lastEventID, limit: lines.limit, isFirstLine: other.event.isFirstLine)
    }
}

/// A part of an event stream that its reader receives.
enum EventStreamItem: Sendable {
    case event(ServerSentEvent)
    case comment(String)
}

/// The state of an event whose lines are still arriving, and of its stream.
struct EventAssembly: Sendable {
    private(set) var lastEventID: String
    private(set) var reconnectionTime: Duration?
    private(set) var isOverLimit = false
    private let limit: Int
    private var type = ""
    /// The values of all data fields, each followed by a line feed.
    private var data: [UInt8] = []
    /// The last event ID that takes effect when this event ends.
    private var id: String
    private var retry: Duration?
    /// True before the first line of the stream, which may begin with a byte order mark.
    private(set) var isFirstLine: Bool

    init(lastEventID: String, limit: Int, isFirstLine: Bool = true) {
        self.lastEventID = lastEventID
        self.limit = limit
        self.isFirstLine = isFirstLine
        id = lastEventID
    }

    /// The fields of the incomplete event.
    var unread: Data {
        var text = type.isEmpty ? "" : "event: \(type)\n"
        for line in data.dropLast().split(separator: 10, omittingEmptySubsequences: false) where !data.isEmpty {
            text += "data: \(String(decoding: line, as: UTF8.self))\n"
        }
        if id != lastEventID { text += "id: \(id)\n" }
        if let retry { text += "retry: \(Int64(clamping: retry.attoseconds / 1_000_000_000_000_000))\n" }
        return Data(text.utf8)
    }

    /// Processes a line without its line ending. Returns the event if the line completes one, or the comment if it is
    /// one.
    mutating func take(_ line: UnsafeRawBufferPointer) -> EventStreamItem? {
        var line = line
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = UnsafeRawBufferPointer(rebasing: line.dropFirst(3)) }
        }
        if line.isEmpty { return dispatched().map(EventStreamItem.event) }
        let colon = line.firstIndex(of: UInt8(ascii: ":"), from: 0)
        var value = UnsafeRawBufferPointer(rebasing: line[min(colon + 1, line.count)...])
        if value.first == UInt8(ascii: " ") { value = UnsafeRawBufferPointer(rebasing: value.dropFirst()) }
        if colon == 0 { return .comment(String(decoding: value, as: UTF8.self)) }
        take(UnsafeRawBufferPointer(rebasing: line[..<colon]), value)
        return nil
    }

    private mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        if name.isText("data") {
            if data.count + value.count > limit { return isOverLimit = true }
            data.append(contentsOf: value)
            data.append(10)
        } else if name.isText("event") {
            type = String(decoding: value, as: UTF8.self)
        } else if name.isText("id") {
            if Self.isSendable(value) { id = String(decoding: value, as: UTF8.self) }
        } else if name.isText("retry") {
            guard let milliseconds = value.milliseconds else { return }
            retry = .milliseconds(milliseconds)
            reconnectionTime = retry
        }
    }

    /// The maximum length of an event ID in bytes, so that servers accept the field `Last-Event-ID`.
    private static let maximumIDLength = 4096

    /// Returns true if a value can be the event ID. The standard ignores IDs with a NUL. IDs that a field value must not
    /// contain (RFC 9110 §5.5), or that are too long for servers, are ignored too: the server would refuse to reconnect.
    private static func isSendable(_ id: UnsafeRawBufferPointer) -> Bool {
        id.count <= maximumIDLength && id.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
    }

    /// Ends the event. Returns nil if it has no data field.
    private mutating func dispatched() -> ServerSentEvent? {
        lastEventID = id
        defer {
            type = ""
            retry = nil
        }
        guard !data.isEmpty else { return nil }
        defer { data.removeAll(keepingCapacity: true) }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type,
            data: String(decoding: data.dropLast(), as: UTF8.self),
            lastEventID: id,
            retry: retry
        )
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func isText(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount, let start = baseAddress else { return false }
        return memcmp(start, text.utf8Start, count) == 0
    }

    /// A number written in decimal digits only, or nil. A number that does not fit becomes `Int64.max`.
    fileprivate var milliseconds: Int64? {
        guard !isEmpty, allSatisfy(\.isDigit) else { return nil }
        return Int64(String(decoding: self, as: UTF8.self)) ?? .max
    }
}
