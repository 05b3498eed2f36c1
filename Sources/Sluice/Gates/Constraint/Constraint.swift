import SluiceHTTP

/// A condition that requests must meet, and the work that satisfies it. Examples are a
/// login, consent, or a server's key.
///
/// ```swift
/// struct SignedIn: Constraint {
///     let session: Session
///
///     func isSatisfied(for request: RequestContext) async -> Bool { await session.isValid }
///     func satisfy(for request: RequestContext) async throws {
///         let ticket: Ticket = try await request.client.codable.post("sessions").json(session.key).sender().value
///         await session.begin(with: ticket)
///     }
/// }
///
/// let client = APIClient(baseURL: url) { $0.constraints = [SignedIn(session: session)] }
/// ```
///
/// The client calls `isSatisfied` for each request, one request at a time. Where it returns false, `satisfy` runs once
/// for all waiting requests. An error it throws fails all of them, and the next request tries again. Requests that
/// `satisfy` itself sends through the client bypass the constraint.
public protocol Constraint: Sendable {
    /// The name by which requests opt out of the constraint and other constraints refer to it.
    /// The default is the type's name.
    var name: String { get }
    /// The names of the constraints that must be satisfied first; none by default. Others are satisfied concurrently.
    var needs: Set<String> { get }
    /// The longest time that `isSatisfied` and `satisfy` may each take; 60 seconds by default, nil for no limit.
    var timeout: Duration? { get }

    /// Returns true if a request meets the condition.
    func isSatisfied(for request: RequestContext) async -> Bool

    /// Satisfies the condition. Cancelled when no request waits for it any longer.
    ///
    /// - Parameter request: The request that has waited longest.
    /// - Throws: Any error; it fails all waiting requests. A ``SluiceError`` is thrown as it is, others as the
    ///   underlying error of ``SluiceError/Code/gateFailed``.
    func satisfy(for request: RequestContext) async throws
}

extension Constraint {
    /// The type's name.
    public var name: String { String(describing: Self.self) }
    /// None.
    public var needs: Set<String> { [] }
    /// 60 seconds.
    public var timeout: Duration? { .seconds(60) }
}
