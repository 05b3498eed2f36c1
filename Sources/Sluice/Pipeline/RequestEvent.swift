import SluiceFoundation
import SluiceHTTP
import Synchronization

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
}

// MARK: - Observed request

/// The request that an event belongs to, and the time of the event.
public struct ObservedRequest: Sendable {
    /// The properties shared by all events of a request.
    final class Subject: Sendable {
        let id: RequestID
        let draft: RequestDraft
        let began: ContinuousClock.Instant
        let beganDate: Date
        let secretHeaders: [HTTPHeaderName]
        /// The request because of which the cache sends this one on its own; nil for a caller's request.
        let cause: RequestID?
        /// The tasks that call observers with the caller's task-local values.
        let tasks: [(observer: ObserverMailbox, task: CallersTask)]

        init(
            id: RequestID,
            draft: consuming RequestDraft,
            began: ContinuousClock.Instant,
            beganDate: Date,
            secretHeaders: [HTTPHeaderName],
            observers: [ObserverMailbox] = [],
            cause: RequestID? = nil
        ) {
            self.id = id
            self.cause = cause
            tasks = observers.compactMap { observer in observer.callersTask().map { (observer, $0) } }
            // Events have the bodies of requests. Waiting events must not keep them otherwise.
            draft.body = nil
            self.draft = consume draft
            self.began = began
            self.beganDate = beganDate
            self.secretHeaders = secretHeaders
        }
    }

    let subject: Subject
    /// The number of the attempt, starting at 1; 0 if the event concerns the request as a whole.
    public let attempt: Int
    /// The time of the event, for computing durations.
    public let instant: ContinuousClock.Instant
    /// The bytes of the bodies that the event lacks.
    private(set) var omitted = ObserverBacklog.Cost()

    /// The number of bytes of bodies that the event lacks because too many bodies waited for the observer. Its requests
    /// and responses have empty bodies then. Usually 0.
    public var omittedBodyBytes: Int { omitted.bodies }
    /// The ID of the request, unique in the process and the same for all its events.
    public var id: RequestID { subject.id }
    /// The method that the request was created with. A redirect may have changed it since.
    public var method: HTTPMethod { subject.draft.method }
    /// The route that requests of the same kind share: ``ModifiableRequest/route(_:)``.
    public var route: String { subject.draft.route ?? RoutePattern.route(of: subject.draft.path) }
    /// The route that the request was given or that its template is; nil if the route is derived from the path.
    package var declaredRoute: String? { subject.draft.route }
    /// The tags that the request was given.
    public var tags: Set<String> { subject.draft.tags }
    /// The endpoint that the request was created from: a target, a template, a URL or a path.
    ///
    /// ```swift
    /// if case Shop.user(let id) = request.endpoint { … }
    /// ```
    public var endpoint: any Endpoint { subject.draft.options.endpoint ?? subject.draft.path }
    /// The values that the request was given: ``ModifiableRequest/userInfo(_:_:)``.
    public var userInfo: [String: any Sendable] { subject.draft.options.userInfo }
    /// The time at which the request began, for computing durations.
    public var began: ContinuousClock.Instant { subject.began }
    /// The time from the start of the request to the event, attempts and pauses included.
    public var elapsed: Duration { began.duration(to: instant) }
    /// The date at which the request began.
    package var beganDate: Date { subject.beganDate }
    /// The request because of which the cache sends this one in the background, with the header fields of that one's attempt; nil for a
    /// caller's request.
    package var cause: RequestID? { subject.cause }
    /// The date of the event.
    public var date: Date { subject.beganDate + elapsed / .seconds(1) }
    /// The headers that the client declares secret, in addition to those that always are.
    public var secretHeaders: [HTTPHeaderName] { subject.secretHeaders }

    init(_ subject: Subject, attempt: Int, instant: ContinuousClock.Instant) {
        self.subject = subject
        self.attempt = attempt
        self.instant = instant
    }

    /// Returns the request of an event without these bodies.
    func omitting(_ cost: ObserverBacklog.Cost) -> ObservedRequest {
        var request = self
        request.omitted = cost
        return request
    }

