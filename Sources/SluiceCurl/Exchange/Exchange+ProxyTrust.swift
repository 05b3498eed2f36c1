#if os(Linux)
import CCurl
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

extension Exchange {
    /// Sets who vouches for a proxy that is reached by TLS. A handle that trusts others than the system's authorities stays with its proxy.
    func setProxyTrust(_ trust: TLSConfiguration.Trust) {
        handle.set(CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        let defaults = SystemAuthorities.shared
        switch trust.form {
        case .system:
            // A new handle has them.
            guard defaults.isKnown else { return }
            let file = defaults.hasFile || defaults.directory == nil ? defaults.file : nil
            setProxyAuthorities(file: file, bytes: nil, directory: file == nil ? defaults.directory : nil)
        case .anyCertificate:
            handle.set(CURLOPT_PROXY_SSL_VERIFYPEER, 0)
            handle.set(CURLOPT_PROXY_SSL_VERIFYHOST, 0)
        case .only(.file(let path)):
            setProxyAuthorities(file: path, bytes: nil, directory: nil)
        case .only(.bytes(let pem)):
            setProxyAuthorities(file: nil, bytes: pem, directory: nil)
        case .systemAnd(let source):
            guard let all = defaults.adding(source) else { return handle.note(CURLE_SSL_CACERT_BADFILE) }
            setProxyAuthorities(file: nil, bytes: all, directory: defaults.directory)
        }
    }

    private func setProxyAuthorities(file: String?, bytes: Data?, directory: String?) {
        // What is kept of the system's is kept of these too.
        if file != SystemAuthorities.shared.file { handle.note(sluice_easy_keep_authorities(handle.raw, 0)) }
        handle.set(CURLOPT_PROXY_CAINFO, string: file)
        handle.set(CURLOPT_PROXY_CAPATH, string: directory)
        handle.set(CURLOPT_PROXY_CAINFO_BLOB, bytes: bytes)
    }
}
#endif
