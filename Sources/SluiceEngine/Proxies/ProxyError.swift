#if os(Linux)
import SluiceHTTP

/// The ways in which a proxy refuses a connection or violates its protocol.
///
/// No case contains text from the proxy, so none can appear in an error message.
package enum ProxyError: Error, Sendable, Hashable {
    /// A CONNECT request that did not establish a tunnel (RFC 9110 §9.3.6).
    package enum Tunnel: Sendable, Hashable {
        /// A final status other than 2xx and 407.
        case status(Int)
        /// A 407 response, but there are no credentials.
        case asksForCredentials
        /// A 407 response to the credentials, or a challenge that they cannot answer.
        case refusesCredentials
        case closed
        /// The response is not valid HTTP.
        case invalidHead
        /// The head is longer than the limit, or has too many fields.
        case headTooLarge
        /// Bytes follow the response before the client has sent anything. In a tunnel for TLS the client speaks first.
        case surplus
    }

    /// A SOCKS handshake that failed (RFC 1928, RFC 1929).
    package enum SOCKS: Sendable, Hashable {
        /// The REP field of a reply of version 5.
        case reply(UInt8)
        /// The CD field of a reply of version 4.
        case rejection(UInt8)
        /// The proxy accepts none of the offered authentication methods (X'FF').
        case noMethod
        case refusesCredentials
        case closed
        /// An answer that the protocol does not define, or that does not match the offer.
        case invalidAnswer
        case surplus
        /// The host name is empty, longer than 255 bytes, or contains a zero byte.
        case unfitName
        /// The credentials are longer than 255 bytes, or contain a zero byte where it would end them.
        case unfitCredentials
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
            case .tunnel(let flaw): "No connection to \(host): \(proxy) \(flaw.words)."
            case .socks(let flaw): "No connection to \(host) by \(proxy): \(flaw.words)."
            }
        return SluiceError(.proxyFailed, reason)
    }
}

extension ProxyError.Tunnel {
    fileprivate var words: String {
        switch self {
        case .status(let status): "refused it with status \(status)"
        case .asksForCredentials: "asks for credentials (407)"
        case .refusesCredentials: "does not accept its credentials (407)"
        case .closed: "closed before there was a tunnel"
        case .invalidHead: "gave an answer that is no valid HTTP"
        case .headTooLarge: "gave an answer whose head is over the limit of \(ConnectHandshake.headLimit) bytes"
        case .surplus: "sent more than its answer"
        }
    }
}

extension ProxyError.SOCKS {
    fileprivate var words: String {
        switch self {
        case .reply(let code): ProxyError.SOCKS.words(ofReply: code)
        case .rejection(92): "it cannot ask this computer who its user is (identd)"
        case .rejection(93): "this computer names another user when it is asked (identd)"
        case .rejection: "it refused, or failed"
        case .noMethod:
            "it asks for credentials in a way that is not known, or for some where there are none"
        case .refusesCredentials: "it does not accept its credentials"
        case .closed: "it closed the connection"
        case .invalidAnswer: "what it answered is no SOCKS of the version asked for"
        case .surplus: "it sent more than its answer"
        case .unfitName: "the host's name is longer than the 255 bytes that SOCKS has room for, or no name"
        case .unfitCredentials: "its credentials are longer than the 255 bytes that SOCKS has room for (RFC 1929)"
        case .unreachableAddress: "SOCKS 4 cannot reach the host's address; use SOCKS 5"
        }
    }

    /// Returns the description of a REP field (RFC 1928 §6).
    private static func words(ofReply code: UInt8) -> String {
        switch code {
        case 2: "it does not allow that"
        case 3: "it cannot reach the network"
        case 4: "it cannot reach the host"
        case 5: "the server refused the connection"
        case 6: "the host is too far away"
        case 7, 8: "it does not know how"
        default: "it failed"
        }
    }
}
#endif
