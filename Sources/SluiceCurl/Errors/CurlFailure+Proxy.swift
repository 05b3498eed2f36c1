#if os(Linux)
import CCurl
import Glibc
import SluiceHTTP

/// How far a request came by its proxy.
struct ProxyPassage {
    let proxy: Proxy
    /// Host and port of the request.
    let host: String
    /// Whether the proxy was to make a tunnel (RFC 9110 §9.3.6), not to pass the request on.
    let needsTunnel: Bool
    /// What it answered to that; 0 for nothing.
    let tunnelStatus: Int
    /// What a SOCKS proxy answered, one of libcurl's CURLPX codes.
    let refusal: Int
    /// Whether the request itself was on its way.
    let hasRequested: Bool

    fileprivate var name: String { "the proxy at \(proxy.address ?? "")" }
}

extension Exchange {
    /// How far the transfer came by its proxy; nil where it has none.
    var proxyPassage: ProxyPassage? {
        guard let transfer, let proxy = transfer.plan.proxy, !lacksTLS else { return nil }
        return ProxyPassage(
            proxy: proxy,
            host: transfer.request.authority,
            needsTunnel: !proxy.scheme.isSOCKS && transfer.request.scheme == "https",
            // Before a transfer has begun it is that of the last.
            tunnelStatus: isHalfSetUp ? 0 : handle.long(CURLINFO_HTTP_CONNECTCODE),
            refusal: handle.long(CURLINFO_PROXY_ERROR),
            hasRequested: hasRequested
        )
    }
}

extension CurlFailure {
    /// The SDK's word for a failure that is the proxy's; nil for one that is the server's, or where there is no proxy.
    func error(by passage: ProxyPassage?, _ tls: TLSFailure? = nil) -> SluiceError? {
        guard let passage else { return nil }
        // The tunnel's status comes by the proxy's own TLS.
        if let tls, isOfTLS, passage.proxy.scheme == .https, passage.tunnelStatus == 0, !passage.hasRequested {
            let reason = "No TLS connection to \(passage.name): \(tls.reason(of: "proxy"))."
            return SluiceError(.proxyFailed, reason, underlyingError: tls)
        }
        guard let (code, reason) = meaning(passage) else { return nil }
        return SluiceError(code, reason, underlyingError: self)
    }

    private var isOfTLS: Bool {
        switch CURLcode(code) {
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CIPHER:
            true
        default: false
        }
    }

    private func meaning(_ passage: ProxyPassage) -> (SluiceError.Code, String)? {
        let (proxy, host) = (passage.name, passage.host)
        switch CURLcode(code) {
        case CURLE_COULDNT_RESOLVE_PROXY:
            return (.proxyFailed, "The name of \(proxy) does not resolve; check its spelling and the DNS.")
        case CURLE_COULDNT_CONNECT:
            let words = systemError == 0 ? "nothing answers there" : String(cString: strerror(systemError)).lowercased()
            return (.proxyFailed, "No connection to \(proxy): \(words).")
        case CURLE_OPERATION_TIMEDOUT where !passage.hasRequested:
            return (.connectTimedOut, "No connection to \(host) by \(proxy) came about in the time allowed.")
        case CURLE_PROXY where passage.refusal == Int(CURLPX_RESOLVE_HOST.rawValue):
            return (
                .cannotResolveHost,
                "The name of the host in “\(host)” does not resolve; check its spelling and the DNS."
            )
        case CURLE_PROXY:
            return (.proxyFailed, "No connection to \(host) by \(proxy): \(refusalWords(passage.refusal)).")
        default:
            return passage.needsTunnel && !isOfTLS ? tunnelMeaning(passage) : nil
        }
    }

    private func tunnelMeaning(_ passage: ProxyPassage) -> (SluiceError.Code, String)? {
        switch passage.tunnelStatus {
        case 407:
            let words = passage.proxy.credentials == nil ? "asks for credentials" : "does not accept its credentials"
            return (.proxyFailed, "No connection to \(passage.host): \(passage.name) \(words) (407).")
        case 200..<300:
            return nil
        case 0:
            guard !passage.hasRequested else { return nil }
            return (.proxyFailed, "No connection to \(passage.host): \(passage.name) closed before there was a tunnel.")
        case let status:
            return (.proxyFailed, "No connection to \(passage.host): \(passage.name) refused it with status \(status).")
        }
    }

    private func refusalWords(_ refusal: Int) -> String {
        switch CURLproxycode(UInt32(clamping: refusal)) {
        case CURLPX_CLOSED: "it closed the connection"
        case CURLPX_NO_AUTH: "it asks for credentials in a way that is not known, or for some where there are none"
        case CURLPX_USER_REJECTED: "it does not accept its credentials"
        case CURLPX_REPLY_NOT_ALLOWED: "it does not allow that"
        case CURLPX_REPLY_CONNECTION_REFUSED: "the server refused the connection"
        case CURLPX_REPLY_HOST_UNREACHABLE: "it cannot reach the host"
        case CURLPX_REPLY_NETWORK_UNREACHABLE: "it cannot reach the network"
        case CURLPX_REPLY_TTL_EXPIRED: "the host is too far away"
        case CURLPX_REPLY_GENERAL_SERVER_FAILURE: "it failed"
        case CURLPX_REPLY_COMMAND_NOT_SUPPORTED, CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED: "it does not know how"
        case CURLPX_REQUEST_FAILED: "it refused, or failed"
        default: message.isEmpty ? "it failed" : message
        }
    }
}
#endif
