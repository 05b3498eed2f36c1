import SluiceHTTP

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
