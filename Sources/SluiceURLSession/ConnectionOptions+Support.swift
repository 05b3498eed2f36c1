import SluiceHTTP

extension ConnectionOptions {
    /// Refuses what `URLSession` would do without.
    ///
    /// - Throws: ``SluiceError/Code/unsupported``, and what making a plan throws.
    func checkSupport(for origin: HTTPOrigin) throws(SluiceError) {
        let plan = try plan(for: origin)
        guard plan !== ConnectionPlan.standard, let what = unsupportedPart(of: plan) else { return }
        throw SluiceError(.unsupported, "URLSession does not let a client choose \(what); SocketTransport does.")
    }

    private func unsupportedPart(of plan: ConnectionPlan) -> String? {
        if plan.tls.pins != nil { return "the keys that servers must have" }
        if plan.tls.trust != .system { return "whom it trusts over TLS" }
        if plan.tls.clientCertificate != nil { return "a certificate to show" }
        if plan.tls.minimumVersion != .tls12 { return "the oldest version of TLS" }
        if plan.unixSocket != nil { return "a unix-domain socket" }
        // The environment's proxy is what the system makes of it.
        if !proxy.isProcessEnvironment { return "its proxies" }
        if !plan.hostAddresses.isEmpty { return "the addresses of hosts" }
        if plan.httpVersion != .automatic { return "the version of HTTP" }
        if plan.addresses != .any { return "which addresses it may connect to" }
        return nil
    }
}
