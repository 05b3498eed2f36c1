#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP

@testable import SluiceEngine

/// A certificate and its key in PEM form, created by OpenSSL in this process.
struct TestCertificate: Sendable {
    struct Failure: Error {
        let reason: String
    }

    let name: String
    let certificate: Data
    let key: Data

    var source: CertificateSource { .bytes(certificate) }

    /// Creates a certificate for a new key.
    ///
    /// - Parameters:
    ///   - name: The common name.
    ///   - names: The alternative names, such as `DNS:localhost,IP:127.0.0.1`.
    ///   - days: The first and the last day of validity, relative to today.
    ///   - lifetime: The seconds of validity from now, in place of the last day.
    ///   - issuer: The issuer; nil for a self-signed certificate.
    ///   - isAuthority: True if the certificate may sign others.
    /// - Throws: The error text of OpenSSL.
    init(
        _ name: String,
        names: String? = nil,
        days: ClosedRange<Int> = -1...3,
        lifetime: Int? = nil,
        issuer: TestCertificate? = nil,
        isAuthority: Bool = false
    ) throws {
        let key = try TestCertificate.newKey()
        defer { EVP_PKEY_free(key) }
        let certificate = try TestCertificate.made(X509_new())
        defer { X509_free(certificate) }
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1...Int(Int32.max)))
        let now = time(nil)
        ASN1_TIME_set(X509_getm_notBefore(certificate), now + days.lowerBound * 86_400)
        ASN1_TIME_set(X509_getm_notAfter(certificate), now + (lifetime ?? days.upperBound * 86_400))
        X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, name, -1, -1, 0)
        X509_set_pubkey(certificate, key)
        if let names { try TestCertificate.add(NID_subject_alt_name, names, to: certificate) }
        if isAuthority { try TestCertificate.add(NID_basic_constraints, "critical,CA:TRUE", to: certificate) }
        if let issuer {
            let parent = try issuer.parsed()
            defer { X509_free(parent) }
            let signer = try issuer.parsedKey()
            defer { EVP_PKEY_free(signer) }
            X509_set_issuer_name(certificate, X509_get_subject_name(parent))
            X509_sign(certificate, signer, EVP_sha256())
        } else {
            X509_set_issuer_name(certificate, X509_get_subject_name(certificate))
            X509_sign(certificate, key, EVP_sha256())
        }
        self.name = name
        self.certificate = try TestCertificate.written { PEM_write_bio_X509($0, certificate) }
        self.key = try TestCertificate.written { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    /// Copies a certificate, and flips a bit of its signature, which is its last part.
    init(damaging other: TestCertificate) throws {
        let lines = String(decoding: other.certificate, as: UTF8.self).split(separator: "\n")
        let text = lines.dropFirst().dropLast().joined(separator: "")
        var bytes = try TestCertificate.made(Data(base64Encoded: text))
        bytes[bytes.count - 1] ^= 1
        let damaged = bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        name = other.name
        key = other.key
        certificate = Data("-----BEGIN CERTIFICATE-----\n\(damaged)\n-----END CERTIFICATE-----\n".utf8)
    }

    /// The pin of the certificate's key.
    var pin: PublicKeyPin {
        get throws {
            let certificate = try parsed()
            defer { X509_free(certificate) }
            return try TestCertificate.made(PublicKeyPin(of: certificate))
        }
    }

    func parsed() throws -> OpaquePointer {
        try TestCertificate.parsed(certificate) { PEM_read_bio_X509($0, nil, nil, nil) }
    }

    func parsedKey() throws -> OpaquePointer {
        try TestCertificate.parsed(key) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
    }

    /// The key, encrypted.
    func lockedKey(_ password: String) throws -> Data {
        let key = try parsedKey()
        defer { EVP_PKEY_free(key) }
        return try TestCertificate.written {
            PEM_write_bio_PKCS8PrivateKey($0, key, EVP_aes_256_cbc(), password, Int32(password.utf8.count), nil, nil)
        }
    }

    /// Returns the certificate and the key as PKCS #12.
    func bundle(_ password: String) throws -> Data {
        let key = try parsedKey()
        defer { EVP_PKEY_free(key) }
        let certificate = try parsed()
        defer { X509_free(certificate) }
        let bundle = try TestCertificate.made(
            PKCS12_create(password, "test", key, certificate, nil, 0, 0, 0, 0, 0)
        )
        defer { PKCS12_free(bundle) }
        return try TestCertificate.written { i2d_PKCS12_bio($0, bundle) }
    }

    private static func newKey() throws -> OpaquePointer {
        // As the engine does. With OpenSSL's own exit handler, a task that hashes something while the process exits would crash it.
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
        let context = try made(EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil))
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            EVP_PKEY_keygen(context, &key) == 1
        else { throw Failure(reason: OpenSSLError.takeMessage(or: "no key")) }
        return try made(key)
    }

    private static func add(_ kind: Int32, _ value: String, to certificate: OpaquePointer) throws {
        let piece = try made(X509V3_EXT_conf_nid(nil, nil, kind, value))
        defer { X509_EXTENSION_free(piece) }
        X509_add_ext(certificate, piece, -1)
    }

    private static func parsed(_ text: Data, _ parse: (OpaquePointer) -> OpaquePointer?) throws -> OpaquePointer {
        try text.withUnsafeBytes { bytes in
            let bio = try made(BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)))
            defer { BIO_free(bio) }
            return try made(parse(bio))
        }
    }

    private static func written(_ write: (OpaquePointer) -> Int32) throws -> Data {
        let bio = try made(BIO_new(BIO_s_mem()))
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { throw Failure(reason: OpenSSLError.takeMessage(or: "not written")) }
        var data = Data(count: Int(BIO_ctrl_pending(bio)))
        let count = data.withUnsafeMutableBytes { BIO_read(bio, $0.baseAddress, Int32($0.count)) }
        return data.prefix(Int(count))
    }

    private static func made<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Failure(reason: OpenSSLError.takeMessage(or: "nothing")) }
        return value
    }
}

