import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// For whom a response is.
struct CacheIdentity: Sendable {
    /// Whose it is by the app's word.
    let partition: String
    /// A digest of what it was got with; nil where that was nothing secret, and where a partition says whose it is.
    let digest: String?

    /// Finds out for whom the response to a request is.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - credentials: What the engine answers a challenge with.
    ///   - cookies: The jar from which the engine adds cookies.
    ///   - secretHeaders: Fields of the client's that hold secrets, besides `Authorization` and `Cookie`.
    ///   - partition: Whose it is, if that is said.
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
            // Without a digest it is nobody's, not everybody's.
            digest = SystemSHA256.hexDigest(of: text) ?? UUID().uuidString
        }
    }
}
