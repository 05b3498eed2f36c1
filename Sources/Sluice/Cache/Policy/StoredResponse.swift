import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A response as a cache keeps it, without its body: what it answers, when it came, and its head.
public struct StoredResponse: Sendable {
    /// The method of the request it answers.
    public let method: HTTPMethod
    /// The URL of the request it answers.
    public let url: String
    /// The digest of the credentials it was got with, where it is for those only who have the same. Nil for what was got without, and is
    /// for those who have none; for anybody of its partition where it is `public`.
    public let identity: String?
    /// Status, headers and version as they came; where a later 304 updated the headers, with its.
    public let head: HTTPResponse
    /// When the request was sent.
    public let requested: Date
    /// When the head came.
    public let received: Date
    /// Which part of the representation the body is; nil for all of it.
    public let part: StoredPart?
    /// On what terms it may be used again, by its head.
    let terms: ResponseTerms

    /// Makes a stored response.
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

/// Which bytes of a representation are kept (RFC 9110 §14): one run of them.
public struct StoredPart: Sendable, Hashable {
    /// Where the bytes begin and end in the whole.
    public let range: Range<Int64>
    /// How many bytes the whole has.
    public let total: Int64

    /// Makes a part.
    public init(range: Range<Int64>, total: Int64) {
        self.range = range
        self.total = total
    }
}

extension StoredResponse: CustomReflectable {
    /// The URL without secrets, and the head.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["method": method, "url": SecretRules.usual.url(url), "head": head, "received": received],
            displayStyle: .struct
        )
    }
}
