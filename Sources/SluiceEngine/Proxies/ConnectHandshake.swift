#if os(Linux)
import SluiceHTTP

/// The handshake for a tunnel through an HTTP proxy with CONNECT (RFC 9110 §9.3.6).
///
/// ```
/// request ──▶ 1xx* ──▶ head ─┬─ 2xx ──▶ done
///    ▲                       ├─ 407 ──▶ body ─┬─ the connection stays open
///    ├───────────────────────┼────────────────┘
///    └── a new connection ◀──┼────────────────┴─ it closes, or the body is too long to skip
///                            └─ any other ──▶ failed
/// ```
///
/// The request has only the fields `Host` and `Proxy-Authorization`. The strict parser reads the responses within limits. The caller sees
/// nothing of them except the status of a refusal. A redirect is a refusal.
package struct ConnectHandshake: ProxyHandshake {
    /// The maximum number of bytes of the heads of one response, including informational ones.
    package static let headLimit = 16 << 10
    /// The maximum length of a 407 body that is skipped. For a longer body, a new connection is cheaper.
    private static let bodyLimit = 64 << 10
    /// The maximum number of challenges that are answered.
    private static let maximumAnswers = 3

    /// The host and port of the origin, used as the request target.
    private let authority: String
    private var authenticator: (any ProxyAuthenticator)?
    /// The value of `Proxy-Authorization` that answers a challenge, until it is sent.
    private var answer: String?
    private var answers = 0
    private var parser = ConnectHandshake.newParser
    /// Received bytes that have not been parsed.
    private var rest: [UInt8] = []
    /// True from the head of a 407 response to its end.
    private var isChallenged = false
    /// The number of body bytes of the 407 response so far.
    private var skipped = 0
    /// True if the last request was sent on a connection that had received a 407.
    private var isRepeated = false

    /// Creates the handshake for a tunnel.
    ///
    /// - Parameters:
    ///   - authority: The host and port of the origin. An IPv6 address has brackets and no zone.
    ///   - authenticator: The credentials, or nil for none.
    package init(to authority: String, authenticator: (any ProxyAuthenticator)?) {
        self.authority = authority
        self.authenticator = authenticator
    }

    private static var newParser: ResponseParser { ResponseParser(for: "CONNECT", headLimit: headLimit) }

    package var maximumRead: Int { ConnectHandshake.headLimit }

    package mutating func begin() -> [UInt8] {
        isRepeated = false
        return request()
    }

    /// Resets the state for a new response, and returns the request.
    private mutating func request() -> [UInt8] {
        parser = ConnectHandshake.newParser
        rest = []
        isChallenged = false
        skipped = 0
        let authority = authority
        let authorization = answer.take() ?? authenticator?.authorization(method: "CONNECT", uri: authority)
        let field = authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
        return Array("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\(field)\r\n".utf8)
    }

    package mutating func receive(_ bytes: UnsafeRawBufferPointer) -> ProxyHandshakeAction {
        rest.append(contentsOf: bytes)
        let input = rest
        var position = 0
        let action = input.withUnsafeBytes { receive($0, from: &position) }
        if action == .needsMore { rest = Array(input[position...]) }
        return action
    }

    private mutating func receive(
        _ input: UnsafeRawBufferPointer,
        from position: inout Int
    ) -> ProxyHandshakeAction {
        while true {
            switch parser.next(in: input, from: &position) {
            case .needsMore: return .needsMore
            case .informational: continue
            case .head(let head):
                if let action = process(head, hasMore: position < input.count) { return action }
            case .body(let range):
                skipped += range.count
                if skipped > ConnectHandshake.bodyLimit { return .reconnect }
            case .end:
                if position < input.count { return .failed(unexpectedData) }
                guard parser.isReusable else { return .reconnect }
                isRepeated = true
                return .send(request())
            case .failed(let error):
                // The challenge is already known, so a new connection can continue.
                if isChallenged { return .reconnect }
                return .failed(.tunnel(error.code == .headersTooLarge ? .headTooLarge : .invalidHead))
            }
        }
    }

    /// Processes a final head. Returns nil if its body must be skipped.
    private mutating func process(_ head: HTTPResponse, hasMore: Bool) -> ProxyHandshakeAction? {
        let authority = authority
        switch head.status.rawValue {
        case 200..<300:
            authenticator?.accept(head.headers, method: "CONNECT", uri: authority)
            return hasMore ? .failed(unexpectedData) : .done
        case 407:
            guard authenticator != nil else { return .failed(.tunnel(.credentialsRequired)) }
            guard answers < ConnectHandshake.maximumAnswers,
                let value = authenticator?.answer(head.headers, method: "CONNECT", uri: authority)
            else { return .failed(.tunnel(.credentialsRejected)) }
            answer = value
            answers += 1
            isChallenged = true
            return parser.length == .untilClose ? .reconnect : nil
        case let status: return .failed(.tunnel(.status(status)))
        }
    }

    package mutating func closed() -> ProxyHandshakeAction {
        // Some proxies close after a 407 without announcing it.
        if isChallenged || isRepeated && !parser.hasBegun { return .reconnect }
        return .failed(.tunnel(.closed))
    }

    package var unexpectedData: ProxyError { .tunnel(.unexpectedData) }
}
#endif
