#if os(Linux)
import CCurl
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

extension Exchange {
    /// Sets whom the handle trusts and what it shows of itself. What a further plan might leave as it is is set all the same.
    func setTLS(_ tls: TLSConfiguration) {
        setTrust(tls.trust)
        let version = tls.minimumVersion == .tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2
        handle.set(CURLOPT_SSLVERSION, version)
        // A session that is resumed shows no certificates to check.
        handle.set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        setCertificate(tls.clientCertificate)
    }

    private func setTrust(_ trust: TLSConfiguration.Trust) {
        let checks = trust != .insecurelyAnyCertificate
        handle.set(CURLOPT_SSL_VERIFYPEER, checks ? 1 : 0)
        handle.set(CURLOPT_SSL_VERIFYHOST, checks ? 2 : 0)
        let defaults = SystemAuthorities.shared
        switch trust.form {
        case .system, .anyCertificate:
            // A new handle has them.
            guard defaults.isKnown else { return }
            let keeps = defaults.hasFile && checks
            setAuthorities(
                file: keeps || defaults.directory == nil ? defaults.file : nil,
                bytes: nil,
                directory: keeps ? nil : defaults.directory
            )
        case .only(.file(let path)):
            setAuthorities(file: path, bytes: nil, directory: nil)
        case .only(.bytes(let pem)):
            setAuthorities(file: nil, bytes: pem, directory: nil)
        case .systemAnd(let source):
            guard let all = defaults.adding(source) else { return handle.note(CURLE_SSL_CACERT_BADFILE) }
            setAuthorities(file: nil, bytes: all, directory: defaults.directory)
        }
    }

    private func setAuthorities(file: String?, bytes: Data?, directory: String?) {
        if !SystemAuthorities.shared.isKnown { hasLostDefaults = true }
        // One that was taken out of a file of one's own is trusted no more; the system's are kept for a day.
        let isSystems = file == SystemAuthorities.shared.file && bytes == nil && directory == nil
        handle.note(sluice_easy_keep_authorities(handle.raw, isSystems ? 86_400 : 0))
        handle.set(CURLOPT_CAINFO, string: file)
        handle.set(CURLOPT_CAPATH, string: directory)
        handle.set(CURLOPT_CAINFO_BLOB, bytes: bytes)
    }

    private func setCertificate(_ certificate: ClientCertificate?) {
        var type = "PEM"
        var source: CertificateSource?
        var key: CertificateSource?
        switch certificate?.form {
        case .pem(let ownSource, let ownKey):
            source = ownSource
            key = ownKey
        case .pkcs12(let ownSource):
            source = ownSource
            type = "P12"
        case nil: break
        }
        handle.set(CURLOPT_SSLCERTTYPE, string: type)
        handle.set(CURLOPT_SSLCERT, string: source?.path)
        handle.set(CURLOPT_SSLCERT_BLOB, bytes: source?.bytes)
        handle.set(CURLOPT_SSLKEY, string: key?.path)
        handle.set(CURLOPT_SSLKEY_BLOB, bytes: key?.bytes)
        // Without any OpenSSL would ask the terminal, on the engine's thread.
        handle.set(CURLOPT_KEYPASSWD, string: certificate.map { $0.password?.reveal() ?? "" })
    }
}

extension CertificateSource {
    fileprivate var path: String? {
        if case .file(let path) = self { path } else { nil }
    }

    fileprivate var bytes: Data? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }
}
#endif
