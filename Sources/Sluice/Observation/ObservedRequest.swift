import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The request that an event belongs to, and the time of the event.
public struct ObservedRequest: Sendable {
    /// The properties shared by all events of a request.
    final class Subject: Sendable {
        let id: RequestID
        let draft: RequestDraft
        let began: ContinuousClock.Instant
        let beganDate: Date
        let secretHeaders: [HTTPHeaderName]

        init(
            id: RequestID,
            draft: RequestDraft,
            began: ContinuousClock.Instant,
            beganDate: Date,
            secretHeaders: [HTTPHeaderName]
        ) {
            self.id = id
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

    /// The ID of the request, unique in the process and the same for all its events.
    public var id: RequestID { subject.id }
    /// The method that the request was created with. A redirect may have changed it since.
    public var method: HTTPMethod { subject.draft.method }
    /// The route that requests of the same kind share: ``ModifiableRequest/route(_:)``.
    public var route: String { subject.draft.route ?? RoutePattern.route(of: subject.draft.path) }
    /// The tags that the request was given.
    public var tags: Set<String> { subject.draft.tags }
    /// The time at which the request began, for computing durations.
    public var began: ContinuousClock.Instant { subject.began }
    /// The date at which the request began.
    public var beganDate: Date { subject.beganDate }
    /// The date of the event.
    public var date: Date { subject.beganDate + subject.began.duration(to: instant) / .seconds(1) }
    /// The headers that the client declares secret, in addition to those that always are.
    public var secretHeaders: [HTTPHeaderName] { subject.secretHeaders }

    init(_ subject: Subject, attempt: Int, instant: ContinuousClock.Instant) {
        self.subject = subject
        self.attempt = attempt
        self.instant = instant
    }

    /// Creates a value to test an observer with.
    ///
    /// - Parameters:
    ///   - id: The ID of the request.
    ///   - attempt: The number of the attempt, starting at 1; 0 for the request as a whole.
    ///   - method: The method of the request.
    ///   - route: The route that requests of the same kind share.
    ///   - tags: The tags of the request.
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
        elapsed: Duration = .zero,
        began: ContinuousClock.Instant = .now,
        beganDate: Date = Date(),
        secretHeaders: [HTTPHeaderName] = []
    ) {
        var draft = RequestDraft(method: method, path: "")
        draft.route = route
        draft.tags = tags
        self.init(
            Subject(id: id, draft: draft, began: began, beganDate: beganDate, secretHeaders: secretHeaders),
            attempt: attempt,
            instant: began + elapsed
        )
    }
}
