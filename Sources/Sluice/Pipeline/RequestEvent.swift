import SluiceHTTP

/// An event of a request, reported to observers in the order of occurrence.
///
/// A request begins once and finishes once. Between these, every attempt waits at gates, is sent, receives an outcome,
/// and may be followed by another attempt.
///
/// A response that the cache revalidates in the background (`stale-while-revalidate`, RFC 5861 §3) has a request of its
/// own, with the endpoint, tags and values of the request that caused it, and its own ``ObservedRequest/id``.
public enum RequestEvent: Sendable {
    /// The request was built. A request that cannot be built has no such event and finishes at once.
    case began(HTTPRequest)
    /// An attempt waits at a gate.
    case waiting(gate: String)
    /// A gate admitted the attempt.
    case admitted(gate: String)
    /// A gate refused the attempt.
    case refused(gate: String, SluiceError)
    /// The attempt is sent, as interceptors and gates have prepared it. Repeated after each redirect. A request to a
    /// refused host is not sent.
    case sending(HTTPRequest)
    /// The server redirected the request, and the redirect is followed.
    case redirected(ServerResponse, to: HTTPRequest)
    /// The server sent an informational response, such as 100 or 103, before the final one. Not all transports report
    /// these.
    case informational(HTTPResponse)
    /// The outcome of the transport, before response interceptors; or the stored response after a successful
    /// revalidation.
    case received(TransportOutcome)
    /// The cache answered the request without the server.
    case cached(ServerResponse)
    /// Another attempt follows after a delay. The outcome is that of the attempt that just ended.
    case retrying(after: Duration, TransportOutcome)
    /// No response has arrived yet, and another attempt starts in parallel.
    case hedging
    /// The final outcome: the accepted response, or the error.
    case finished(TransportOutcome)

    /// A set of event kinds, by which an observer selects the events that it receives.
    public struct Kinds: OptionSet, Sendable, Hashable {
        /// The bits of the set.
        public let rawValue: UInt16

        /// Creates a set from its bits.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// ``RequestEvent/began(_:)``
        public static let began = Kinds(rawValue: 1)
        /// ``RequestEvent/waiting(gate:)``, ``RequestEvent/admitted(gate:)`` and ``RequestEvent/refused(gate:_:)``
        public static let gates: Kinds = [waits, immediateAdmissions]
        /// ``RequestEvent/sending(_:)``
        public static let sending = Kinds(rawValue: 4)
        /// ``RequestEvent/redirected(_:to:)``
        public static let redirected = Kinds(rawValue: 8)
        /// ``RequestEvent/received(_:)``
        public static let received = Kinds(rawValue: 16)
        /// ``RequestEvent/retrying(after:_:)`` and ``RequestEvent/hedging``
        public static let retrying = Kinds(rawValue: 32)
        /// ``RequestEvent/finished(_:)``
        public static let finished = Kinds(rawValue: 64)
        /// ``RequestEvent/cached(_:)``
        public static let cached = Kinds(rawValue: 128)
        /// ``RequestEvent/informational(_:)``
        public static let informational = Kinds(rawValue: 256)
        /// All kinds.
        public static let all = Kinds(rawValue: .max)

        /// ``gates``, except admissions without a wait.
        package static let waits = Kinds(rawValue: 2)
        /// ``RequestEvent/admitted(gate:)`` without a wait.
        static let immediateAdmissions = Kinds(rawValue: 512)
    }

    /// The kind of the event.
    var kind: Kinds {
        switch self {
        case .began: .began
        case .waiting, .admitted, .refused: .waits
        case .sending: .sending
        case .redirected: .redirected
        case .informational: .informational
        case .received: .received
        case .cached: .cached
        case .retrying, .hedging: .retrying
        case .finished: .finished
        }
    }
}
