import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// A time-out longer than any transfer, in seconds: the exchange enforces time-outs itself.
    private static let noTimeout: TimeInterval = 7 * 24 * 3600

    /// Creates the session's request, without the body.
    init(_ request: HTTPRequest, networkAccess: NetworkAccess = .all) throws(SluiceError) {
        try request.validate()
        guard let url = URL(string: request.url, encodingInvalidCharacters: false), url.host() != nil,
            !request.authority.utf8.contains(UInt8(ascii: "@"))
        else {
            throw SluiceError(
                .invalidURL,
                "The URL is not valid, or holds a user name; check its host, port and path.",
                request: request
            )
        }
        self.init(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: URLRequest.noTimeout)
        httpMethod = request.method.rawValue
        httpShouldHandleCookies = false
        // A request without content must not send `Expect: 100-continue` (RFC 9110 §10.1.1).
        for field in request.headers where field.name != .expect || request.body.length != 0 {
            addValue(field.value, forHTTPHeaderField: field.name.rawValue)
        }
        allowsCellularAccess = networkAccess.contains(.cellular)
        #if !canImport(FoundationNetworking)
        allowsExpensiveNetworkAccess = networkAccess.contains(.expensive)
        allowsConstrainedNetworkAccess = networkAccess.contains(.constrained)
        #endif
    }

    /// Sets header fields of a stream body that the session would omit or set wrongly.
    mutating func setFraming(of body: UploadBody) {
        guard case .stream(_, let length) = body else { return }
        #if canImport(FoundationNetworking)
        // Foundation on Linux sets a form's content type for a POST with a stream, unless a type is set. A blank type
        // is not sent.
        if value(forHTTPHeaderField: "Content-Type") == nil { setValue(" ", forHTTPHeaderField: "Content-Type") }
        #else
        if let length { setValue("\(length)", forHTTPHeaderField: "Content-Length") }
        #endif
    }
}
