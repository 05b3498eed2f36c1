import SluiceHTTP

extension ConnectionOptions {
    /// Rejects options that `URLSession` would ignore.
    ///
    /// - Throws: ``SluiceError/Code/unsupported``, or the errors of computing the connection plan.
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
        // `URLSession` applies the system's proxy settings in place of the environment's.
        if !proxy.isProcessEnvironment { return "its proxies" }
        if !plan.hostAddresses.isEmpty { return "the addresses of hosts" }
        if plan.httpVersion != .automatic { return "the version of HTTP" }
        if plan.addresses != .any { return "which addresses it may connect to" }
        return nil
    }
}
