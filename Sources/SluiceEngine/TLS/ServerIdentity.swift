#if os(Linux)
import CSSL
import SluiceHTTP

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
        guard let parameters = SSL_get0_param(connection) else { return false }
        switch self {
        case .name(let name):
            X509_VERIFY_PARAM_set_hostflags(
                parameters,
                UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
            )
            return X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count) == 1
        case .address(let address):
            let bytes = address.bytes
            return X509_VERIFY_PARAM_set1_ip(parameters, bytes, bytes.count) == 1
        }
    }

    /// Returns true if a certificate contains the IPv4-mapped form of the address (RFC 4291 §2.5.5.2), which OpenSSL does not compare.
    func isNamedByMappedAddress(in certificate: OpaquePointer) -> Bool {
        guard case .address(let address) = self, address.isIPv4 else { return false }
        let bytes = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + address.bytes
        return X509_check_ip(certificate, bytes, bytes.count, 0) == 1
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
