import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
    ///   - decoder: The decoder to use.
    /// - Returns: The decoded value.
    /// - Throws: ``SluiceError/Code/decodingFailed``, which names the type and the coding path.
    public func decoded<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self,
        by decoder: any DataDecoder = JSONDecoder()
    ) throws(SluiceError) -> Value {
        let body = Data(data.utf8)
        do throws(SluiceError) {
            return try CodableSerializer(decoder: decoder).model(of: body)
        } catch {
            guard let failure = error.underlyingError as? DecodingFailure else { throw error }
            let place = failure.codingPath.isEmpty ? "" : "at “\(failure.codingPath)” "
            throw SluiceError(
                .decodingFailed,
                "The event's data are no \(failure.type): \(place)\(failure.reason).",
                step: .serialization,
                underlyingError: failure
            )
        }
    }
}
