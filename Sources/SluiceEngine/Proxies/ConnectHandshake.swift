#if os(Linux)
import SluiceHTTP

/// The making of a tunnel through an HTTP proxy by CONNECT (RFC 9110 §9.3.6).
///
/// ```
/// request ──▶ 1xx* ──▶ head ─┬─ 2xx ──▶ done
///    ▲                       ├─ 407 ──▶ body ─┬─ the connection stays open
///    ├───────────────────────┼────────────────┘
///    └── a new connection ◀──┼────────────────┴─ it closes, or the body is too long to skip
///                            └─ any other ──▶ failed
/// ```
///
/// The request has no field but `Host` and `Proxy-Authorization`. Responses are read by the strict parser, within bounds, and nothing of
/// them reaches the caller but the status of a refusal. A redirect is a refusal.
package struct ConnectHandshake: ProxyHandshake {
    /// The bytes that the heads of one response may take, informational ones included.
    package static let headLimit = 16 << 10
    /// The longest body of a 407 that is read; beyond it a new connection costs less.
    private static let bodyLimit = 64 << 10
    /// The challenges that are answered.
    private static let maximumAnswers = 3

    /// Host and port, the target of the request.
    private let authority: String
    private var authenticator: (any ProxyAuthenticator)?
    /// The answer to a challenge that has not been sent.
    private var answer: String?
    private var answers = 0
    private var parser = ConnectHandshake.newParser
    /// Bytes that were received and not used.
    private var rest: [UInt8] = []
    /// True from the head of a 407 to its end.
    private var isChallenged = false
    private var skipped = 0
    /// True if the last request went by a connection on which another was refused with 407.
    private var isRepeated = false

    /// Prepares a tunnel.
    ///
    /// - Parameters:
    ///   - authority: Host and port of the origin; an address of version 6 stands in brackets and has no zone.
    ///   - authenticator: The credentials; nil for none.
    package init(to authority: String, authenticator: (any ProxyAuthenticator)?) {
        self.authority = authority
        self.authenticator = authenticator
    }

    private static var newParser: ResponseParser { ResponseParser(for: "CONNECT", headLimit: headLimit) }

    package var wanted: Int { ConnectHandshake.headLimit }

    package mutating func begin() -> [UInt8] {
        isRepeated = false
        return request()
    }

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
                if let action = take(head, hasMore: position < input.count) { return action }
            case .body(let range):
                skipped += range.count
                if skipped > ConnectHandshake.bodyLimit { return .reconnect }
            case .end:
                if position < input.count { return .failed(surplus) }
                guard parser.isReusable else { return .reconnect }
                isRepeated = true
                return .send(request())
            case .failed(let error):
                // The challenge is known; only the way to it is lost.
                if isChallenged { return .reconnect }
                return .failed(.tunnel(error.code == .headersTooLarge ? .headTooLarge : .invalidHead))
            }
        }
    }

    /// Takes a final head; returns nil if a body follows that is to be skipped.
    private mutating func take(_ head: HTTPResponse, hasMore: Bool) -> ProxyHandshakeAction? {
        let authority = authority
        switch head.status.rawValue {
        case 200..<300:
            authenticator?.accept(head.headers, method: "CONNECT", uri: authority)
            return hasMore ? .failed(surplus) : .done
        case 407:
            guard authenticator != nil else { return .failed(.tunnel(.asksForCredentials)) }
            guard answers < ConnectHandshake.maximumAnswers,
                let value = authenticator?.answer(head.headers, method: "CONNECT", uri: authority)
            else { return .failed(.tunnel(.refusesCredentials)) }
            answer = value
            answers += 1
            isChallenged = true
            return parser.length == .untilClose ? .reconnect : nil
        case let status: return .failed(.tunnel(.status(status)))
        }
    }

    package mutating func closed() -> ProxyHandshakeAction {
        // Some proxies close after a 407 without saying so.
        if isChallenged || isRepeated && !parser.hasBegun { return .reconnect }
        return .failed(.tunnel(.closed))
    }

    package var surplus: ProxyFlaw { .tunnel(.surplus) }
}
#endif
