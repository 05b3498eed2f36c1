import SluiceFoundation

/// The location of certificates or keys.
public enum CertificateSource: Sendable, Hashable {
    /// The path of a file, which is read when a connection is made.
    case file(String)
    /// Bytes in memory.
    case bytes(Data)

    /// A file, which is read when a connection is made.
    ///
    /// - Parameter url: The URL of the file. The path of any other URL is used too.
    /// - Returns: The location of the file.
    public static func file(_ url: URL) -> CertificateSource { .file(url.path) }

    /// PEM text in memory.
    public static func pem(_ text: String) -> CertificateSource { .bytes(Data(text.utf8)) }
}

extension CertificateSource: CustomStringConvertible, CustomReflectable {
    /// The file's path, or the number of bytes. The bytes are omitted, since they may be a key.
    public var description: String {
        switch self {
        case .file(let path): path
        case .bytes(let data): "\(data.count) bytes"
        }
    }

    /// The description only.
    public var customMirror: Mirror { Mirror(self, children: ["source": description]) }
}

/// A certificate and its key, which a client presents to servers that request client authentication.
public struct ClientCertificate: Sendable, Hashable {
    package enum Form: Sendable, Hashable {
        case pem(certificate: CertificateSource, key: CertificateSource)
        case pkcs12(CertificateSource)
    }

    package let form: Form
    package let password: Secret?

    /// Creates a client certificate from PEM (RFC 7468), the usual format of certificate authorities.
    ///
    /// - Parameters:
    ///   - certificate: The client's certificate, followed by intermediate certificates that the server may not have.
    ///   - key: The certificate's private key.
    ///   - password: The password that the key is encrypted with, a `String` or a ``Secret``; nil if it is not encrypted.
    /// - Returns: A client certificate.
    public static func pem(
        certificate: CertificateSource,
        key: CertificateSource,
        password: (any SecretConvertible)? = nil
    ) -> ClientCertificate {
        ClientCertificate(form: .pem(certificate: certificate, key: key), password: password?.asSecret())
    }

    /// Creates a client certificate from PKCS #12 (RFC 7292), a `.p12` or `.pfx` file with certificate and key.
    ///
    /// - Parameters:
    ///   - source: The file or its bytes.
    ///   - password: The password that it is encrypted with, a `String` or a ``Secret``.
    /// - Returns: A client certificate.
    public static func pkcs12(_ source: CertificateSource, password: some SecretConvertible) -> ClientCertificate {
        ClientCertificate(form: .pkcs12(source), password: password.asSecret())
    }
}

extension ClientCertificate: CustomStringConvertible, CustomReflectable {
    /// The location of the certificate, without the password.
    public var description: String {
        switch form {
        case .pem(let certificate, _): "client certificate in \(certificate)"
        case .pkcs12(let source): "client certificate in \(source)"
        }
    }

    /// The description only.
    public var customMirror: Mirror { Mirror(self, children: ["source": description]) }
}
