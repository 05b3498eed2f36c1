import SluiceFoundation
import SluiceHTTP
import Synchronization

/// The request that an event belongs to, and the time of the event.
public struct ObservedRequest: Sendable {
    /// The properties shared by all events of a request.
    final class Subject: Sendable {
        let id: RequestID
        let draft: RequestDraft
        let began: ContinuousClock.Instant
        let beganDate: Date
        let secretHeaders: [HTTPHeaderName]
        /// The tasks that call observers with the caller's task-local values.
        let tasks: [(observer: ObserverMailbox, task: CallersTask)]

        init(
            id: RequestID,
            draft: consuming RequestDraft,
            began: ContinuousClock.Instant,
            beganDate: Date,
            secretHeaders: [HTTPHeaderName],
            observers: [ObserverMailbox] = []
        ) {
            self.id = id
            tasks = observers.compactMap { observer in observer.callersTask().map { (observer, $0) } }
            // Events have the bodies of requests. Waiting events must not keep them otherwise.
            draft.body = nil
            self.draft = draft
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
    public var beganDate: Date { subject.beganDate }
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

    /// Returns a new ID.
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

extension ObservedRequest: CustomReflectable {
    /// The ID, method, route, attempt and tags of the request.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["id": id, "method": method, "route": route, "attempt": attempt, "tags": tags.sorted()],
            displayStyle: .struct
        )
    }
}
