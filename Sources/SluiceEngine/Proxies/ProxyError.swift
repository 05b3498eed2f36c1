#if os(Linux)
import SluiceHTTP

/// The ways in which a proxy refuses a connection or violates its protocol.
///
/// No case contains text from the proxy, so none can appear in an error message.
package enum ProxyError: LastingCause, Sendable, Hashable, CustomStringConvertible {
    /// A CONNECT request that did not establish a tunnel (RFC 9110 §9.3.6).
    package enum Tunnel: Sendable, Hashable {
        /// A final status other than 2xx and 407.
        case status(Int)
        /// A 407 response, but there are no credentials.
        case credentialsRequired
        /// A 407 response to the credentials.
        case credentialsRejected
        /// A 407 response whose challenges the credentials cannot answer.
        case noAcceptableMethod
        case closed
        /// The response is not valid HTTP.
        case invalidHead
        /// The head is longer than the limit, or has too many fields.
        case headTooLarge
        /// Bytes follow the response before the client has sent anything. In a tunnel for TLS the client speaks first.
        case unexpectedData
    }

    /// A SOCKS handshake that failed (RFC 1928, RFC 1929).
    package enum SOCKS: Sendable, Hashable {
        /// The REP field of a reply of version 5.
        case reply(UInt8)
        /// The CD field of a reply of version 4.
        case rejection(UInt8)
        /// The proxy accepts none of the offered authentication methods (X'FF').
        case noAcceptableMethod
        case credentialsRejected
        case closed
        /// An answer that the protocol does not define, or that does not match the offer.
        case invalidAnswer
        case unexpectedData
        /// The host name is empty, longer than 255 bytes, or contains a zero byte.
        case invalidName
        /// The credentials are longer than 255 bytes, or contain a zero byte where it would end them.
        case invalidCredentials
        /// Version 4 supports neither IPv6 addresses nor addresses in 0.0.0.0/24, which stand for names.
        case unreachableAddress
    }

    case tunnel(Tunnel)
    case socks(SOCKS)

    /// Returns the error that is reported to the caller.
    ///
    /// - Parameters:
    ///   - host: The host and port of the request.
    ///   - proxy: The name of the proxy, as the subject of a sentence.
    /// - Returns: An error with the code ``SluiceError/Code/proxyFailed``.
    package func error(to host: String, by proxy: String) -> SluiceError {
        let reason =
            switch self {
            case .tunnel(let failure):
                "The connection to \(host) could not be established: \(proxy) \(failure.message)."
            case .socks(let failure):
                "The connection to \(host) through \(proxy) could not be established: \(failure.message)."
            }
        return SluiceError(.proxyFailed, reason, underlyingError: isLasting ? self : nil)
    }

    /// True if the proxy refuses the credentials or the destination.
    package var isLasting: Bool {
        switch self {
        case .tunnel(.status(let status)): (400..<500).contains(status) && status != 408 && status != 429
        case .tunnel(.credentialsRequired), .tunnel(.credentialsRejected), .tunnel(.noAcceptableMethod): true
        case .socks(.reply(2)), .socks(.reply(7)), .socks(.reply(8)), .socks(.noAcceptableMethod): true
        case .socks(.credentialsRejected), .socks(.invalidName), .socks(.invalidCredentials): true
        case .socks(.unreachableAddress): true
        default: false
        }
    }

    package var description: String {
        switch self {
        case .tunnel(let failure): "the proxy \(failure.message)"
        case .socks(let failure): failure.message
        }
    }
}

extension ProxyError.Tunnel {
    fileprivate var message: String {
        switch self {
        case .status(let status): "refused it with status \(status)"
        case .credentialsRequired: "requires credentials (407)"
        case .credentialsRejected: "did not accept the credentials (407)"
        case .noAcceptableMethod:
            "requires an authentication method that is not supported or not among the allowed ones (407)"
        case .closed: "closed the connection before the tunnel was established"
        case .invalidHead: "sent a response that is not valid HTTP"
        case .headTooLarge: "sent a response whose head exceeds the limit of \(ConnectHandshake.headLimit) bytes"
        case .unexpectedData: "sent data after its response"
        }
    }
}

extension ProxyError.SOCKS {
    fileprivate var message: String {
        switch self {
        case .reply(let code): ProxyError.SOCKS.message(ofReply: code)
        case .rejection(92): "the proxy cannot reach identd on this computer"
        case .rejection(93): "identd on this computer reports a different user"
        case .rejection: "the proxy refused the request, or the request failed"
        case .noAcceptableMethod:
            "the proxy requires an authentication method that is not supported, or credentials that are not configured"
        case .credentialsRejected: "the proxy did not accept the credentials"
        case .closed: "the proxy closed the connection"
        case .invalidAnswer: "the proxy's reply is not valid in the requested SOCKS version"
        case .unexpectedData: "the proxy sent data after its reply"
        case .invalidName: "the host name is not valid, or is longer than 255 bytes, the limit of SOCKS"
        case .invalidCredentials: "the credentials are longer than 255 bytes, the limit of SOCKS (RFC 1929)"
        case .unreachableAddress: "SOCKS 4 cannot reach the host's address; use SOCKS 5"
        }
    }

    /// Returns the description of a REP field (RFC 1928 §6).
    private static func message(ofReply code: UInt8) -> String {
        switch code {
        case 2: "the proxy's rules do not allow the connection"
        case 3: "the proxy cannot reach the network"
        case 4: "the proxy cannot reach the host"
        case 5: "the server refused the connection"
        case 6: "the TTL expired"
        case 7, 8: "the proxy does not support the command or the address type"
        default: "the proxy failed"
        }
    }
}
#endif
