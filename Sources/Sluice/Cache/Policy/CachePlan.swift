import SluiceHTTP

/// What a cache does with a request.
enum CachePlan: Sendable {
    /// Give what is stored; nothing is sent.
    case serve(CacheServing)
    /// Give what is stored, and send this behind that; nobody waits for what comes of it but the store (RFC 5861 §3).
    case serveWhileRevalidating(CacheServing, CacheForwarding)
    /// Send this.
    case send(CacheForwarding)
    /// Give this, which has no body: the request does not want to be sent, and nothing stored answers it (RFC 9111 §5.2.1.7).
    case refuse(HTTPResponse)
}

/// A request on its way to the server, with all that has to be known when its response comes.
struct CacheForwarding: Sendable {
    /// What a request is sent for.
    enum Purpose: Sendable, Hashable {
        /// As it came, with conditions of its own or without any.
        case response
        /// With conditions that the cache put in, so as to validate ``CacheForwarding/selected`` (RFC 9111 §4.3.1).
        case validation
        /// For the bytes that ``CacheForwarding/selected`` lacks (RFC 9111 §3.4).
        case completion
    }

    /// What is to be sent.
    let sent: HTTPRequest
    /// What was asked for.
    let request: HTTPRequest
    /// The digest of the credentials it is sent with.
    let identity: String?
    /// What is stored and matches the request, the newest first.
    let matching: [CacheEntry]
    /// That which would answer the request were it fresh, or were it complete.
    let selected: CacheEntry?
    /// Why it goes on.
    let reason: CacheStatus.Forward
    let purpose: Purpose

    /// Whether it is for the cache at all: GET or HEAD, without a body.
    var concernsCache: Bool { reason != .method && reason != .bypass }
}
