#if os(Linux)
import CSSL
import SluiceHTTP

/// OpenSSL's functions. The first use loads the library. If it is missing, they return failures.
var openSSL: sluice_openssl {
    _ = haltAtExit
    return sluice_openssl().pointee
}

/// The program may have initialized OpenSSL with an exit handler that destroys what loops use. The handler that stops them is registered
/// later, so it runs first.
private let haltAtExit: Void = {
    _ = sluice_openssl()
    LoopShutdown.registerHandler()
}()

/// An error from OpenSSL's error queue of the calling thread.
struct OpenSSLError {
    let code: UInt
    /// The message of OpenSSL, such as `tlsv13 alert certificate required`.
    let message: String

    /// Returns the oldest error of the queue, which caused the later ones, and empties the queue.
    static func take() -> OpenSSLError? {
        let code = openSSL.ERR_peek_error()
        guard code != 0 else { return nil }
        let message: String
        if let text = openSSL.ERR_reason_error_string(code) {
            message = String(cString: text)
        } else {
            message = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
                guard let start = text.baseAddress else { return "" }
                openSSL.ERR_error_string_n(code, start, text.count)
                return String(cString: start)
            }
        }
        openSSL.ERR_clear_error()
        return OpenSSLError(code: code, message: message)
    }

    /// Returns the message of the oldest error, or the given one if there is no error, and empties the queue.
    static func takeMessage(or message: String) -> String { take()?.message ?? message }

    /// The reason code of an error that the SSL library of OpenSSL reports. Nil for other libraries.
    var tlsReason: Int32? {
        // ERR_GET_LIB and ERR_GET_REASON are inline functions on these bits.
        guard (code >> 23) & 0xFF == UInt(ERR_LIB_SSL) else { return nil }
        return Int32(truncatingIfNeeded: code & 0x7F_FFFF)
    }
}

// MARK: - Failures of TLS

extension TLSFailure {
    /// Returns the failure for the oldest error of the queue, which is emptied, if OpenSSL cannot be set up.
    static func initialization() -> TLSFailure {
        guard openSSL.is_complete != 0 else {
            return TLSFailure(.handshake, detail: "the library \(String(cString: openSSL.file)) could not be loaded")
        }
        return TLSFailure(.handshake, detail: OpenSSLError.takeMessage(or: "OpenSSL could not be initialized"))
    }

    /// Returns the error of a request to a host. `host` includes the port if it is not the default port of the scheme.
    package func error(host: String) -> SluiceError {
        SluiceError(
            .tlsFailed,
            "The TLS connection to \(host) could not be established: \(reason).",
            underlyingError: self
        )
    }
}

extension TLSFailure.Check {
    /// Creates the check for a verification error code of OpenSSL.
    package init(finding code: Int32) {
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: self = .selfSigned
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
            X509_V_ERR_CERT_UNTRUSTED:
            self = .authority
        case X509_V_ERR_CERT_REVOKED: self = .revoked
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: self = .hostName
        default: self = .certificate
        }
    }

    /// Creates the check for an alert of the peer (RFC 8446 §6.2) or a message of OpenSSL. Returns nil for any other message.
    package init?(alert message: String, hasClientCertificate: Bool) {
        let contains = { (text: String) in message.contains(text) }
        if contains("alert certificate required") {
            self = .clientCertificateRequired
        } else if contains("alert protocol version") || contains("unsupported protocol")
            || contains("no protocols available")
        {
            self = .version
        } else if hasClientCertificate,
            [
                "unknown ca", "bad certificate", "certificate expired", "certificate revoked",
                "unsupported certificate",
                "certificate unknown", "access denied", "decrypt error",
            ]
            .contains(where: { contains("alert \($0)") })
        {
            self = .clientCertificateRejected
        } else {
            return nil
        }
    }
}
#endif
