import SluiceHTTP

/// What can be modified as a request is: ``APIRequest``, ``BodyRequest`` and ``RequestDraft`` alike.
///
/// Every modifier gives a changed copy. Modifiers of one's own are an extension of this protocol:
///
/// ```swift
/// extension ModifiableRequest {
///     func tenant(_ id: String) -> Self { header("X-Tenant", id) }
/// }
/// ```
public protocol ModifiableRequest: Sendable {
    /// All that the request says of itself, without its types.
    var draft: RequestDraft { get set }
}

extension ModifiableRequest {
    /// Consumes, as all modifiers do, so that a chain of them changes one value in place.
    @inline(__always)
    consuming func modified(_ change: (inout RequestDraft) -> Void) -> Self {
        change(&self.draft)
        return self
    }
}