    /// Creates a value to test an observer with.
    ///
    /// - Parameters:
    ///   - id: The ID of the request.
    ///   - attempt: The number of the attempt, starting at 1; 0 for the request as a whole.
    ///   - method: The method of the request.
    ///   - route: The route that requests of the same kind share.
    ///   - tags: The tags of the request.
    ///   - endpoint: The endpoint that the request was created from; nil for its path.
    ///   - userInfo: The request's own values.
    ///   - elapsed: The time since the request began.
    ///   - began: The time at which the request began.
    ///   - beganDate: The date at which the request began.
    ///   - secretHeaders: The headers that the client declares secret.
    public init(
        id: RequestID,
        attempt: Int = 1,
        method: HTTPMethod = .get,
        route: String = "",
        tags: Set<String> = [],
        endpoint: (any Endpoint)? = nil,
        userInfo: [String: any Sendable] = [:],
        elapsed: Duration = .zero,
        began: ContinuousClock.Instant = .now,
        beganDate: Date = Date(),
        secretHeaders: [HTTPHeaderName] = []
    ) {
        var draft = RequestDraft(method: method, path: "")
        draft.route = route
        draft.tags = tags
        draft.options.endpoint = endpoint
        draft.options.userInfo = userInfo
        self.init(
            Subject(id: id, draft: draft, began: began, beganDate: beganDate, secretHeaders: secretHeaders),
            attempt: attempt,
            instant: began + elapsed
        )
    }
}

/// The ID of a request, unique in the process. Each sender has its own, and the attempts of one sender share it.
public struct RequestID: Sendable, Hashable, CustomStringConvertible {
    /// The number, which is assigned only once.
    public let rawValue: UInt64

    /// Creates an ID from a number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The ID as text: `#17`.
    public var description: String { "#\(rawValue)" }

    private static let last = Atomic<UInt64>(0)

    static func next() -> RequestID {
        RequestID(rawValue: last.add(1, ordering: .relaxed).newValue)
    }
}

/// Derives the route that paths of the same kind share.
enum RoutePattern {
    /// Returns the path without query, with `{}` in place of each segment that looks like an ID. An ID contains a
    /// digit, and either consists of digits only, or has at least eight characters that are all hexadecimal digits and
    /// hyphens, or has at least twenty characters.
    ///
    /// A version such as `v2` is not an ID.
    static func route(of path: String) -> String {
        // Only the parameters of segments and the user of an absolute URL may be secret.
        let isPlain = !path.utf8.contains(UInt8(ascii: ";")) && !path.utf8.contains(UInt8(ascii: "@"))
        let path = (isPlain ? path : SecretRules.usual.url(path)).unicodeScalars.prefix { $0 != "?" && $0 != "#" }
        guard path.contains(where: \.isDigit) else { return String(String.UnicodeScalarView(path)) }
        return path.split(separator: "/", omittingEmptySubsequences: false)
            .map { isID($0) ? "{}" : String(String.UnicodeScalarView($0)) }
            .joined(separator: "/")
    }

    /// Returns the text of a URI template without a query or a fragment that stands outside its expressions, and without
    /// the user of an absolute URL.
    static func route(ofTemplate template: String) -> String {
        var isInExpression = false
        let text = template.unicodeScalars.prefix { scalar in
            if scalar == "{" { isInExpression = true }
            if scalar == "}" { isInExpression = false }
            return isInExpression || (scalar != "?" && scalar != "#")
        }
        let route = String(String.UnicodeScalarView(text))
        let isPlain = !route.utf8.contains { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: ";") }
        return isPlain ? route : SecretRules.usual.url(route)
    }

    private static func isID(_ segment: Substring.UnicodeScalarView) -> Bool {
        guard segment.contains(where: \.isDigit) else { return false }
        if segment.allSatisfy(\.isDigit) || segment.count >= 20 { return true }
        return segment.count >= 8 && segment.allSatisfy { $0.isDigit || $0.isHexLetter || $0 == "-" }
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
    fileprivate var isHexLetter: Bool { ("a"..."f").contains(self) || ("A"..."F").contains(self) }
}

extension ObservedRequest: CustomReflectable, RedactedMirror {
    /// The ID, method, route, attempt and tags of the request.
    package var shown: [Mirror.Child] {
        [("id", id), ("method", method), ("route", route), ("attempt", attempt), ("tags", tags.sorted())]
    }
}
