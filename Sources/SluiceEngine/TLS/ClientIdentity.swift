#if os(Linux)
import SluiceFoundation
import CSSL
import SluiceHTTP

/// A client certificate with its private key and intermediate certificates, as OpenSSL objects.
///
/// It exists only while a context is prepared. The context takes its own references.
struct ClientIdentity: ~Copyable {
    private let certificate: OpaquePointer
    private let key: OpaquePointer
    private let chain: [OpaquePointer]
    /// The files from which the identity was read.
    let files: [FileIdentity]

    /// Reads a client certificate.
    init(_ source: ClientCertificate) throws(TLSFailure) {
        do throws(CertificateFile.Unreadable) {
            switch source.form {
            case .pem(let certificate, let key):
                try self.init(certificate, key: key, password: source.password)
            case .pkcs12(let bundle):
                try self.init(bundle: bundle, password: source.password)
            }
        } catch {
            throw TLSFailure(.clientCertificateUnreadable, detail: error.reason)
        }
    }

    private init(
        _ source: CertificateSource,
        key keySource: CertificateSource,
        password: Secret?
    ) throws(CertificateFile.Unreadable) {
        let file = try CertificateFile(source)
        let keyFile = try CertificateFile(keySource)
        let certificates = try file.certificates()
        do throws(CertificateFile.Unreadable) {
            key = try ClientIdentity.key(in: keyFile, password: password)
        } catch {
            CertificateFile.free(certificates)
            throw error
        }
        // `certificates()` returns at least one.
        certificate = certificates[0]
        chain = Array(certificates.dropFirst())
        files = [file.identity, keyFile.identity].compactMap(\.self)
    }

    private init(bundle source: CertificateSource, password: Secret?) throws(CertificateFile.Unreadable) {
        let file = try CertificateFile(source)
        let bundle = file.contents.withUnsafeBufferPointer { bytes in
            ERR_clear_error()
            var position = bytes.baseAddress
            return d2i_PKCS12(nil, &position, bytes.count)
        }
        guard let bundle else {
            throw file.unreadable(OpenSSLError.takeMessage(or: "the data is not in PKCS #12 format"))
        }
        defer { PKCS12_free(bundle) }
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        let isRead = PKCS12_parse(bundle, password?.reveal() ?? "", &key, &certificate, &others) == 1
        let chain = (0..<sluice_tls_certificate_count(others)).compactMap { position in
            sluice_tls_certificate(others, position).flatMap { X509_up_ref($0) == 1 ? $0 : nil }
        }
        sluice_tls_free_certificates(others)
        guard isRead, let key, let certificate else {
            EVP_PKEY_free(key)
            X509_free(certificate)
            CertificateFile.free(chain)
            throw file.unreadable(OpenSSLError.takeMessage(or: "the certificate or the key is missing"))
        }
        ERR_clear_error()
        self.key = key
        self.certificate = certificate
        self.chain = chain
        files = [file.identity].compactMap(\.self)
    }

    private static func key(
        in file: CertificateFile,
        password: Secret?
    ) throws(CertificateFile.Unreadable) -> OpaquePointer {
        let key = file.contents.withUnsafeBytes { bytes -> OpaquePointer? in
            ERR_clear_error()
            guard let start = bytes.baseAddress, let count = Int32(exactly: bytes.count),
                let bio = BIO_new_mem_buf(start, count)
            else { return nil }
            defer { BIO_free(bio) }
            var password = Array((password?.reveal() ?? "").utf8)
            defer { for index in password.indices { password[index] = 0 } }
            return withUnsafeMutablePointer(to: &password) { password in
                PEM_read_bio_PrivateKey(
                    bio,
                    nil,
                    { room, count, _, password in
                        // Without a callback, OpenSSL would prompt on the terminal.
                        guard let password = password?.assumingMemoryBound(to: [UInt8].self).pointee, let room,
                            password.count <= Int(count)
                        else { return -1 }
                        password.withUnsafeBytes { UnsafeMutableRawPointer(room).copyMemory(from: $0) }
                        return Int32(password.count)
                    },
                    password
                )
            }
        }
        guard let key else {
            throw file.unreadable(OpenSSLError.takeMessage(or: "no private key can be read"))
        }
        ERR_clear_error()
        return key
    }

    deinit {
        EVP_PKEY_free(key)
        X509_free(certificate)
        CertificateFile.free(chain)
    }

    /// Configures a context to present the certificate to servers that request one.
    func install(in context: OpaquePointer) throws(TLSFailure) {
        ERR_clear_error()
        guard SSL_CTX_use_certificate(context, certificate) == 1, SSL_CTX_use_PrivateKey(context, key) == 1,
            SSL_CTX_check_private_key(context) == 1,
            chain.allSatisfy({ sluice_tls_add_chain_certificate(context, $0) == 1 })
        else {
            let message = OpenSSLError.takeMessage(or: "the certificate and the key do not match")
            throw TLSFailure(.clientCertificateUnreadable, detail: message)
        }
    }
}

extension UnsafeMutableRawPointer {
    fileprivate func copyMemory(from bytes: UnsafeRawBufferPointer) {
        if let start = bytes.baseAddress { copyMemory(from: start, byteCount: bytes.count) }
    }
}
#endif
