#if os(Linux)
import CSSL
import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// A client certificate with its private key and intermediate certificates, as OpenSSL objects.
///
/// It exists only while a context is prepared. The context takes its own references.
struct ClientIdentity: ~Copyable {
    private let certificate: OpaquePointer
    private let key: OpaquePointer
    private let chain: [OpaquePointer]
    /// The files from which the identity was read.
    let files: [FileIdentity]

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
            openSSL.ERR_clear_error()
            var position = bytes.baseAddress
            return openSSL.d2i_PKCS12(nil, &position, bytes.count)
        }
        guard let bundle else {
            throw file.unreadable(OpenSSLError.takeMessage(or: "the data is not in PKCS #12 format"))
        }
        defer { openSSL.PKCS12_free(bundle) }
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        let isRead = openSSL.PKCS12_parse(bundle, password?.reveal() ?? "", &key, &certificate, &others) == 1
        let chain = (0..<sluice_tls_certificate_count(others)).compactMap { position in
            sluice_tls_certificate(others, position).flatMap { openSSL.X509_up_ref($0) == 1 ? $0 : nil }
        }
        sluice_tls_free_certificates(others)
        guard isRead, let key, let certificate else {
            openSSL.EVP_PKEY_free(key)
            openSSL.X509_free(certificate)
            CertificateFile.free(chain)
            let message = OpenSSLError.takeMessage(or: "the certificate or the key is missing")
            // OpenSSL 3 reads RC2 and single DES, which older programs use for these files, only with its legacy provider.
            let advice = message == "unsupported" ? " encryption; encrypt the file again with AES-256" : ""
            throw file.unreadable(message + advice)
        }
        openSSL.ERR_clear_error()
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
            openSSL.ERR_clear_error()
            guard let start = bytes.baseAddress, let count = Int32(exactly: bytes.count),
                let bio = openSSL.BIO_new_mem_buf(start, count)
            else { return nil }
            defer { _ = openSSL.BIO_free(bio) }
            var password = Array((password?.reveal() ?? "").utf8)
            defer { for index in password.indices { password[index] = 0 } }
            return withUnsafeMutablePointer(to: &password) { password in
                openSSL.PEM_read_bio_PrivateKey(
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
        openSSL.ERR_clear_error()
        return key
    }

    deinit {
        openSSL.EVP_PKEY_free(key)
        openSSL.X509_free(certificate)
        CertificateFile.free(chain)
    }

    /// Configures a context to present the certificate to servers that request one.
    func install(in context: OpaquePointer) throws(TLSFailure) {
        openSSL.ERR_clear_error()
        guard openSSL.SSL_CTX_use_certificate(context, certificate) == 1,
            openSSL.SSL_CTX_use_PrivateKey(context, key) == 1,
            openSSL.SSL_CTX_check_private_key(context) == 1,
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

// MARK: - Certificate file

/// The identity of a file's contents and permissions: a change of them changes at least one of the values.
struct FileIdentity: Sendable, Hashable {
    let path: String
    private let device: UInt
    private let inode: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int
    /// The time of the last change of the contents or the permissions.
    private let changedSeconds: Int
    private let changedNanoseconds: Int

    /// Returns the identity of the file at a path, or nil if there is none.
    init?(at path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(path, status)
    }

    fileprivate init(_ path: String, _ status: stat) {
        self.path = path
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
        size = Int(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
        changedSeconds = status.st_ctim.tv_sec
        changedNanoseconds = status.st_ctim.tv_nsec
    }

    /// True if the file at the path is still the same, according to its metadata.
    var isCurrent: Bool { FileIdentity(at: path) == self }
}

/// The contents of a certificate source and, for a file, its identity.
struct CertificateFile {
    /// The maximum size of a file, well above any collection of authorities.
    private static let maximumSize = 32 << 20

    let contents: [UInt8]
    let identity: FileIdentity?

    /// A source that cannot be read or decoded.
    struct Unreadable: Error {
        /// The path, if there is one, and the cause.
        let reason: String
        /// True for a cause that may soon end, such as a lack of descriptors.
        var isTransient = false
    }

    init(_ source: CertificateSource) throws(Unreadable) {
        switch source {
        case .bytes(let bytes):
            self.init(contents: Array(bytes), identity: nil)
        case .file(let path):
            try self.init(path)
        }
    }

    private init(contents: [UInt8], identity: FileIdentity?) {
        self.contents = contents
        self.identity = identity
    }

    init(_ path: String) throws(Unreadable) {
        // The system would cut such a path off at the NUL.
        if path.utf8.contains(0) { throw Unreadable(reason: "\(path): its path contains a NUL character") }
        // A pipe without a writer does not hold the thread.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw CertificateFile.unreadable(path, errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw CertificateFile.unreadable(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Unreadable(reason: "\(path): it is not a regular file") }
        var contents: [UInt8] = []
        var chunk = max(4096, min(Int(status.st_size), CertificateFile.maximumSize - 1) + 1)
        while true {
            guard contents.count <= CertificateFile.maximumSize else {
                throw CertificateFile.unreadable(path, EFBIG)
            }
            var failure: Int32 = 0
            let piece = [UInt8](unsafeUninitializedCapacity: chunk) { room, count in
                let received = SluiceLibc.read(descriptor, room.baseAddress, room.count)
                if received < 0 { failure = errno }
                count = max(0, received)
            }
            if failure == EINTR { continue }
            guard failure == 0 else { throw CertificateFile.unreadable(path, failure) }
            if piece.isEmpty { break }
            contents += piece
            chunk = 1 << 16
        }
        self.contents = contents
        identity = FileIdentity(path, status)
    }

    static func unreadable(_ path: String, _ number: Int32) -> Unreadable {
        Unreadable(
            reason: "\(path): \(String(cString: strerror(number)).lowercased())",
            isTransient: [EAGAIN, EINTR, EIO, EMFILE, ENFILE, ENOBUFS, ENOMEM, ESTALE, ETIMEDOUT].contains(number)
        )
    }

    /// Parses the certificates of a PEM text (RFC 7468). The caller frees them with ``free(_:)``.
    ///
    /// - Throws: The message of OpenSSL if a certificate cannot be parsed or there is none.
    func certificates() throws(Unreadable) -> [OpaquePointer] {
        var certificates: [OpaquePointer] = []
        let reason = contents.withUnsafeBytes { bytes -> String? in
            openSSL.ERR_clear_error()
            guard let start = bytes.baseAddress, let count = Int32(exactly: bytes.count) else {
                return "there is no certificate in PEM format"
            }
            guard let bio = openSSL.BIO_new_mem_buf(start, count) else {
                return OpenSSLError.takeMessage(or: "out of memory")
            }
            defer { _ = openSSL.BIO_free(bio) }
            while let certificate = openSSL.PEM_read_bio_X509_AUX(bio, nil, refusePassword, nil) {
                certificates.append(certificate)
            }
            let end = openSSL.ERR_peek_last_error()
            if sluice_tls_is_end_of_pem(end) != 0, !certificates.isEmpty {
                openSSL.ERR_clear_error()
                return nil
            }
            return sluice_tls_is_end_of_pem(end) != 0
                ? "there is no certificate in PEM format" : OpenSSLError.takeMessage(or: "no certificate can be read")
        }
        if let reason {
            openSSL.ERR_clear_error()
            CertificateFile.free(certificates)
            throw unreadable(reason)
        }
        return certificates
    }

    /// Returns the error for contents that cannot be decoded.
    func unreadable(_ reason: String) -> Unreadable {
        Unreadable(reason: identity.map { "\($0.path): \(reason)" } ?? reason)
    }

    static func free(_ certificates: [OpaquePointer]) {
        for certificate in certificates { openSSL.X509_free(certificate) }
    }
}

/// Supplies no password to OpenSSL. Without a callback, OpenSSL would prompt on the terminal.
private let refusePassword:
    @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
        _,
        _,
        _,
        _ in -1
    }
#endif
