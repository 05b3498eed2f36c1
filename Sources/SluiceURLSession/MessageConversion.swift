import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// A time-out of a week, in seconds, which takes no effect: ``SessionTransfer`` enforces the time-outs.
    private static let noTimeout: TimeInterval = 7 * 24 * 3600

    /// Creates the session's request, without the body.
    init(_ request: HTTPRequest, networkAccess: NetworkAccess = .all) throws(SluiceError) {
        try request.validate()
        // `URL` allows square brackets in an IPv6 address only.
        let path = request.path.replacing("[", with: "%5B").replacing("]", with: "%5D")
        let text = "\(request.scheme)://\(request.authority)\(path)"
        guard let url = URL(string: text, encodingInvalidCharacters: false), url.host() != nil,
            !request.authority.utf8.contains(UInt8(ascii: "@"))
        else {
            throw SluiceError(
                .invalidURL,
                "The URL is not valid, or contains a user name. Check its host, port and path.",
                request: request
            )
        }
        self.init(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: URLRequest.noTimeout)
        httpMethod = request.method.rawValue
        httpShouldHandleCookies = false
        for field in request.headers {
            switch field.name {
            // The body determines them. Foundation on Linux would send other values.
            case .contentLength, .transferEncoding: continue
            // A request without content must not send `Expect: 100-continue` (RFC 9110 §10.1.1).
            case .expect where request.body.length == 0: continue
            default: break
            }
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

extension HTTPResponse {
    /// Creates a head from the session's response, which has neither the version nor the order of the fields. Fields
    /// are sorted by name, so that equal responses give equal heads.
    init(_ response: HTTPURLResponse) {
        let fields = response.allHeaderFields.compactMap { name, value in
            (name as? String).map { ($0, "\(value)") }
        }
        self.init(status: HTTPStatus(rawValue: response.statusCode), headers: HTTPHeaders(joined: fields))
    }
}

extension HTTPHeaders {
    /// Creates fields from a list in which repeated fields are joined by commas. `Set-Cookie` is split again, since
    /// later code could not split it (RFC 6265 §3).
    init(joined fields: [(String, String)]) {
        self.init()
        for (name, value) in fields.sorted(by: { $0.0 < $1.0 }) {
            let name = HTTPHeaderName(name)
            if name == .setCookie {
                for cookie in value.splitCookies { append(name, cookie) }
            } else {
                append(name, value)
            }
        }
    }
}

extension String {
    /// The cookies of a joined field. A comma separates two cookies if a token and `=` follow it, unlike the comma in
    /// `Expires=Wed, 01 Jan`.
    fileprivate var splitCookies: [String] {
        let (comma, space) = (UInt8(ascii: ","), UInt8(ascii: " "))
        var cookies: [String] = []
        var start = utf8.startIndex
        for piece in utf8.split(separator: comma, omittingEmptySubsequences: false)
        where piece.startIndex != startIndex {
            let name = piece.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }.drop { $0 == space }
            guard name.endIndex < piece.endIndex, piece[name.endIndex] == UInt8(ascii: "="), name.isToken else {
                continue
            }
            cookies.append(String(Substring(utf8[start..<utf8.index(before: piece.startIndex)].drop { $0 == space })))
            start = piece.startIndex
        }
        return cookies + [String(Substring(utf8[start...].drop { $0 == space }))]
    }
}

// MARK: - Credentials

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
        if credentials.methods == .basic, credentials.isPreemptive {
            setValue(credentials.basic, forHTTPHeaderField: "Authorization")
            return nil
        }
        #if canImport(FoundationNetworking)
        if credentials.methods == .basic { return nil }
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

// MARK: - Metrics

/// The dates of a transaction as the session measures them; nil for what the transaction did not have.
struct TransactionDates: Sendable {
    /// The start, from which the times count.
    let start: Date
    var nameLookupEnd: Date?
    var secureConnectionStart: Date?
    var secureConnectionEnd: Date?
    /// The end of the connection, which includes TLS.
    var connectEnd: Date?
    var responseStart: Date?
}

extension TransferMetrics {
    /// Sets the times of a transaction. Those of the connection stay zero if it was reused.
    mutating func set(_ dates: TransactionDates) {
        func offset(_ date: Date?) -> Duration {
            date.map { .seconds(max(0, $0.timeIntervalSince(dates.start))) } ?? .zero
        }
        firstByte = offset(dates.responseStart)
        if isConnectionReused { return }
        nameLookup = offset(dates.nameLookupEnd)
        // TLS begins when the connection is established.
        connect = offset(dates.secureConnectionStart ?? dates.connectEnd)
        tls = offset(dates.secureConnectionEnd)
    }
}

// MARK: - Metrics of Apple's platforms

#if !canImport(FoundationNetworking)
extension SessionTransfer {
    /// Replaces the metrics with the session's.
    func measure(_ transaction: URLSessionTaskTransactionMetrics) {
        measure { $0.set(transaction) }
    }
}

extension TransferMetrics {
    fileprivate mutating func set(_ transaction: URLSessionTaskTransactionMetrics) {
        guard let start = transaction.fetchStartDate else { return }
        isConnectionReused = transaction.isReusedConnection
        set(
            TransactionDates(
                start: start,
                nameLookupEnd: transaction.domainLookupEndDate,
                secureConnectionStart: transaction.secureConnectionStartDate,
                secureConnectionEnd: transaction.secureConnectionEndDate,
                connectEnd: transaction.connectEndDate,
                responseStart: transaction.responseStartDate
            )
        )
        bytesSent = transaction.countOfRequestBodyBytesBeforeEncoding
        bytesReceived = transaction.countOfResponseBodyBytesReceived
        switch transaction.networkProtocolName {
        case "h3": version = .http3
        case "h2": version = .http2
        case "http/1.0": version = .http1_0
        default: version = .http1_1
        }
        if let address = transaction.remoteAddress, let port = transaction.remotePort {
            remoteAddress = address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
        }
    }
}
#endif
