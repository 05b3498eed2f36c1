#if os(Linux)
import CCurl
import Glibc
import SluiceHTTP
import Testing

@testable import SluiceCurl

@Suite struct CurlFailureProxyTests {
    private struct Row: Sendable {
        var code: CURLcode
        var proxy = Proxy.http("proxy.test:3128")
        var needsTunnel = true
        var status = 0
        var refusal = CURLPX_OK
        var hasRequested = false
        var message = ""
        var systemError: Int32 = 0
        var meaning: SluiceError.Code?
        var reason: String?
    }

    private static let known = Proxy.http("proxy.test:3128", user: "ada", password: "s3cret")
    private static let socks = Proxy.socks5("proxy.test")

    private static let rows = [
        Row(
            code: CURLE_COULDNT_RESOLVE_PROXY,
            meaning: .proxyFailed,
            reason: "The name of the proxy at proxy.test:3128 does not resolve; check its spelling and the DNS."
        ),
        Row(
            code: CURLE_COULDNT_CONNECT,
            systemError: ECONNREFUSED,
            meaning: .proxyFailed,
            reason: "No connection to the proxy at proxy.test:3128: connection refused."
        ),
        Row(
            code: CURLE_COULDNT_CONNECT,
            proxy: socks,
            meaning: .proxyFailed,
            reason: "No connection to the proxy at proxy.test:1080: nothing answers there."
        ),
        Row(
            code: CURLE_RECV_ERROR,
            status: 403,
            meaning: .proxyFailed,
            reason: "No connection to a.test:81: the proxy at proxy.test:3128 refused it with status 403."
        ),
        Row(
            code: CURLE_RECV_ERROR,
            status: 407,
            meaning: .proxyFailed,
            reason: "No connection to a.test:81: the proxy at proxy.test:3128 asks for credentials (407)."
        ),
        Row(
            code: CURLE_RECV_ERROR,
            proxy: known,
            status: 407,
            meaning: .proxyFailed,
            reason: "No connection to a.test:81: the proxy at proxy.test:3128 does not accept its credentials (407)."
        ),
        Row(
            code: CURLE_RECV_ERROR,
            meaning: .proxyFailed,
            reason: "No connection to a.test:81: the proxy at proxy.test:3128 closed before there was a tunnel."
        ),
        Row(code: CURLE_RECV_ERROR, status: 200), Row(code: CURLE_RECV_ERROR, status: 0, hasRequested: true),
        Row(code: CURLE_RECV_ERROR, needsTunnel: false), Row(code: CURLE_GOT_NOTHING, needsTunnel: false),
        Row(code: CURLE_SSL_CONNECT_ERROR, status: 200), Row(code: CURLE_SSL_CONNECT_ERROR, proxy: socks),
        Row(
            code: CURLE_SSL_CONNECT_ERROR,
            proxy: .https("proxy.test"),
            message: "no",
            meaning: .proxyFailed,
            reason: "No TLS connection to the proxy at proxy.test:443: no."
        ),
        Row(code: CURLE_PEER_FAILED_VERIFICATION, proxy: .https("proxy.test"), status: 200),
        Row(
            code: CURLE_OPERATION_TIMEDOUT,
            meaning: .connectTimedOut,
            reason: "No connection to a.test:81 by the proxy at proxy.test:3128 came about in the time allowed."
        ),
        Row(code: CURLE_OPERATION_TIMEDOUT, hasRequested: true),
        Row(code: CURLE_COULDNT_RESOLVE_HOST, proxy: socks, needsTunnel: false),
        Row(
            code: CURLE_PROXY,
            proxy: socks,
            refusal: CURLPX_RESOLVE_HOST,
            meaning: .cannotResolveHost,
            reason: "The name of the host in “a.test:81” does not resolve; check its spelling and the DNS."
        ),
        Row(
            code: CURLE_PROXY,
            proxy: socks,
            refusal: CURLPX_USER_REJECTED,
            meaning: .proxyFailed,
            reason: "No connection to a.test:81 by the proxy at proxy.test:1080: it does not accept its credentials."
        ),
        Row(
            code: CURLE_PROXY,
            proxy: socks,
            refusal: CURLPX_REPLY_NETWORK_UNREACHABLE,
            meaning: .proxyFailed,
            reason: "No connection to a.test:81 by the proxy at proxy.test:1080: it cannot reach the network."
        ),
        Row(
            code: CURLE_PROXY,
            proxy: socks,
            refusal: CURLPX_BAD_VERSION,
            message: "odd",
            meaning: .proxyFailed,
            reason: "No connection to a.test:81 by the proxy at proxy.test:1080: odd."
        ),
    ]

    @Test(arguments: rows.indices)
    func whatTheProxyDidIsToldFromWhatTheServerDid(index: Int) {
        let row = Self.rows[index]
        let passage = ProxyPassage(
            proxy: row.proxy,
            host: "a.test:81",
            needsTunnel: row.needsTunnel,
            tunnelStatus: row.status,
            refusal: Int(row.refusal.rawValue),
            hasRequested: row.hasRequested
        )
        let failure = CurlFailure(code: row.code, message: row.message, systemError: row.systemError)
        let error = failure.error(by: passage, TLSFailure(row.code, row.message))
        #expect(error?.code == row.meaning)
        #expect(error?.reason == row.reason)
        #expect(failure.error(by: nil) == nil)
    }

    @Test(arguments: 1..<34 as Range<UInt32>)
    func everyRefusalHasASentence(refusal: UInt32) {
        let passage = ProxyPassage(
            proxy: Self.socks,
            host: "a.test",
            needsTunnel: false,
            tunnelStatus: 0,
            refusal: Int(refusal),
            hasRequested: false
        )
        let error = CurlFailure(code: CURLE_PROXY, message: "", systemError: 0).error(by: passage)
        #expect(error?.reason.hasSuffix(".") == true)
        #expect(error?.reason.contains("  ") == false)
    }
}
#endif
