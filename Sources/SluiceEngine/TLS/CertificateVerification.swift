#if os(Linux)
import CSSL
import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// The result of verifying the certificates of one connection.
struct CertificateVerification {
    /// The maximum time for which a verification is valid for resumed sessions.
    private static let maximumAge: Int64 = 86_400

    /// The first failed check: its OpenSSL error code and the certificate.
    private(set) var finding: (code: Int32, certificate: CertificateSummary)?

    /// Called by OpenSSL for each certificate in a chain, and for each failed check.
    ///
    /// The stream is found through the SSL object, because connections share the context.
    static let callback: @convention(c) (Int32, OpaquePointer?) -> Int32 = { isAccepted, verification in
        guard isAccepted != 1, let verification else { return isAccepted }
        guard let stream = TLSStream.of(sluice_tls_connection(verification)) else { return 0 }
        let code = openSSL.X509_STORE_CTX_get_error(verification)
        let certificate = openSSL.X509_STORE_CTX_get_current_cert(verification)
        if code == X509_V_ERR_IP_ADDRESS_MISMATCH, let certificate,
            stream.identity?.isNamedByMappedAddress(in: certificate) == true
        {
            openSSL.X509_STORE_CTX_set_error(verification, X509_V_OK)
            return 1
        }
        if let certificate {
            let depth = Int(openSSL.X509_STORE_CTX_get_error_depth(verification))
            stream.verification.record(code, CertificateSummary(certificate, depth: depth))
        }
        return 0
    }

    private mutating func record(_ code: Int32, _ certificate: CertificateSummary) {
        if finding == nil { finding = (code, certificate) }
    }

    /// Returns the failure for the first failed check, or nil if there is none.
    func failure(for identity: ServerIdentity?) -> TLSFailure? {
        guard let finding else { return nil }
        let check = TLSFailure.Check(finding: finding.code)
        let message = openSSL.X509_verify_cert_error_string(Int(finding.code)).map { String(cString: $0) } ?? ""
        let detail =
            check == .hostName
            ? "no alternative certificate subject name matches “\(identity.map(\.description) ?? "")”" : message
        return TLSFailure(check, on: finding.certificate, detail: detail)
    }

    /// Returns the server's certificate, also for a resumed session.
    static func ownCertificate(of connection: OpaquePointer) -> CertificateSummary? {
        guard let certificate = openSSL.SSL_get1_peer_certificate(connection) else { return nil }
        defer { openSSL.X509_free(certificate) }
        return CertificateSummary(certificate, depth: 0)
    }

    /// Returns true if a key in the verified chain is pinned. If any certificate is accepted, only the server's own key is checked.
    static func satisfies(_ pins: PublicKeyPins, _ connection: OpaquePointer, hasVerified: Bool) -> Bool {
        if hasVerified {
            return (0..<sluice_tls_chain_count(connection)).contains { position in
                guard let certificate = sluice_tls_chain_certificate(connection, position),
                    let pin = PublicKeyPin(of: certificate)
                else { return false }
                return pins.pins.contains(pin)
            }
        }
        guard let certificate = openSSL.SSL_get1_peer_certificate(connection) else { return false }
        defer { openSSL.X509_free(certificate) }
        return PublicKeyPin(of: certificate).map(pins.pins.contains) ?? false
    }

    /// Returns the time, in seconds since 1970, until which a chain verified now is valid for resumed sessions: the earliest expiration of
    /// its certificates, and at most one day.
    static func end(for connection: OpaquePointer, hasVerified: Bool) -> Int64 {
        let limit = Int64(time(nil)) + maximumAge
        guard hasVerified else { return limit }
        return (0..<sluice_tls_chain_count(connection)).reduce(limit) { limit, position in
            var seconds: Int64 = 0
            guard let certificate = sluice_tls_chain_certificate(connection, position),
                sluice_tls_seconds(openSSL.X509_get0_notAfter(certificate), &seconds) == 1
            else { return 0 }
            return min(limit, seconds)
        }
    }
}

// MARK: - Certificate summary

extension CertificateSummary {
    /// Creates a summary of an OpenSSL certificate. The certificate is untrusted, so its texts are shortened and made printable.
    package init(_ certificate: OpaquePointer, depth: Int) {
        self.init(
            subject: CertificateSummary.name(openSSL.X509_get_subject_name(certificate)),
            issuer: CertificateSummary.name(openSSL.X509_get_issuer_name(certificate)),
            names: depth == 0 ? CertificateSummary.names(of: certificate) : [],
            validFrom: CertificateSummary.date(openSSL.X509_get0_notBefore(certificate)),
            validUntil: CertificateSummary.date(openSSL.X509_get0_notAfter(certificate)),
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

// MARK: - Server identity

/// The name or address that a server's certificate must match (RFC 9525 §6, RFC 9110 §4.3.4).
enum ServerIdentity: Sendable, Hashable {
    /// A name in lower case, without a trailing dot.
    case name(String)
    case address(IPAddress)

    /// Creates the identity for the host of a URL, or returns nil if no certificate can match the host.
    ///
    /// - Parameter host: A name, or an address with or without brackets and zone.
    init?(host: String) {
        var text = host.lowercased()
        if text.utf8.first == UInt8(ascii: "[") {
            guard text.utf8.last == UInt8(ascii: "]") else { return nil }
            text = String(text.dropFirst().dropLast())
        }
        if text.utf8.contains(UInt8(ascii: ":")) { text = String(text.prefix { $0 != "%" }) }
        if text.utf8.last == UInt8(ascii: ".") { text.removeLast() }
        if let address = IPAddress(text) {
            self = .address(address.mapped ?? address)
            return
        }
        // OpenSSL treats a leading dot as a match for all subdomains, and an empty name as a match for any name.
        let isName = text.utf8.allSatisfy {
            $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "*")
        }
        guard isName, !text.isEmpty, text.utf8.count <= 253, text.utf8.first != UInt8(ascii: ".") else { return nil }
        self = .name(text)
    }

    /// The name for the server name indication (RFC 6066 §3). Nil for addresses, which are not sent.
    var serverNameIndication: String? {
        if case .name(let name) = self { name } else { nil }
    }

    /// Configures OpenSSL to verify the identity together with the chain. Returns false on failure.
    func configureVerification(of connection: OpaquePointer) -> Bool {
        guard let parameters = openSSL.SSL_get0_param(connection) else { return false }
        switch self {
        case .name(let name):
            openSSL.X509_VERIFY_PARAM_set_hostflags(
                parameters,
                UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
            )
            return openSSL.X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count) == 1
        case .address(let address):
            let bytes = address.bytes
            return openSSL.X509_VERIFY_PARAM_set1_ip(parameters, bytes, bytes.count) == 1
        }
    }

    /// Returns true if a certificate contains the IPv4-mapped form of the address (RFC 4291 §2.5.5.2), which OpenSSL does not compare.
    func isNamedByMappedAddress(in certificate: OpaquePointer) -> Bool {
        guard case .address(let address) = self, address.isIPv4 else { return false }
        let bytes = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + address.bytes
        return openSSL.X509_check_ip(certificate, bytes, bytes.count, 0) == 1
    }
}

extension ServerIdentity: CustomStringConvertible {
    var description: String {
        switch self {
        case .name(let name): name
        case .address(let address): address.description
        }
    }
}
#endif
