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
/// Where a server asks for a digest, or should have to ask first, give the client ``ChallengeCredentials``.
public struct BasicCredentials: RequestAdapter {
    private let field: CredentialField
    private let value: Result<Secret, SluiceError>

    /// Makes an adapter.
    ///
    /// - Parameters:
    ///   - user: The name, sent in UTF-8. One with a colon or a control character, which RFC 7617 §2 does not allow, fails each
    ///     request that is to get it with ``SluiceError/Code/invalidHeader``.
    ///   - password: The password, a `String` or a ``Secret``, sent in UTF-8; without control characters.
    ///   - scope: Where they may go; the origin of the client's base URL by default.
    ///   - condition: Which requests get them, by their tags for example; all of them by default.
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

    /// Adds the header where it is wanted.
    ///
    /// - Parameters:
    ///   - request: The request as it will be sent.
    ///   - context: The client whose base URL counts, and the tags.
    /// - Throws: ``SluiceError/Code/invalidHeader``, or ``SluiceError/Code/unsupported`` or ``SluiceError/Code/invalidURL`` where
    ///   the scope is not known.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) throws {
        guard try field.isWanted(by: request, context) else { return }
        request.headers.append(field.name, try value.get().reveal())
    }
}
