import SluiceFoundation
import SluiceHTTP

/// The action that a cache takes for a request.
package enum CachePlan: Sendable {
    /// Serve the stored response and send nothing.
    case serve(ServableResponse)
    /// Serve the stored response and send the revalidation in the background; its result only updates the store (RFC
    /// 5861 §3).
    case serveWhileRevalidating(ServableResponse, ConditionalRequest)
    case send(ConditionalRequest)
    /// Return this response, which has no body: the request is `only-if-cached` and no stored response satisfies it
    /// (RFC 9111 §5.2.1.7).
    case refuse(HTTPResponse)

    /// The stored response that the plan serves; nil if there is none.
    package var serving: ServableResponse? {
        switch self {
        case .serve(let serving), .serveWhileRevalidating(let serving, _): serving
        case .send, .refuse: nil
        }
    }
}

struct RequestIdentity: Sendable {
    /// The digest of the credentials; nil if there are none, or if the partition replaces them.
    let digest: String?
    /// True if some of them count as `Authorization` (RFC 9111 §3.5).
    let isAuthorized: Bool
    /// The header fields that the transport adds, whose values are unknown here.
    let hiddenFields: [HTTPHeaderName]
}

/// A request that is forwarded to the origin server, with the state needed to handle its response.
package struct ConditionalRequest: Sendable {
    /// The purpose of a forwarded request.
    enum Purpose: Sendable, Hashable {
        /// The request is sent unchanged, with its own conditions if it has any.
        case response
        /// The cache has added conditions to validate ``ConditionalRequest/selected`` (RFC 9111 §4.3.1).
        case validation
        /// The request fetches the bytes that are missing from ``ConditionalRequest/selected`` (RFC 9111 §3.4).
        case completion
    }

    /// The request to send.
    package let sent: HTTPRequest
    package let request: HTTPRequest
    /// The credentials that the request is sent with.
    let identity: RequestIdentity
    /// All responses stored under the cache key, newest first.
    let stored: [CacheEntry]
    /// The stored responses that match the request, newest first.
    let matching: [CacheEntry]
    /// The stored response that would satisfy the request if it were fresh or complete.
    let selected: CacheEntry?
    package let reason: CacheStatus.Forward
    let purpose: Purpose

    /// True if the cache applies to the request: GET or HEAD without a body.
    var concernsCache: Bool { reason != .method && reason != .bypass }
}

/// A response served from the cache.
package struct ServableResponse: Sendable {
    /// The form in which a stored response satisfies a request.
    enum Form: Sendable, Hashable {
        /// The entire stored response.
        case whole
        /// The head only, in response to HEAD.
        case head
        /// 304: the client has a current copy (RFC 9111 §4.3.2).
        case notModified
        /// 206 with these bytes of a representation of `total` bytes (RFC 9110 §15.3.7).
        case part(Range<Int64>, total: Int64)
        /// 416: the range is outside a representation of `total` bytes (RFC 9110 §15.5.17).
        case unsatisfiable(total: Int64)
    }

    /// The entry that supplies the body.
    package let entry: CacheEntry
    /// The metadata that supplies the head: that of the entry, or the one updated by a 304.
    package let response: CacheMetadata
    let form: Form
    /// The current age in seconds (RFC 9111 §4.2.3).
    package let age: Int
    /// True if the freshness lifetime has passed.
    package let isStale: Bool
    /// True if the origin server has just validated the response.
    package let isRevalidated: Bool
    let status: CacheStatus
    /// The fields for this request only that the origin server has just sent with a 304, and that the stored head omits.
    var receivedFields: [HTTPHeaders.Field] = []

    /// The bytes of the stored body to return, as offsets from its start; nil for all.
    var range: Range<Int>? {
        switch form {
        case .whole: return nil
        case .head, .notModified, .unsatisfiable: return 0..<0
        case .part(let range, _):
            let offset = response.part?.range.lowerBound ?? 0
            let count = Int64(entry.body.count)
            let first = min(max(range.lowerBound - offset, 0), count)
            return Int(first)..<Int(min(max(range.upperBound - offset, first), count))
        }
    }

    /// The bytes to return with the head.
    package var body: Data {
        guard let range else { return entry.body }
        let start = entry.body.startIndex
        return entry.body[start + range.lowerBound..<start + range.upperBound]
    }

    /// The head to return: the stored head with ``addedFields``.
    package var head: HTTPResponse {
        var head = unmarkedHead
        addedFields.append(to: &head.headers)
        return head
    }

    /// The fields that the cache adds to ``unmarkedHead``.
    package var addedFields: CacheAddedFields { CacheAddedFields(age: age, status: status) }

    /// The head to return, without ``addedFields``.
    package var unmarkedHead: HTTPResponse {
        var head = isRevalidated ? response.head : response.unvalidatedHead
        switch form {
        case .whole, .head: break
        case .notModified:
            head.status = .notModified
            // Removes the fields that describe the omitted content (RFC 9110 §15.4.5).
            for name in HTTPHeaderName.contentFields { head.headers.remove(name) }
            head.removeContentDigests()
            if head.headers.contains(.eTag) { head.headers.remove(.lastModified) }
        case .part(let range, let total):
            head.status = .partialContent
            head.removeContentDigests()
            head.headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
            head.headers[.contentLength] = "\(range.upperBound - range.lowerBound)"
        case .unsatisfiable(let total):
            head.status = 416
            head.removeContentDigests()
            for name in HTTPHeaderName.contentFields { head.headers.remove(name) }
            head.headers[.contentRange] = "bytes */\(total)"
            head.headers[.contentLength] = "0"
        }
        for field in receivedFields { head.headers.append(field) }
        return head
    }
}
