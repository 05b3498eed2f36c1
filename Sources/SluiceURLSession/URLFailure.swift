import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The error of a failed session task, and its translation to a ``SluiceError``.
struct URLFailure {
    /// The session's code; nil for an error of another domain.
    let code: URLError.Code?
    /// The system's error, if the session passed it on unchanged.
    let systemError: POSIXErrorCode?
    /// The session's message. On Linux it is often more specific than the code.
    let message: String
    /// The session's error.
    let cause: any Error

    init(_ error: any Error) {
        code = (error as? URLError)?.code
        systemError = (error as? POSIXError)?.code
        message = (error as NSError).localizedDescription
        cause = error
    }

    /// Returns the failure as a ``SluiceError``.
    ///
    /// - Parameters:
    ///   - host: The host and port, for the message.
    ///   - hasHead: True if the complete head of the response was received.
    /// - Returns: An error whose underlying error is the session's.
    func error(host: String, hasHead: Bool) -> SluiceError {
        let (code, reason) = meaning(host: host, hasHead: hasHead)
        return SluiceError(code, reason, underlyingError: cause)
    }

    private func meaning(host: String, hasHead: Bool) -> (SluiceError.Code, String) {
        if let meaning = meaningOfMessage(host: host) { return meaning }
        switch code {
        case .cancelled:
            return (.cancelled, "The request was cancelled.")
        case .badURL, .unsupportedURL:
            return (.invalidURL, "The URL is not valid; check its host, port and path.")
        case .timedOut:
            return hasHead
                ? (.idleTimedOut, "The connection to \(host) was idle for too long.")
                : (.connectTimedOut, "The connection to \(host) timed out before it was established.")
        case .dataLengthExceedsMaximum:
            return (.unsupported, "URLSession cannot send this body. A GET request, for example, cannot have a body.")
        case .requestBodyStreamExhausted:
            return (.bodyNotReplayable, "The body would have to be sent again, but it can be read only once.")
        default:
            return meaningOfGroup(host: host) ?? (.internalFailure, "The transfer failed: \(message).")
        }
    }

    /// Returns the meaning of a code that belongs to a group of equivalent codes.
    private func meaningOfGroup(host: String) -> (SluiceError.Code, String)? {
        if let code {
            if URLFailure.resolving.contains(code) {
                let name = HTTPOrigin(scheme: "https", authority: host).host
                return (
                    .cannotResolveHost,
                    "The host name “\(name)” could not be resolved. Check its spelling and your DNS settings."
                )
            }
            if URLFailure.connecting.contains(code) {
                return (
                    .cannotConnect,
                    "The connection to \(host) could not be established: no server responds, or the network is down."
                )
            }
            if URLFailure.securing.contains(code) {
                return (.tlsFailed, "The TLS connection to \(host) could not be established: \(message).")
            }
            if URLFailure.reading.contains(code) {
                return (.bodyUnavailable, "The file with the request's body cannot be read.")
            }
            if URLFailure.parsing.contains(code) {
                return (.invalidResponse, "The response is not valid HTTP.")
            }
        }
        if code == .networkConnectionLost || code == .zeroByteResource || isConnectionLost {
            return (.connectionLost, "The connection to \(host) was lost: the server or the network closed it.")
        }
        return isUnreachable
            ? (.cannotConnect, "The connection to \(host) could not be established: no server responds.") : nil
    }

    private var isConnectionLost: Bool {
        switch systemError {
        case .ECONNRESET, .EPIPE, .ECONNABORTED, .ENOTCONN: true
        default: false
        }
    }

    private var isUnreachable: Bool {
        switch systemError {
        case .ECONNREFUSED, .EHOSTUNREACH, .ENETUNREACH, .EHOSTDOWN, .ENETDOWN, .EADDRNOTAVAIL: true
        default: false
        }
    }
}

extension URLFailure {
    private static let resolving: Set<URLError.Code> = [.cannotFindHost, .dnsLookupFailed]

    private static let connecting: Set<URLError.Code> = [
        .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed,
    ]

    private static let securing: Set<URLError.Code> = [
        .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
        .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection,
    ]

