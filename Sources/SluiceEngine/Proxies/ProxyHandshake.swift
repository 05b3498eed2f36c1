#if os(Linux)
import SluiceHTTP

/// The handshake with a proxy that turns a connection to the proxy into one to the origin. It has no side effects.
///
/// ```
/// begin ──▶ send ──▶ receive* ─┬─▶ done
///   ▲         ▲                ├─▶ failed
///   │         └──── send ──────┤
///   └──── a new connection ────┴─▶ reconnect
/// ```
package protocol ProxyHandshake: Sendable {
    /// The maximum number of bytes to read next, so that no bytes of the origin are consumed. At least 1.
    var maximumRead: Int { get }

    /// Starts on a new connection.
    ///
    /// - Returns: The first message to the proxy.
    mutating func begin() -> [UInt8]

    /// Processes bytes from the proxy.
    ///
    /// - Parameter input: At least one and at most ``maximumRead`` bytes.
    /// - Returns: The next action.
    mutating func receive(_ input: UnsafeRawBufferPointer) -> ProxyHandshakeAction

    /// Records that the proxy has closed the connection. Returns `reconnect` or `failed`.
    mutating func closed() -> ProxyHandshakeAction

    /// The error for bytes after the last answer that cannot come from the origin.
    var unexpectedData: ProxyError { get }
}

package enum ProxyHandshakeAction: Sendable, Equatable {
    /// Send the bytes, then continue reading.
    case send([UInt8])
    case needsMore
    /// The connection now leads to the origin.
    case done
    /// Close the connection, and start again on a new one to the same proxy.
    case reconnect
    case failed(ProxyError)
}

/// The credentials for a proxy. One instance is used for one attempt to connect, including reconnects.
package protocol ProxyAuthenticator: Sendable {
    /// Returns the value of `Proxy-Authorization` for a request that does not answer a challenge, or nil to send none.
    mutating func authorization(method: String, uri: String) -> String?

    /// Returns the value of `Proxy-Authorization` that answers a 407 response.
    ///
    /// - Parameters:
    ///   - challenge: The fields of the response.
    ///   - method: The method of the request, `CONNECT` for a tunnel.
    ///   - uri: The request target.
    /// - Returns: The value, or nil if there is no answer or the last one was refused.
    mutating func answer(_ challenge: HTTPHeaders, method: String, uri: String) -> String?

    /// Processes the fields of a response to a request that the proxy has accepted.
    mutating func accept(_ headers: HTTPHeaders, method: String, uri: String)
}

/// The credentials for tunnels through a proxy, with Basic or Digest. An accepted nonce is reused for further tunnels.
package struct TunnelAuthenticator: ProxyAuthenticator {
    private var authenticator: Authenticator
    private let spaces: Locked<ProtectionSpaces>

    /// Creates the credentials, or returns nil if the proxy has none.
    package init?(_ proxy: Proxy, in spaces: Locked<ProtectionSpaces>) {
        guard let credentials = AuthenticationCredentials(proxy) else { return nil }
        authenticator = Authenticator(credentials)
        self.spaces = spaces
    }

    package mutating func authorization(method: String, uri: String) -> String? {
        authenticator.fieldValue(for: AuthenticatedMessage(method: method, uri: uri), in: spaces)
    }

    package mutating func answer(_ challenge: HTTPHeaders, method: String, uri: String) -> String? {
        let message = AuthenticatedMessage(method: method, uri: uri)
        let decision = spaces.withLockUnchecked { authenticator.processChallenge(challenge, to: message, in: &$0) }
        return decision == .sendAgain ? authenticator.fieldValue(for: message, in: spaces) : nil
    }

    package mutating func accept(_ headers: HTTPHeaders, method: String, uri: String) {
        let message = AuthenticatedMessage(method: method, uri: uri)
        spaces.withLockUnchecked { authenticator.recordAcceptance(headers, to: message, in: &$0) }
    }
}

// MARK: - Connect handshake

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
    /// True if the last request had credentials.
    private var hasCredentials = false
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
        hasCredentials = authorization != nil
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
            else { return .failed(.tunnel(hasCredentials ? .credentialsRejected : .noAcceptableMethod)) }
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

// MARK: - SOCKS handshake

