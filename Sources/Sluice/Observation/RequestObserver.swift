import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Is told of every step of every request: a log, metrics, an inspector.
///
/// ```swift
/// struct Announcer: RequestObserver {
///     func observe(_ event: RequestEvent, of request: ObservedRequest) {
///         if case .finished(.failure(let error)) = event { print(request.route, error) }
///     }
/// }
/// ```
///
/// Events wait in a queue of the observer's own, and it is told of them one at a time, in their order, off the pipeline's
/// threads. One that is too slow holds nobody up: beyond 65,536 waiting events the newest are dropped, and it is told how many.
public protocol RequestObserver: Sendable {
    /// Which events it wants; all by default. Those nobody wants cost nothing.
    var interests: RequestEvent.Kinds { get }

    /// Takes note of an event.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - request: To which request, in which attempt, when.
    func observe(_ event: RequestEvent, of request: ObservedRequest)

    /// Takes note that so many events were dropped, since it was too slow to take them; does nothing by default.
    func missed(_ count: Int)
}

extension RequestObserver {
    /// All.
    public var interests: RequestEvent.Kinds { .all }
    /// Does nothing.
    public func missed(_ count: Int) {}
}

/// Of which request an event tells, and when it happened.
public struct ObservedRequest: Sendable {
    /// The same for all events of a request, and no other's.
    public let id: RequestID
    /// The attempt, from 1; 0 where the event is of the request as a whole.
    public let attempt: Int
    /// What requests of its kind have in common: ``ModifiableRequest/route(_:)``.
    public let route: String
    /// The words by which its user tells it apart.
    public let tags: Set<String>
    /// When, for durations.
    public let instant: ContinuousClock.Instant
    /// When, by the time of day.
    public let date: Date
    /// Headers which the client holds secret besides those that always are.
    public let secretHeaders: [HTTPHeaderName]

    /// Makes one, to test an observer with.
    public init(
        id: RequestID,
        attempt: Int = 1,
        route: String = "",
        tags: Set<String> = [],
        instant: ContinuousClock.Instant = .now,
        date: Date = Date(),
        secretHeaders: [HTTPHeaderName] = []
    ) {
        self.id = id
        self.attempt = attempt
        self.route = route
        self.tags = tags
        self.instant = instant
        self.date = date
        self.secretHeaders = secretHeaders
    }
}

/// Tells one sending of a request from all others in the process.
public struct RequestID: Sendable, Hashable, CustomStringConvertible {
    /// A number that is given once.
    public let rawValue: UInt64

    /// Makes an ID of a number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// `#17`
    public var description: String { "#\(rawValue)" }
}
