import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Adds `Authorization: Basic …` (RFC 7617) to requests that have no such header, without waiting for a challenge.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [BasicCredentials(user: "ada", password: "s3cret")]
/// }
/// ```
///
/// If a server requires Digest authentication, or must send a challenge first, use the client's
/// ``ChallengeCredentials``.
public struct BasicCredentials: RequestAdapter {
    private let field: CredentialField
    private let value: Result<Secret, SluiceError>

    /// Creates an adapter.
    ///
    /// - Parameters:
    ///   - user: The user name, sent in UTF-8. A name with a colon or a control character, which RFC 7617 §2 does not
    ///     allow, fails each request that needs it with ``SluiceError/Code/invalidHeader``.
    ///   - password: The password, a `String` or a ``Secret``, sent in UTF-8; without control characters.
    ///   - scope: The origins that the credentials may be sent to; the origin of the client's base URL by default.
    ///   - condition: Returns true for requests that get the credentials, by their tags for example; all by default.
    public init(
        user: String,
        password: some SecretConvertible,
        scope: CredentialScope = .baseURL,
        when condition: (@Sendable (RequestContext) -> Bool)? = nil
    ) {
        field = CredentialField(name: .authorization, scope: scope, condition: condition)
        value = Result { () throws(SluiceError) in
            let credentials = ChallengeCredentials(user: user, password: password, methods: .basic)
            try credentials.validate()
            return Secret("Basic \(credentials.basicToken)")
        }
    }

    /// Adds the header if the request needs it.
    ///
    /// - Parameters:
    ///   - request: The request to change.
    ///   - context: The context, with the client's base URL and the tags.
    /// - Throws: ``SluiceError/Code/invalidHeader``, or ``SluiceError/Code/unsupported`` or
    ///   ``SluiceError/Code/invalidURL`` if the scope is not known.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) throws {
        guard try field.isWanted(by: request, context) else { return }
        request.headers.append(field.name, try value.get().reveal())
    }
}
