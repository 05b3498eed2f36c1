#if os(Linux)
import SluiceFoundation
import CSSL
import SluiceHTTP

extension CertificateSummary {
    /// Creates a summary of an OpenSSL certificate. The certificate is untrusted, so its texts are shortened and made printable.
    package init(_ certificate: OpaquePointer, depth: Int) {
        self.init(
            subject: CertificateSummary.name(X509_get_subject_name(certificate)),
            issuer: CertificateSummary.name(X509_get_issuer_name(certificate)),
            names: depth == 0 ? CertificateSummary.names(of: certificate) : [],
            validFrom: CertificateSummary.date(X509_get0_notBefore(certificate)),
            validUntil: CertificateSummary.date(X509_get0_notAfter(certificate)),
            publicKey: PublicKeyPin(of: certificate),
            depth: depth
        )
    }

    private static func name(_ name: OpaquePointer?) -> String {
        guard let name else { return "" }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            guard let start = text.baseAddress else { return "" }
            sluice_tls_name(name, start, Int32(text.count))
            return printable(UnsafeRawBufferPointer(start: start, count: strnlen(start, text.count)))
        }
    }

    private static func names(of certificate: OpaquePointer) -> [String] {
        var names: [String] = []
        withUnsafeMutablePointer(to: &names) { names in
            sluice_tls_alternative_names(certificate, names) { names, kind, bytes, count in
                guard let names = names?.assumingMemoryBound(to: [String].self), names.pointee.count < 64 else {
                    return
                }
                let bytes = UnsafeRawBufferPointer(start: bytes, count: Int(count))
                if kind == 0 {
                    names.pointee.append(CertificateSummary.printable(bytes))
                } else if let address = IPAddress(bytes: bytes) {
                    names.pointee.append(address.description)
                }
            }
        }
        return names
    }

    private static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date? {
        var seconds: Int64 = 0
        return sluice_tls_seconds(time, &seconds) == 1 ? Date(timeIntervalSince1970: Double(seconds)) : nil
    }

    /// Returns a text without line breaks and other control characters.
    fileprivate static func printable(_ bytes: UnsafeRawBufferPointer) -> String {
        String(String(decoding: bytes.prefix(255), as: UTF8.self).unicodeScalars.filter { !$0.properties.isControl })
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isControl: Bool {
        switch generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension PublicKeyPin {
    /// Creates the pin of a certificate's public key, or returns nil if the key cannot be read.
    package init?(of certificate: OpaquePointer) {
        var digest = [UInt8](repeating: 0, count: 32)
        guard sluice_tls_key_digest(certificate, &digest) == 1 else { return nil }
        self.init(sha256: Data(digest))
    }
}
#endif
