import SluiceHTTP

/// A value that has the modifiers of a request: ``APIRequest``, ``BodyRequest`` and ``RequestDraft``.
///
/// Every modifier returns a changed copy. To add a modifier, extend this protocol:
///
/// ```swift
/// extension ModifiableRequest {
///     func tenant(_ id: String) -> Self { header("X-Tenant", id) }
/// }
/// ```
public protocol ModifiableRequest: Sendable {
    /// The description of the request, without its types.
    var draft: RequestDraft { get set }
}

extension ModifiableRequest {
    /// Consumes the value, so that a chain of modifiers changes it in place.
    @inline(__always)
    consuming func modified(_ change: (inout RequestDraft) -> Void) -> Self {
        change(&self.draft)
        return self
    }
}
