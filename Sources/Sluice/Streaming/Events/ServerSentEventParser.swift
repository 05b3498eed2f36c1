import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Parses a `text/event-stream` body that arrives in chunks (WHATWG HTML §9.2.6).
///
/// ```swift
/// var parser = ServerSentEventParser()
/// parser.append(Data("id: 7\nevent: price\ndata: 12".utf8))
/// parser.append(Data(".50\n\n".utf8))
/// while let event = try parser.next() { print(event.type, event.data) }   // price 12.50
/// ```
///
/// An event with an empty data field is delivered. An event that is not followed by an empty line when the body ends is
/// discarded.
public struct ServerSentEventParser: StreamParser {
    private var lines: LineReader
    private var event: EventAssembly

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - lastEventID: The last event ID of the stream that this body continues; empty for none.
    ///   - limit: The maximum size of an event's data, and of each line, in bytes; 1 MiB by default.
    public init(lastEventID: String = "", limit: Int = 1 << 20) {
        lines = LineReader(endingAt: .any, limit: limit)
        event = EventAssembly(lastEventID: lastEventID, limit: limit)
    }

    /// The last event ID, including that of an event without data. A reconnecting request sends it as `Last-Event-ID`.
    public var lastEventID: String { event.lastEventID }

    /// The reconnection delay that the stream set last.
    public var reconnectionTime: Duration? { event.reconnectionTime }

    /// Appends the next bytes.
    public mutating func append(_ chunk: Data) {
        lines.append(chunk)
    }

    /// Signals the end of the body. An incomplete event is discarded.
    public mutating func finish() {}

    /// Returns the next event, or nil if it is incomplete or there is none.
    ///
    /// - Returns: The next event.
    /// - Throws: ``SluiceError/Code/elementTooLarge``; every later call throws it again.
    public mutating func next() throws(SluiceError) -> ServerSentEvent? {
        while !event.isOverLimit {
            guard let whole = try lines.next(&event, { $0.take($1) }) else { return nil }
            if let whole { return whole }
        }
        throw .elementTooLarge("An event", lines.limit)
    }
}
