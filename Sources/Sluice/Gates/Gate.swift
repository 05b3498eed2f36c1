import SluiceHTTP

/// Admits a request, or keeps it waiting: for a token, a slot, its turn.
///
/// Every attempt to send a request asks every gate, first those that hold nothing, all at once but for what they need of each
/// other, and then those that do, in the order given; so a request that waits for a token takes no slot.
public protocol Gate: Sendable {
    /// By what requests opt out of it and other gates need it; the type's name by default.
    var name: String { get }
    /// The names of the gates that must have admitted a request before this one is asked; none by default. Of use only where
    /// this one holds nothing.
    var needs: Set<String> { get }
    /// Whether it hands out something that there is only so much of, and is therefore asked last; true by default.
    var holds: Bool { get }

    /// Waits until the request may go on.
    ///
    /// - Parameter request: What asks to be admitted.
    /// - Returns: A pass, given back with the outcome on every exit: success, failure and cancellation alike.
    /// - Throws: A ``SluiceError`` that fails the request.
    func admit(_ request: RequestContext) async throws(SluiceError) -> Pass
}

extension Gate {
    /// The type's name.
    public var name: String { String(describing: Self.self) }
    /// None.
    public var needs: Set<String> { [] }
    /// As if it did.
    public var holds: Bool { true }
}

/// A gate that often need not wait, and can then admit a request without a task.
///
/// A client all of whose gates and interceptors can do without waiting sends as fast as one that has none.
public protocol ImmediateGate: Gate {
    /// Admits a request on the spot; must not block.
    ///
    /// - Parameter request: What asks to be admitted.
    /// - Returns: A pass, or nil if ``Gate/admit(_:)`` must be asked: to wait, or to refuse.
    func admitImmediately(_ request: RequestContext) -> Pass?
}
