import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ModifiableRequest {
    /// Sets a header, which replaces the client's header of the same name. Nil removes the request's own header.
    public consuming func header(_ name: HTTPHeaderName, _ value: String?) -> Self {
        modified { $0.headers[name] = value }
    }

    /// Sets several headers. Each replaces the request's and the client's header of the same name.
    public consuming func headers(_ headers: HTTPHeaders) -> Self {
        modified { draft in
            for field in headers { draft.headers.remove(field.name) }
            draft.headers.append(contentsOf: headers)
        }
    }

    /// Sets the `Content-Type`, which replaces the type of the body.
    public consuming func contentType(_ type: String) -> Self { header(.contentType, type) }

    /// Sets the `Accept` header.
    public consuming func accept(_ types: String...) -> Self { header(.accept, types.joined(separator: ", ")) }

    /// Sets the `Authorization` header to a user name and password, in UTF-8 (RFC 7617).
    ///
    /// A user name with a colon fails the request with ``SluiceError/Code/invalidHeader``.
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

    /// Sets the `Cache-Control` header, with which a request instructs caches (RFC 9111 §5.2.1).
    public consuming func cachePolicy(_ policy: CachePolicy) -> Self { header("Cache-Control", policy.directives) }
}

/// The instructions of a request for caches (RFC 9111 §5.2.1).
public struct CachePolicy: Sendable, Hashable {
    /// The value of `Cache-Control`; nil for none.
    public let directives: String?

    /// Creates a policy from directives.
    public init(directives: String?) {
        self.directives = directives
    }

    /// No instructions.
    public static let standard = CachePolicy(directives: nil)
    /// Caches must revalidate a stored response with the origin server.
    public static let reload = CachePolicy(directives: "no-cache")
    /// Caches must not store the request or the response.
    public static let noStore = CachePolicy(directives: "no-store")
    /// Caches answer with a stored response or with status 504.
    public static let onlyIfCached = CachePolicy(directives: "only-if-cached")
}
