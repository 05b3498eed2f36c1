import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes events of a body of the type `text/event-stream` that arrives in chunks (WHATWG HTML §9.2.6).
///
/// ```swift
/// var parser = ServerSentEventParser()
/// parser.append(Data("id: 7\nevent: price\ndata: 12".utf8))
/// parser.append(Data(".50\n\n".utf8))
/// while let event = try parser.next() { print(event.type, event.data) }   // price 12.50
/// ```
///
/// An event whose data field is there but empty is an event; one that ends with the body and not with an empty line is none.
public struct ServerSentEventParser: StreamParser {
    private var lines: LineReader
    private var event: EventAssembly

    /// Makes a parser.
    ///
    /// - Parameters:
    ///   - lastEventID: The last ID of the stream that this one goes on; empty for none.
    ///   - limit: The most bytes of an event's data, and of each of its lines; 1 MiB by default.
    public init(lastEventID: String = "", limit: Int = 1 << 20) {
        lines = LineReader(endingAt: .any, limit: limit)
        event = EventAssembly(lastEventID: lastEventID, limit: limit)
    }

    /// The last ID, that of an event without data included; what `Last-Event-ID` says when the stream is asked for again.
    public var lastEventID: String { event.lastEventID }

    /// How long to wait before the stream is asked for again, as it has told last.
    public var reconnectionTime: Duration? { event.reconnectionTime }

    /// Takes the next bytes.
    public mutating func append(_ chunk: Data) {
        lines.append(chunk)
    }

    /// Learns that there will be no more bytes, which ends no event.
    public mutating func finish() {}

    /// The next event; nil if it is not whole yet, or none is left.
    ///
    /// - Returns: An event.
    /// - Throws: ``SluiceError/Code/elementTooLarge``, and from then on again.
    public mutating func next() throws(SluiceError) -> ServerSentEvent? {
        while !event.isOverLimit {
            guard let whole = try lines.next(&event, { $0.take($1) }) else { return nil }
            if let whole { return whole }
        }
        throw .elementTooLarge("An event", lines.limit)
    }
}
