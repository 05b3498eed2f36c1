import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Of which request an event tells, and when it happened.
public struct ObservedRequest: Sendable {
    /// What is the same in all events of a request.
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
    /// The attempt, from 1; 0 where the event is of the request as a whole.
    public let attempt: Int
    /// When, for durations.
    public let instant: ContinuousClock.Instant

    /// The same for all events of a request, and no other's.
    public var id: RequestID { subject.id }
    /// The method the request was made with; a redirect may have changed it since.
    public var method: HTTPMethod { subject.draft.method }
    /// What requests of its kind have in common: ``ModifiableRequest/route(_:)``.
    public var route: String { subject.draft.route ?? RoutePattern.route(of: subject.draft.path) }
    /// The words by which its user tells it apart.
    public var tags: Set<String> { subject.draft.tags }
    /// When the request began, for durations.
    public var began: ContinuousClock.Instant { subject.began }
    /// When the request began, by the time of day.
    public var beganDate: Date { subject.beganDate }
    /// When, by the time of day.
    public var date: Date { subject.beganDate + subject.began.duration(to: instant) / .seconds(1) }
    /// Headers which the client holds secret besides those that always are.
    public var secretHeaders: [HTTPHeaderName] { subject.secretHeaders }

    init(_ subject: Subject, attempt: Int, instant: ContinuousClock.Instant) {
        self.subject = subject
        self.attempt = attempt
        self.instant = instant
    }

    /// Makes one, to test an observer with.
    ///
    /// - Parameters:
    ///   - id: Which request.
    ///   - attempt: Which attempt, from 1; 0 for the request as a whole.
    ///   - method: The method it was made with.
    ///   - route: What requests of its kind have in common.
    ///   - tags: Its tags.
    ///   - elapsed: How long after the request began.
    ///   - began: When the request began.
    ///   - beganDate: The same by the time of day.
    ///   - secretHeaders: Headers which the client holds secret.
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
