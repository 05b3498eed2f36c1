#if os(Linux)
import CCurl
import SluiceHTTP

extension Exchange {
    /// Sets by which way connections go. What a further plan might leave as it is is set all the same.
    func setRoute(_ plan: ConnectionPlan) {
        setProxy(plan.proxy)
        handle.set(CURLOPT_UNIX_SOCKET_PATH, string: plan.unixSocket)
        setAddresses(plan.hostAddresses, port: plan.port)
    }

    private func setProxy(_ proxy: Proxy?) {
        // Empty texts keep libcurl from looking into the environment itself.
        handle.set(CURLOPT_PROXY, string: proxy.flatMap(\.url) ?? "")
        handle.set(CURLOPT_NOPROXY, string: "")
        let credentials = proxy?.credentials
        // This option is percent-decoded in every version of libcurl, those for name and password alone in some.
        let pair = credentials.map { "\($0.user.encoded):\($0.password.encoded)" }
        handle.set(CURLOPT_PROXYUSERPWD, string: pair)
        handle.set(CURLOPT_PROXYAUTH, credentials?.methods.option ?? sluice_auth_basic)
        // The request's fields are for the server, and what a proxy says of a tunnel is not the server's answer.
        handle.set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Answers to challenges count as redirects, of which it follows no others.
        handle.set(CURLOPT_MAXREDIRS, credentials == nil ? -1 : Exchange.maximumAnswers)
        if let proxy, proxy.scheme == .https { setProxyTrust(proxy.trust) }
    }

    /// By one address libcurl connects to that in place of the host, by several to a name for them that it is told.
    private func setAddresses(_ addresses: [IPAddress], port: Int) {
        guard addressOverride != nil || !addresses.isEmpty else { return }
        let override = addresses.isEmpty ? nil : AddressOverride(addresses, port: port)
        handle.set(CURLOPT_CONNECT_TO, pointer: override?.connectTo)
        handle.set(CURLOPT_RESOLVE, pointer: override?.resolve)
        // Only now nobody points at the one before.
        addressOverride = override
    }
}

extension ConnectionPlan {
    /// Whether each request has a connection of its own: libcurl 7.88 uses one to a proxy again that was trusted by other authorities.
    var isAlone: Bool {
        proxy.map { $0.scheme == .https && $0.trust != .system } == true
    }
}

extension Proxy {
    fileprivate var url: String? { address.map { "\(scheme.rawValue)://\($0)" } }
}

extension String {
    /// With everything percent-encoded but letters and digits.
    fileprivate var encoded: String {
        utf8.reduce(into: "") { text, byte in
            let scalar = Unicode.Scalar(byte)
            if scalar.isASCII, scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                text.unicodeScalars.append(scalar)
            } else {
                text += byte < 16 ? "%0" : "%"
                text += String(byte, radix: 16, uppercase: true)
            }
        }
    }
}

extension ChallengeCredentials.Methods {
    fileprivate var option: Int {
        let option = (contains(.basic) ? sluice_auth_basic : 0) | (contains(.digest) ? sluice_auth_digest : 0)
        return option == 0 ? sluice_auth_basic : option
    }
}
#endif
