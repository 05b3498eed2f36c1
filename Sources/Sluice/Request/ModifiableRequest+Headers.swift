import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ModifiableRequest {
    /// Sets a header, in place of the request's and the client's of the same name; nil takes the request's own away.
    public consuming func header(_ name: HTTPHeaderName, _ value: String?) -> Self {
        modified { $0.headers[name] = value }
    }

    /// Sets several headers, each in place of the request's and the client's of the same name.
    public consuming func headers(_ headers: HTTPHeaders) -> Self {
        modified { draft in
            for field in headers { draft.headers.remove(field.name) }
            draft.headers.append(contentsOf: headers)
        }
    }

    /// Sets the `Content-Type`, in place of the one the body brings.
    public consuming func contentType(_ type: String) -> Self { header(.contentType, type) }

    /// Sets the `Accept` header.
    public consuming func accept(_ types: String...) -> Self { header(.accept, types.joined(separator: ", ")) }

    /// Sends a user name and password in the `Authorization` header, in UTF-8 (RFC 7617).
    ///
    /// A name with a colon cannot be sent that way and fails the request with ``SluiceError/Code/invalidHeader``.
    public consuming func basicAuthorization(_ user: String, _ password: String) -> Self {
        guard !user.contains(":") else {
            return modified { draft in
                draft.options.failure = SluiceError(
                    .invalidHeader,
                    "The user name for basic authorization holds a colon, which would end it.",
                    step: .building
                )
            }
        }
        return header(.authorization, "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
    }

    /// Tells caches on the way how to answer (RFC 9111 §5.2.1), by the `Cache-Control` header.
    public consuming func cachePolicy(_ policy: CachePolicy) -> Self { header("Cache-Control", policy.directives) }
}

/// What a request asks of the caches on its way (RFC 9111 §5.2.1).
public struct CachePolicy: Sendable, Hashable {
    /// The value of `Cache-Control`; nil for none.
    public let directives: String?

    /// Makes a policy of directives.
    public init(directives: String?) {
        self.directives = directives
    }

    /// What caches do when nothing is asked of them.
    public static let standard = CachePolicy(directives: nil)
    /// Nothing is taken from a cache before the origin has been asked.
    public static let reload = CachePolicy(directives: "no-cache")
    /// Neither request nor response is kept.
    public static let noStore = CachePolicy(directives: "no-store")
    /// A stored response, or the status 504.
    public static let onlyIfCached = CachePolicy(directives: "only-if-cached")
}
