import SluiceHTTP

/// The action that a cache takes for a request.
enum CachePlan: Sendable {
    /// Serve the stored response and send nothing.
    case serve(CacheServing)
    /// Serve the stored response and send the revalidation in the background; its result only updates the store (RFC
    /// 5861 §3).
    case serveWhileRevalidating(CacheServing, CacheForwarding)
    /// Send the request.
    case send(CacheForwarding)
    /// Return this response, which has no body: the request is `only-if-cached` and no stored response satisfies it
    /// (RFC 9111 §5.2.1.7).
    case refuse(HTTPResponse)
}

/// A request that is forwarded to the origin server, with the state needed to handle its response.
struct CacheForwarding: Sendable {
    /// The purpose of a forwarded request.
    enum Purpose: Sendable, Hashable {
        /// The request is sent unchanged, with its own conditions if it has any.
        case response
        /// The cache has added conditions to validate ``CacheForwarding/selected`` (RFC 9111 §4.3.1).
        case validation
        /// The request fetches the bytes that are missing from ``CacheForwarding/selected`` (RFC 9111 §3.4).
        case completion
    }

    /// The request to send.
    let sent: HTTPRequest
    /// The original request.
    let request: HTTPRequest
    /// The digest of the credentials that the request is sent with.
    let identity: String?
    /// The stored responses that match the request, newest first.
    let matching: [CacheEntry]
    /// The stored response that would satisfy the request if it were fresh or complete.
    let selected: CacheEntry?
    /// The reason for forwarding the request.
    let reason: CacheStatus.Forward
    let purpose: Purpose

    /// True if the cache applies to the request: GET or HEAD without a body.
    var concernsCache: Bool { reason != .method && reason != .bypass }
}
