import SluiceHTTP

/// Receives the events of every request, for a log, metrics or an inspector.
///
/// ```swift
/// struct Announcer: RequestObserver {
///     func observe(_ event: RequestEvent, of request: ObservedRequest) {
///         if case .finished(.failure(let error)) = event { print(request.route, error) }
///     }
/// }
/// ```
///
/// Events wait in a queue of the observer and are delivered one at a time, in order, off the pipeline's threads. A slow
/// observer does not delay requests: beyond 65,536 waiting events the newest are dropped, and their number is reported.
public protocol RequestObserver: Sendable {
    /// The events that the observer receives; all by default. Events that no observer wants cost nothing.
    var interests: RequestEvent.Kinds { get }

    /// Called for each event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - request: The request, the attempt and the time of the event.
    func observe(_ event: RequestEvent, of request: ObservedRequest)

    /// Called with the number of events that were dropped because the observer was too slow. Does nothing by default.
    func missed(_ count: Int)
}

extension RequestObserver {
    /// All events.
    public var interests: RequestEvent.Kinds { .all }
    /// Does nothing.
    public func missed(_ count: Int) {}
}
