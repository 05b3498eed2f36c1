import SluiceHTTP

/// A step of a request, as observers are told of it, in the order they happen.
///
/// A request begins once and finishes once; between these every attempt is at the gates, is sent, is answered, and may be
/// followed by another.
public enum RequestEvent: Sendable {
    /// The request was made and enters the pipeline. One that cannot even be made has no such event, and finishes at once.
    case began(HTTPRequest)
    /// An attempt asks a gate.
    case waiting(gate: String)
    /// A gate let it through.
    case admitted(gate: String)
    /// A gate refused it.
    case refused(gate: String, SluiceError)
    /// The attempt goes to the wire, as interceptors and gates have left it; again after each redirect.
    case sending(HTTPRequest)
    /// The server redirected, and the redirect is followed.
    case redirected(ServerResponse, to: HTTPRequest)
    /// The server sent an informational response, 100 or 103 for example, before the final one; its transport has to tell of them.
    case informational(HTTPResponse)
    /// What the transport brought, before response interceptors; or, where a server confirmed it, what the cache had.
    case received(TransportOutcome)
    /// The cache answered in the server's place.
    case cached(ServerResponse)
    /// There will be another attempt after a delay; the outcome is what this one ended with.
    case retrying(after: Duration, TransportOutcome)
    /// There is no answer yet, and another attempt begins next to this one.
    case hedging
    /// The last word: the response as it was accepted, or why there is none.
    case finished(TransportOutcome)

    /// Kinds of events, for an observer to say which it wants to be told of.
    public struct Kinds: OptionSet, Sendable, Hashable {
        /// A bit a kind.
        public let rawValue: UInt16

        /// Makes a set of bits.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// ``RequestEvent/began(_:)``
        public static let began = Kinds(rawValue: 1)
        /// ``RequestEvent/waiting(gate:)``, ``RequestEvent/admitted(gate:)`` and ``RequestEvent/refused(gate:_:)``
        public static let gates = Kinds(rawValue: 2)
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
        /// All there are.
        public static let all = Kinds(rawValue: .max)
    }

    /// Its kind.
    public var kind: Kinds {
        switch self {
        case .began: .began
        case .waiting, .admitted, .refused: .gates
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
