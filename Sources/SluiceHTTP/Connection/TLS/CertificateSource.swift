#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where certificates or keys are.
public enum CertificateSource: Sendable, Hashable {
    /// In a file, which is read when a connection is made.
    case file(String)
    /// Here.
    case bytes(Data)

    /// Here, as PEM text.
    public static func pem(_ text: String) -> CertificateSource { .bytes(Data(text.utf8)) }
}

extension CertificateSource: CustomStringConvertible, CustomReflectable {
    /// The file's path, or how many bytes there are: what is here may be a key.
    public var description: String {
        switch self {
        case .file(let path): path
        case .bytes(let data): "\(data.count) bytes"
        }
    }

    /// Nothing of what is here.
    public var customMirror: Mirror { Mirror(self, children: ["source": description]) }
}

/// What a client shows a server that asks who it is: a certificate, and its key.
public struct ClientCertificate: Sendable, Hashable {
    package enum Form: Sendable, Hashable {
        case pem(certificate: CertificateSource, key: CertificateSource)
        case pkcs12(CertificateSource)
    }

    package let form: Form
    package let password: Secret?

    /// PEM (RFC 7468), as most authorities give it.
    ///
    /// - Parameters:
    ///   - certificate: The client's certificate and behind it those of authorities that the server may not know.
    ///   - key: Its key.
    ///   - password: What the key is encrypted with; nil where it is not.
    /// - Returns: What a client can show.
    public static func pem(
        certificate: CertificateSource,
        key: CertificateSource,
        password: Secret? = nil
    ) -> ClientCertificate {
        ClientCertificate(form: .pem(certificate: certificate, key: key), password: password)
    }

    /// PKCS #12 (RFC 7292), a `.p12` or `.pfx` file with certificate and key.
    ///
    /// - Parameters:
    ///   - source: The file or its bytes.
    ///   - password: What it is encrypted with.
    /// - Returns: What a client can show.
    public static func pkcs12(_ source: CertificateSource, password: Secret) -> ClientCertificate {
        ClientCertificate(form: .pkcs12(source), password: password)
    }
}

extension ClientCertificate: CustomStringConvertible, CustomReflectable {
    /// Where it is; never the password.
    public var description: String {
        switch form {
        case .pem(let certificate, _): "client certificate in \(certificate)"
        case .pkcs12(let source): "client certificate in \(source)"
        }
    }

    /// Where it is; never the password.
    public var customMirror: Mirror { Mirror(self, children: ["source": description]) }
}
