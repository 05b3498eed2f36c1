import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// Adds credentials that need no challenge.
    ///
    /// - Parameters:
    ///   - context: The context with the credentials.
    ///   - request: The request to send.
    /// - Returns: The credentials for a challenge; nil if none are needed.
    /// - Throws: A ``SluiceError`` for credentials that cannot be sent, or that this session does not support.
    mutating func setCredentials(
        _ context: TransferContext,
        for request: HTTPRequest
    ) throws(SluiceError) -> ChallengeCredentials? {
        guard let credentials = try context.credentials(for: request), !credentials.methods.isEmpty else { return nil }
        if credentials.methods == .basic {
            setValue(credentials.basic, forHTTPHeaderField: "Authorization")
            return nil
        }
        #if canImport(FoundationNetworking)
        throw SluiceError(
            .unsupported,
            "Foundation on Linux cannot answer authentication challenges. Use SocketTransport, or only Basic.",
            request: request
        )
        #else
        return credentials
        #endif
    }
}

#if !canImport(FoundationNetworking)
extension SessionTransfer {
    /// Returns the credential for the first challenge of an allowed method. With nil, the server's response is
    /// returned.
    func credential(for challenge: URLAuthenticationChallenge) -> URLCredential? {
        let space = challenge.protectionSpace
        guard let credentials, challenge.previousFailureCount == 0, !space.isProxy() else { return nil }
        let method: ChallengeCredentials.Methods =
            switch space.authenticationMethod {
            case NSURLAuthenticationMethodHTTPBasic: .basic
            case NSURLAuthenticationMethodHTTPDigest: .digest
            default: []
            }
        guard !method.isEmpty, credentials.methods.contains(method) else { return nil }
        guard canSendAgain else {
            fail(
                SluiceError(
                    .bodyNotReplayable,
                    "The body would have to be sent again, but it can be read only once."
                )
            )
            return nil
        }
        beginUploadAgain()
        return URLCredential(user: credentials.user, password: credentials.password, persistence: .none)
    }
}
#endif