    private static let reading: Set<URLError.Code> = [
        .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .cannotOpenFile,
    ]

    private static let parsing: Set<URLError.Code> = [
        .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
    ]
}

// MARK: - Messages of the session

extension URLFailure {
    #if canImport(FoundationNetworking)
    /// Returns the meaning of the session's message, if Foundation on Linux uses one code for several failures.
    private func meaningOfMessage(host: String) -> (SluiceError.Code, String)? {
        let ambiguous: Set<URLError.Code?> = [.unknown, .unsupportedURL, .badServerResponse, .cannotFindHost]
        guard ambiguous.contains(code) else { return nil }
        var text = message.lowercased()
        // The code says this of the server, and the message also of the proxy.
        if text.hasPrefix("could not resolve host") { return nil }
        // The name of a host can contain any of the fragments, the shortest of which have three letters.
        let name = host.lowercased().prefix { $0 != ":" }
        if name.count > 3 { text = text.replacingOccurrences(of: name, with: "") }
        return URLFailure.meanings.first { text.contains($0.fragment) }.map { ($0.code, $0.reason(host)) }
    }

    private static let refusal: @Sendable (String) -> String = {
        "The TLS connection to \($0) could not be established: the server refused it."
    }

    private static let meanings: [(fragment: String, code: SluiceError.Code, reason: @Sendable (String) -> String)] = [
        (
            "failed to connect", .cannotConnect,
            { "The connection to \($0) could not be established: no server responds, or the network is down." }
        ),
        // With TLS 1.3, the server reports these after the client's part of the handshake, in a read.
        ("alert certificate", .tlsFailed, refusal), ("alert bad certificate", .tlsFailed, refusal),
        ("alert unknown ca", .tlsFailed, refusal), ("alert handshake", .tlsFailed, refusal),
        ("ssl_read", .connectionLost, { "The connection to \($0) was lost: the server closed it." }),
        ("ssl_write", .connectionLost, { "The connection to \($0) was lost: the server closed it." }),
        ("not closed cleanly", .connectionLost, { "The connection to \($0) was lost: the server ended the stream." }),
        ("empty reply", .connectionLost, { "The server at \($0) closed the connection without sending a response." }),
        ("transfer closed", .truncatedBody, { _ in "The connection closed before the complete body was received." }),
        ("large response headers", .headersTooLarge, { _ in "The response's head is over the session's limit." }),
        ("writing header", .invalidResponse, { _ in "Foundation cannot read the response's head." }),
        ("header without colon", .invalidResponse, { _ in "The response is not valid HTTP." }),
        ("http/0.9", .invalidResponse, { _ in "The response is not valid HTTP." }),
        ("http version", .invalidResponse, { _ in "The response is not valid HTTP." }),
        ("content-length", .invalidResponse, { _ in "The response's Content-Length is not valid." }),
        ("chunk", .invalidResponse, { _ in "The response's chunked encoding is not valid." }),
        ("content encoding", .invalidResponse, { _ in "The response's content encoding is damaged or unknown." }),
        ("content-encoding", .invalidResponse, { _ in "The response's content encoding is damaged or unknown." }),
        (
            "proxy", .proxyFailed,
            { _ in "The proxy's name could not be resolved, or the proxy refused the connection." }
        ),
        (
            "ssl", .tlsFailed,
            {
                "The TLS connection to \($0) could not be established: the handshake or the certificate verification failed."
            }
        ),
        (
            "tls", .tlsFailed,
            {
                "The TLS connection to \($0) could not be established: the handshake or the certificate verification failed."
            }
        ),
        (
            "certificate", .tlsFailed,
            { "The TLS connection to \($0) could not be established: its certificate is not trusted." }
        ),
        ("recv failure", .connectionLost, { "The connection to \($0) was lost: the server closed it." }),
        ("send failure", .connectionLost, { "The connection to \($0) was lost: the server closed it." }),
    ]
    #else
    /// Returns nil: on Apple's platforms the codes distinguish failures, and the messages are localized.
    private func meaningOfMessage(host: String) -> (SluiceError.Code, String)? { nil }
    #endif
}
