import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// Longer than any transfer; the exchange has a clock of its own.
    private static let noTimeout: TimeInterval = 7 * 24 * 3600

    /// Makes the session's request, without the body.
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
        // A request without content must not ask whether it may come (RFC 9110 §10.1.1).
        for field in request.headers where field.name != .expect || request.body.length != 0 {
            addValue(field.value, forHTTPHeaderField: field.name.rawValue)
        }
        allowsCellularAccess = networkAccess.contains(.cellular)
        #if !canImport(FoundationNetworking)
        allowsExpensiveNetworkAccess = networkAccess.contains(.expensive)
        allowsConstrainedNetworkAccess = networkAccess.contains(.constrained)
        #endif
    }

    /// Says what the session would not say of a stream, or say wrongly.
    mutating func setFraming(of body: UploadBody) {
        guard case .stream(_, let length) = body else { return }
        #if canImport(FoundationNetworking)
        // Foundation on Linux calls a POST's stream a form, unless there is a type; a blank one is not sent.
        if value(forHTTPHeaderField: "Content-Type") == nil { setValue(" ", forHTTPHeaderField: "Content-Type") }
        #else
        if let length { setValue("\(length)", forHTTPHeaderField: "Content-Length") }
        #endif
    }
}
