import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An event of a stream of the type `text/event-stream` (WHATWG HTML §9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// What kind of event it is: its field `event`, or `message`.
    public var type: String
    /// Its fields `data`, joined by line feeds.
    public var data: String
    /// The last ID that the stream has told so far, by this event or one before it; empty if none.
    public var lastEventID: String
    /// How long to wait before connecting again, where the event says so.
    public var retry: Duration?

    /// Makes an event.
    public init(type: String = "message", data: String, lastEventID: String = "", retry: Duration? = nil) {
        self.type = type
        self.data = data
        self.lastEventID = lastEventID
        self.retry = retry
    }

    /// Decodes the data.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - decoder: What decodes it.
    /// - Returns: The value.
    /// - Throws: ``SluiceError/Code/decodingFailed``, which names type and path.
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
