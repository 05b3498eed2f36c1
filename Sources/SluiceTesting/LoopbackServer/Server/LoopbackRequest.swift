import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request as it reached a ``LoopbackServer``.
public struct LoopbackRequest: Sendable {
    /// The method.
    public let method: HTTPMethod
    /// Path and query as they stood in the request line.
    public let target: String
    /// The path without its query, still percent-encoded; of an absolute URL, as a proxy gets it, the path in it.
    public let path: String
    /// What stood behind the question mark, still percent-encoded.
    public let query: String?
    /// The header fields in their order.
    public let headers: HTTPHeaders
    /// The body; of a chunked one the chunks' contents.
    public let body: Data
    /// The number of the connection it came by, counted from 1.
    public let connection: Int

    init(method: HTTPMethod, target: String, headers: HTTPHeaders, body: Data, connection: Int) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.connection = connection
        let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        path = LoopbackRequest.path(of: Substring(parts[0]))
        query = parts.count > 1 ? String(Substring(parts[1])) : nil
    }

    private static func path(of target: Substring) -> String {
        guard target.hasPrefix("http://") else { return String(target) }
        let authority = target.dropFirst("http://".count)
        return authority.firstIndex(of: "/").map { String(authority[$0...]) } ?? "/"
    }
}

extension LoopbackRequest: CustomStringConvertible, CustomReflectable {
    /// Method and target, without its secrets.
    public var description: String { "\(method) \(SecretRules.usual.url(target))" }

    /// What `dump` shows: no values of header fields, nothing of the body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method, "target": SecretRules.usual.url(target), "headers": headers,
                "body": "\(body.count) bytes", "connection": connection,
            ],
            displayStyle: .struct
        )
    }
}
