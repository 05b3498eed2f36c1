import SluiceHTTP

/// A condition that requests have to meet, and how to bring it about: being signed in, having consent, knowing the server's key.
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
/// For each request `isSatisfied` is asked, one request at a time. Where it is false, `satisfy` runs once for all who wait; what
/// it throws fails them all, and the next request tries again. Requests that `satisfy` itself sends through the client do not
/// wait for the constraint they are to satisfy.
public protocol Constraint: Sendable {
    /// By what requests opt out of it and other constraints need it; the type's name by default.
    var name: String { get }
    /// The names of the constraints that must be satisfied first; none by default. Others are satisfied at the same time.
    var needs: Set<String> { get }
    /// How long `isSatisfied` and `satisfy` may each take; 60 seconds by default, nil for as long as they like.
    var timeout: Duration? { get }

    /// Whether a request meets the condition.
    func isSatisfied(for request: RequestContext) async -> Bool

    /// Brings the condition about; cancelled when nobody waits for it any longer.
    ///
    /// - Parameter request: The first of the requests that wait.
    /// - Throws: Anything; it fails all who wait, a ``SluiceError`` as it is, others as the underlying error of
    ///   ``SluiceError/Code/gateFailed``.
    func satisfy(for request: RequestContext) async throws
}

extension Constraint {
    /// The type's name.
    public var name: String { String(describing: Self.self) }
    /// None.
    public var needs: Set<String> { [] }
    /// A minute.
    public var timeout: Duration? { .seconds(60) }
}
