import SluiceHTTP

/// A connection option that `URLSession` would ignore.
enum UnsupportedOption: String, CaseIterable, Sendable {
    case pins = "pinned keys"
    case trust = "custom TLS trust"
    case clientCertificate = "a client certificate"
    case minimumTLSVersion = "a minimum TLS version"
    case unixSocket = "a unix-domain socket"
    case proxies = "proxies"
    case hostAddresses = "addresses for hosts"
    case httpVersion = "an HTTP version"
    case addressPolicy = "an address policy"

    /// True where `SocketTransport` exists, which supports all options.
    static var hasSocketTransport: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// The way to the same effect.
    ///
    /// - Parameter hasSocketTransport: True if the program can use `SocketTransport`.
    /// - Returns: A sentence.
    func advice(hasSocketTransport: Bool = UnsupportedOption.hasSocketTransport) -> String {
        if hasSocketTransport { return "Use SocketTransport." }
        return switch self {
        case .pins: "List the keys under NSAppTransportSecurity, NSPinnedDomains, in the app's Info.plist."
        case .trust:
            "Install the authority on the device, with a profile or in the keychain, or list its key under NSAppTransportSecurity, NSPinnedDomains, in the app's Info.plist."
        case .clientCertificate:
            "Send such requests by a Transport of your own on a URLSession whose delegate presents the certificate."
        case .minimumTLSVersion:
            "Pass URLSessionTransport a URLSessionConfiguration with tlsMinimumSupportedProtocolVersion."
        case .proxies: "Pass URLSessionTransport a URLSessionConfiguration with connectionProxyDictionary."
        case .httpVersion: "Leave httpVersion at .automatic: URLSession uses HTTP/2 or HTTP/3 where the server has it."
        case .unixSocket, .hostAddresses, .addressPolicy:
            "Only SocketTransport on Linux has this option. Leave it out on this platform."
        }
    }
}

extension ConnectionOptions {
    /// Rejects options that `URLSession` would ignore.
    ///
    /// - Throws: ``SluiceError/Code/unsupported``, or the errors of computing the connection plan.
    func checkSupport(for origin: HTTPOrigin) throws(SluiceError) {
        let plan = try plan(for: origin)
        guard plan !== ConnectionPlan.standard, let option = unsupportedOption(of: plan) else { return }
        throw SluiceError(.unsupported, "URLSession cannot be configured with \(option.rawValue). \(option.advice())")
    }

    private func unsupportedOption(of plan: ConnectionPlan) -> UnsupportedOption? {
        if plan.tls.pins != nil { return .pins }
        if plan.tls.trust != .system { return .trust }
        if plan.tls.clientCertificate != nil { return .clientCertificate }
        if plan.tls.minimumVersion != .tls12 { return .minimumTLSVersion }
        if plan.unixSocket != nil { return .unixSocket }
        // `URLSession` applies the system's proxy settings in place of the environment's.
        if !proxy.isProcessEnvironment { return .proxies }
        if !plan.hostAddresses.isEmpty { return .hostAddresses }
        if plan.httpVersion != .automatic { return .httpVersion }
        if plan.addresses != .any { return .addressPolicy }
        return nil
    }
}
