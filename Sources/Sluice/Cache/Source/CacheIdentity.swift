import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The owner of a response: a partition or the credentials of the request.
struct CacheIdentity: Sendable {
    /// The partition that the app has set.
    let partition: String
    /// A digest of the credentials; nil if the request has none or a partition is set.
    let digest: String?

    /// Creates the identity of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - credentials: The credentials for authentication challenges.
    ///   - cookies: The cookie jar of the client.
    ///   - secretHeaders: The client's header fields that hold secrets, besides `Authorization` and `Cookie`.
    ///   - partition: The partition; empty for none.
    init(
        _ request: HTTPRequest,
        credentials: ChallengeCredentials? = nil,
        cookies: CookieJar? = nil,
        secretHeaders: [HTTPHeaderName] = [],
        partition: String
    ) {
        self.partition = partition
        guard partition.isEmpty else {
            digest = nil
            return
        }
        var secrets: [[UInt8]] = []
        for name in [HTTPHeaderName.authorization, .cookie] + secretHeaders where request.headers.contains(name) {
            secrets += request.headers.fieldValues(for: name).map {
                Array("\(name.rawValue.lowercased()): ".utf8) + $0.bytes
            }
        }
        if let credentials { secrets.append(Array("credentials: \(credentials.user):\(credentials.password)".utf8)) }
        if let cookies { secrets.append(Array("jar: \(cookies.id)".utf8)) }
        if secrets.isEmpty {
            digest = nil
        } else {
            let text = Data(secrets.joined(separator: "\n".utf8))
            // Without a digest, the response matches no other request rather than every request.
            digest = SystemSHA256.hexDigest(of: text) ?? UUID().uuidString
        }
    }
}