/// The client's side of SOCKS 4, 4a and 5 (RFC 1928), with names and passwords (RFC 1929).
///
/// ```
/// version 5:  methods ─┬───────────────────▶ request ──▶ reply ──▶ done
///                      └─▶ name, password ──────┘
/// version 4:  request ──▶ reply ──▶ done
/// ```
///
/// Each message is sent only after the answer to the previous one, so the proxy receives no request before the credentials are accepted.
/// Exactly the bytes of the reply are consumed.
package struct SOCKSHandshake: ProxyHandshake {
    package enum Version: Sendable {
        case four
        case five
    }

    /// A host to connect to, in the form that is sent to the proxy.
    package enum Destination: Sendable, Hashable {
        /// A name that the proxy resolves, with the extension 4a in version 4.
        case name(String)
        case address(IPAddress)
    }

    package struct Credentials: Sendable, Hashable {
        let user: String
        let password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// The message that is expected from the proxy.
    private enum State {
        case method, authentication, reply
    }

    private let version: Version
    /// The addresses of the host, or its name. The first one is being tried, the others have not been tried yet.
    private var destinations: ArraySlice<Destination>
    private let port: UInt16
    private let credentials: Credentials?
    private var state = State.reply
    private var input: [UInt8] = []
    /// The length of the current message, as far as it is known.
    private var needed = 0

    /// Creates a handshake.
    ///
    /// - Parameters:
    ///   - version: The protocol version.
    ///   - destinations: The addresses of the origin, or its name. If the proxy cannot reach one, the next one is tried.
    ///   - port: The port of the origin.
    ///   - credentials: The name and password, or nil for none. Version 4 uses only the name.
    /// - Throws: A ``ProxyError`` if a value does not fit into the messages of the protocol. Nothing must be sent then.
    package init(
        _ version: Version,
        to destinations: [Destination],
        port: UInt16,
        credentials: Credentials?
    ) throws(ProxyError) {
        let fitting = destinations.filter { $0.fits(version) }
        guard !fitting.isEmpty else {
            guard case .name = destinations.first else { throw .socks(.unreachableAddress) }
            throw .socks(.invalidName)
        }
        if let credentials {
            let texts = version == .five ? [credentials.user, credentials.password] : [credentials.user]
            guard texts.allSatisfy({ $0.utf8.count <= 255 && !$0.utf8.contains(0) }) else {
                throw .socks(.invalidCredentials)
            }
        }
        self.version = version
        self.destinations = fitting[...]
        self.port = port
        self.credentials = credentials
    }

    package var maximumRead: Int { max(1, needed - input.count) }

    package mutating func begin() -> [UInt8] {
        if version == .four { return expect(.reply, 2, after: request) }
        // No authentication, and name and password if there are credentials (RFC 1928 §3).
        return expect(.method, 2, after: credentials == nil ? [5, 1, 0] : [5, 2, 0, 2])
    }

    package mutating func receive(_ bytes: UnsafeRawBufferPointer) -> ProxyHandshakeAction {
        guard bytes.count <= needed - input.count else { return .failed(unexpectedData) }
        input.append(contentsOf: bytes)
        while input.count == needed {
            let action =
                switch state {
                case .method: receiveMethod()
                case .authentication: receiveAuthenticationStatus()
                case .reply: version == .four ? receiveReply4() : receiveReply5()
                }
            if let action { return action }
        }
        return .needsMore
    }

    package mutating func closed() -> ProxyHandshakeAction { .failed(.socks(.closed)) }

    package var unexpectedData: ProxyError { .socks(.unexpectedData) }

    /// Expects an answer of `count` bytes to a message, and returns the message.
    private mutating func expect(_ state: State, _ count: Int, after message: [UInt8]) -> [UInt8] {
        self.state = state
        input = []
        needed = count
        return message
    }

    // MARK: Answers

    /// Processes the selected method (RFC 1928 §3).
    private mutating func receiveMethod() -> ProxyHandshakeAction? {
        guard input[0] == 5 else { return .failed(.socks(.invalidAnswer)) }
        switch (input[1], credentials) {
        case (0, _): return .send(expect(.reply, 2, after: request))
        case (2, let credentials?):
            let (user, password) = (Array(credentials.user.utf8), Array(credentials.password.utf8))
            let message = [1, UInt8(user.count)] + user + [UInt8(password.count)] + password
            return .send(expect(.authentication, 2, after: message))
        case (0xFF, _): return .failed(.socks(.noAcceptableMethod))
        default: return .failed(.socks(.invalidAnswer))
        }
    }

    /// Processes the answer to name and password (RFC 1929 §2).
    private mutating func receiveAuthenticationStatus() -> ProxyHandshakeAction? {
        guard input[0] == 1 else { return .failed(.socks(.invalidAnswer)) }
        guard input[1] == 0 else { return .failed(.socks(.credentialsRejected)) }
        return .send(expect(.reply, 2, after: request))
    }

    /// Processes a reply (RFC 1928 §6). Its fourth and fifth byte determine its length.
    private mutating func receiveReply5() -> ProxyHandshakeAction? {
        guard input[0] == 5 else { return .failed(.socks(.invalidAnswer)) }
        guard input[1] == 0 else {
            return tryNextAddress(.reply(input[1]), isUnreachable: [1, 3, 4, 5, 6, 8].contains(input[1]))
        }
        switch input.count {
        case 2: needed = 5
        case 5:
            guard input[2] == 0 else { return .failed(.socks(.invalidAnswer)) }
            switch input[3] {
            case 1: needed = 4 + 4 + 2
            case 3: needed = 4 + 1 + Int(input[4]) + 2
            case 4: needed = 4 + 16 + 2
            default: return .failed(.socks(.invalidAnswer))
            }
        default: return .done
        }
        return nil
    }

    /// Processes a reply of version 4: a zero byte, a code, and six unused bytes.
    private mutating func receiveReply4() -> ProxyHandshakeAction? {
        guard input[0] == 0 else { return .failed(.socks(.invalidAnswer)) }
        switch input[1] {
        case 90 where input.count == 8: return .done
        case 90:
            needed = 8
            return nil
        case 91...93: return tryNextAddress(.rejection(input[1]), isUnreachable: input[1] == 91)
        default: return .failed(.socks(.invalidAnswer))
        }
    }

    /// Continues with the next address if the proxy could not reach this one. Fails if there is no other.
    private mutating func tryNextAddress(_ failure: ProxyError.SOCKS, isUnreachable: Bool) -> ProxyHandshakeAction {
        guard isUnreachable, destinations.count > 1 else { return .failed(.socks(failure)) }
        destinations.removeFirst()
        return .reconnect
    }

    // MARK: Requests

    private var request: [UInt8] {
        guard let destination = destinations.first else { return [] }
        let port = [UInt8(truncatingIfNeeded: self.port >> 8), UInt8(truncatingIfNeeded: self.port)]
        switch version {
        case .four:
            let user = Array((credentials?.user ?? "").utf8) + [0]
            switch destination {
            // The extension 4a: an invalid address, and the name after the user.
            case .name(let name): return [4, 1] + port + [0, 0, 0, 1] + user + Array(name.utf8) + [0]
            case .address(let address): return [4, 1] + port + address.bytes + user
            }
        case .five:
            switch destination {
            case .name(let name): return [5, 1, 0, 3, UInt8(name.utf8.count)] + Array(name.utf8) + port
            case .address(let address): return [5, 1, 0, address.isIPv4 ? 1 : 4] + address.bytes + port
            }
        }
    }
}

extension SOCKSHandshake.Destination {
    /// Creates the destination for the host of an origin: a name, or an address without brackets. The zone is dropped.
    package init(host: String) {
        let text = host.utf8.contains(UInt8(ascii: ":")) ? String(host.prefix { $0 != "%" }) : host
        self = IPAddress(text).map { .address($0) } ?? .name(text)
    }

    /// Returns true if a request of the version can contain the destination.
    fileprivate func fits(_ version: SOCKSHandshake.Version) -> Bool {
        switch self {
        case .name(let name): return (1...255).contains(name.utf8.count) && !name.utf8.contains(0)
        case .address(let address):
            // In 4a, 0.0.0.x stands for a name.
            return version == .five || address.isIPv4 && !address.bytes.starts(with: [0, 0, 0])
        }
    }
}
#endif
