#if os(Linux)
import SluiceHTTP

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