/// The certificates that the TLS tests share.
struct TestCertificates: Sendable {
    static let shared = Result { try TestCertificates() }

    let root, middle, otherRoot, right, expired, early, wrongName, selfSigned, untrusted, chained, mapped, wild, client,
        untrustedClient: TestCertificate

    private init() throws {
        let names = "DNS:localhost"
        root = try TestCertificate("Root", isAuthority: true)
        middle = try TestCertificate("Middle", issuer: root, isAuthority: true)
        otherRoot = try TestCertificate("Other root", isAuthority: true)
        right = try TestCertificate("right", names: "\(names),IP:127.0.0.1,IP:::1", issuer: root)
        expired = try TestCertificate("expired", names: names, days: -30...(-20), issuer: root)
        early = try TestCertificate("early", names: names, days: 20...30, issuer: root)
        wrongName = try TestCertificate("localhost", names: "DNS:other.example,DNS:third.example", issuer: root)
        selfSigned = try TestCertificate("selfSigned", names: names)
        untrusted = try TestCertificate("untrusted", names: names, issuer: otherRoot)
        chained = try TestCertificate("chained", names: names, issuer: middle)
        mapped = try TestCertificate("mapped", names: "IP:::ffff:127.0.0.1", issuer: root)
        wild = try TestCertificate("wild", names: "DNS:*.wild.example,DNS:part*.example", issuer: root)
        client = try TestCertificate("client", issuer: root)
        untrustedClient = try TestCertificate("untrustedClient", issuer: otherRoot)
    }
}

/// A folder that is removed when it is deallocated.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "sluice-tls-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Replaces a file atomically, as tools that renew certificates do.
    @discardableResult
    func put(_ contents: Data, at name: String) throws -> String {
        try contents.write(to: URL(filePath: "\(path)/\(name)"), options: .atomic)
        return "\(path)/\(name)"
    }
}
#endif
