import SluiceHTTP

/// A condition for sending a request, such as a token, a free slot or a turn in a queue.
///
/// Every attempt to send a request asks every gate. Gates with ``reservesResource`` false are asked first and
/// concurrently, except that a gate is asked after the gates it ``needs``. The other gates follow one by one, in the
/// order given. A request that waits for a token therefore takes no slot.
public protocol Gate: Sendable {
    /// The name by which requests opt out of the gate and other gates refer to it. The default is the type's name.
    var name: String { get }
    /// The names of the gates that must admit a request before this gate is asked. They must have ``reservesResource``
    /// false. The default is none. Ignored for a gate with ``reservesResource`` true.
    var needs: Set<String> { get }
    /// True if the gate reserves a limited resource for the request, such as a slot. Such gates are asked last.
    /// The default is true.
    var reservesResource: Bool { get }

    /// Waits until the request may go on.
    ///
    /// Requests that a gate sends through ``RequestContext/client`` need its permit as well, so they must opt out of it: `withoutGate`.
    ///
    /// - Parameter request: The request to admit.
    /// - Returns: A permit. It is released with the outcome on every exit: success, failure and cancellation alike.
    /// - Throws: A ``SluiceError`` that fails the request.
    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit
}

extension Gate {
    /// The type's name.
    public var name: String { String(describing: Self.self) }
    /// None.
    public var needs: Set<String> { [] }
    /// The default: true.
    public var reservesResource: Bool { true }
}

/// A gate that can usually admit a request without waiting, and then needs no task.
///
/// Requests are sent without a task where all gates and interceptors of the client can answer without waiting. Such a
/// client is as fast as one without gates.
public protocol ImmediateGate: Gate {
    /// Admits a request synchronously. Must not block.
    ///
    /// - Parameter request: The request to admit.
    /// - Returns: A permit, or nil if ``Gate/admit(_:)`` must be called to wait or to refuse.
    func admitImmediately(_ request: RequestContext) -> Permit?
}

/// A gate that stands for a constraint.
protocol ConstrainingGate: Gate {
    var constraint: any Constraint { get }
}

/// Checks that gates can be asked in an order in which each one follows the gates it needs.
enum GateOrder {
    /// The reason why the gates can never all be asked: a needed gate is missing, or the needs
    /// form a cycle. Nil if they can.
    static func failure(of gates: [any Gate]) -> SluiceError? {
        guard gates.contains(where: { !$0.needs.isEmpty }) else { return nil }
        let names = Set(gates.map(\.name))
        for gate in gates {
            if let missing = gate.needs.subtracting(names).min() { return .gateNeeds(gate.name, missing: missing) }
        }
        var remaining = gates
        while true {
            let ready = ready(remaining)
            if ready.isEmpty { break }
            remaining.removeAll { gate in ready.contains(gate.name) }
        }
        return remaining.isEmpty ? nil : .gatesNeedEachOther(remaining.map(\.name))
    }

    /// The names of the gates that need none of the others.
    private static func ready(_ gates: [any Gate]) -> Set<String> {
        let names = Set(gates.map(\.name))
        return Set(gates.filter { $0.needs.isDisjoint(with: names) }.map(\.name))
    }
}

// MARK: - Constraints

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
/// `satisfy` itself sends through the client bypass all its constraints. An actor or object that several clients are given is
/// one constraint. To share a constraint that is a value, use ``makeGate()``.
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

// MARK: - Permit

/// A permit that a gate returns when it admits an attempt of a request. It is released with the outcome of the attempt.
///
/// A permit is released exactly once, also if the attempt fails, is cancelled or is followed by another one. The
/// outcome is that of the transport: response interceptors and plugins do not change it.
///
/// If the response comes from the cache, the outcome is that of the part that was sent:
/// - If nothing was sent, it is a failure of step ``SluiceError/Step/cache`` with code
///   ``SluiceError/Code/answeredByCache``.
/// - If a stale response replaces a failure of the server, it is that failure.
/// - If the server redirected to a URL that the cache answers, it is the redirect.
public struct Permit: Sendable {
    /// The gate's decision about an outcome.
    public enum Decision: Sendable, Hashable {
        /// The outcome stands.
        case settled
        /// The gate has removed the cause of the failure, and the request should be sent again. A request is sent again
        /// at most once for each gate, and only if its body can be sent again.
        case replay
    }

    private enum Release: Sendable {
        case none
        case synchronous(@Sendable (TransportOutcome) -> Decision)
        case asynchronous(@Sendable (TransportOutcome) async -> Void)
    }

    /// Changes the request just before it is sent, after all interceptors.
    let modifyRequest: (@Sendable (inout HTTPRequest) -> Void)?
    private let release: Release
    /// True if the permit only adds a token, and never chooses another origin.
    var isToken = false
    /// True if the permit is one of a limited number of slots, which a request holds while it is sent.
    var isSlot = false

    /// Creates a permit with nothing to release.
    ///
    /// - Parameter modifyRequest: Called with the request just before it is sent, after all interceptors, to change it,
    ///   for example to add a token. If it changes the origin, credentials that earlier steps have added for other origins
    ///   are removed.
    public init(modifyRequest: (@Sendable (inout HTTPRequest) -> Void)? = nil) {
        self.modifyRequest = modifyRequest
        release = .none
    }

    /// Creates a permit that is released asynchronously.
    ///
    /// - Parameter onRelease: Called once, with the outcome of the request.
    public init(onRelease: @escaping @Sendable (TransportOutcome) async -> Void) {
        modifyRequest = nil
        release = .asynchronous(onRelease)
    }

    /// Creates a permit that is released synchronously.
    ///
    /// - Parameters:
    ///   - modifyRequest: Called with the request just before it is sent, after all interceptors, to change it.
    ///   - onOutcome: Called once, with the outcome of the request, on any thread. Returns the decision. It must not
    ///     block.
    public init(
        modifyRequest: (@Sendable (inout HTTPRequest) -> Void)? = nil,
        onOutcome: @escaping @Sendable (TransportOutcome) -> Decision
    ) {
        self.modifyRequest = modifyRequest
        release = .synchronous(onOutcome)
    }

    /// True if the release is asynchronous.
    var isAsynchronous: Bool {
        if case .asynchronous = release { true } else { false }
    }

    /// Releases a permit whose release is not asynchronous.
    func releaseImmediately(_ outcome: TransportOutcome) -> Decision {
        if case .synchronous(let onOutcome) = release { onOutcome(outcome) } else { .settled }
    }

    /// Releases the permit. An asynchronous release runs to its end in a task of its own, to which neither a cancellation
    /// nor a deadline of the request applies.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the attempt.
    ///   - limit: The time to wait for an asynchronous release; nil for no limit.
    ///   - clock: The clock that measures it.
    /// - Returns: The gate's decision.
    func release(_ outcome: TransportOutcome, within limit: Duration?, on clock: any SluiceClock) async -> Decision {
        guard case .asynchronous(let release) = release else { return releaseImmediately(outcome) }
        let task = Deadline.$current.withValue(nil) { Task { await release(outcome) } }
        // A cancelled request waits no longer.
        try? await TimedWork.outcome(within: limit, on: clock) { () async throws(SluiceError) in await task.value }
        return .settled
    }
}
