import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A stored response without its body: the request it answers, its times and its head.
public struct StoredResponse: Sendable {
    /// The method of the request.
    public let method: HTTPMethod
    /// The URL of the request.
    public let url: String
    /// The digest of the credentials that the request was sent with; only requests with the same credentials match. Nil
    /// if the request had no credentials, or if the response is `public` and matches any request of its partition.
    public let identity: String?
    /// The status, headers and version as received. A later 304 updates the headers and the version.
    public let head: HTTPResponse
    /// The time at which the request was sent.
    public let requested: Date
    /// The time at which the head was received.
    public let received: Date
    /// The part of the representation that the body contains; nil for the entire representation.
    public let part: StoredPart?
    /// The cache metadata parsed from the head.
    let terms: ResponseTerms

    /// Creates a stored response.
    public init(
        method: HTTPMethod,
        url: String,
        identity: String? = nil,
        head: HTTPResponse,
        requested: Date,
        received: Date,
        part: StoredPart? = nil
    ) {
        self.method = method
        self.url = url
        self.identity = identity
        self.head = head
        self.requested = requested
        self.received = received
        self.part = part
        terms = ResponseTerms(
            head,
            method: method,
            url: url,
            identity: identity,
            requested: requested,
            received: received,
            part: part
        )
    }
}

/// The contiguous bytes of a representation that are stored (RFC 9110 §14).
public struct StoredPart: Sendable, Hashable {
    /// The position of the stored bytes in the representation.
    public let range: Range<Int64>
    /// The number of bytes of the representation.
    public let total: Int64

    /// Creates a part.
    public init(range: Range<Int64>, total: Int64) {
        self.range = range
        self.total = total
    }
}

extension StoredResponse: CustomReflectable {
    /// A mirror with the URL without secrets and the head.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["method": method, "url": SecretRules.usual.url(url), "head": head, "received": received],
            displayStyle: .struct
        )
    }
}
