import Foundation
import SluiceHTTP
import Testing

@testable import SluiceURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct URLFailureTests {
    private func error(_ cause: any Error, hasHead: Bool = false) -> SluiceError {
        URLFailure(cause).error(host: "host:80", hasHead: hasHead)
    }

    @Test(
        arguments: [
            (.cancelled, .cancelled), (.badURL, .invalidURL), (.unsupportedURL, .invalidURL),
            (.cannotFindHost, .cannotResolveHost), (.dnsLookupFailed, .cannotResolveHost),
            (.cannotConnectToHost, .cannotConnect), (.notConnectedToInternet, .cannotConnect),
            (.networkConnectionLost, .connectionLost), (.zeroByteResource, .connectionLost),
            (.secureConnectionFailed, .tlsFailed), (.serverCertificateUntrusted, .tlsFailed),
            (.clientCertificateRequired, .tlsFailed), (.appTransportSecurityRequiresSecureConnection, .tlsFailed),
            (.badServerResponse, .invalidResponse), (.cannotParseResponse, .invalidResponse),
            (.cannotDecodeContentData, .invalidResponse), (.fileDoesNotExist, .bodyUnavailable),
            (.noPermissionsToReadFile, .bodyUnavailable), (.requestBodyStreamExhausted, .bodyNotReplayable),
            (.dataLengthExceedsMaximum, .unsupported), (.unknown, .internalFailure), (.timedOut, .connectTimedOut),
        ] as [(URLError.Code, SluiceError.Code)]
    )
    func mapsURLErrorCodes(_ code: URLError.Code, _ expected: SluiceError.Code) {
        let error = error(URLError(code))
        #expect(error.code == expected)
        #expect(error.step == .transport)
        #expect((error.underlyingError as? URLError)?.code == code)
        #expect(error.reason.hasSuffix("."))
    }

    @Test func timeoutAfterHeadIsIdleTimeout() {
        #expect(error(URLError(.timedOut), hasHead: true).code == .idleTimedOut)
    }

    @Test(
        arguments: [
            (.ECONNRESET, .connectionLost), (.EPIPE, .connectionLost), (.ECONNABORTED, .connectionLost),
            (.ECONNREFUSED, .cannotConnect), (.ENETUNREACH, .cannotConnect), (.EHOSTUNREACH, .cannotConnect),
            (.ENOMEM, .internalFailure),
        ] as [(POSIXErrorCode, SluiceError.Code)]
    )
    func mapsPOSIXErrorCodes(_ code: POSIXErrorCode, _ expected: SluiceError.Code) {
        #expect(error(POSIXError(code)).code == expected)
    }

    #if canImport(FoundationNetworking)
    @Test(
        arguments: [
            (.badServerResponse, "Empty reply from server", .connectionLost),
            (.unknown, "transfer closed with 7 bytes remaining to read", .truncatedBody),
            (.unknown, "transfer closed with outstanding read data remaining", .truncatedBody),
            (.unsupportedURL, "Received HTTP/0.9 when not allowed", .invalidResponse),
            (.unsupportedURL, "Unsupported HTTP version in response", .invalidResponse),
            (.unknown, "Invalid Content-Length: value", .invalidResponse),
            (.unknown, "Illegal or missing hexadecimal sequence in chunked-encoding", .invalidResponse),
            (.unknown, "Too large response headers: 308067 > 307200", .headersTooLarge),
            (.unknown, "Failed writing header", .invalidResponse),
            (.unknown, "Header without colon", .invalidResponse),
            (.cannotFindHost, "Could not resolve proxy: nowhere", .proxyFailed),
            (.cannotFindHost, "Could not resolve host: nowhere", .cannotResolveHost),
            (.cannotFindHost, "Could not resolve host: accesslog.example", .cannotResolveHost),
            (.unknown, "Failed to connect to 10.0.0.1 port 80 after 3 ms: No route to host", .cannotConnect),
            (.unknown, "OpenSSL SSL_read: SSL_ERROR_SYSCALL, errno 104", .connectionLost),
            (
                .unknown, "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
                .tlsFailed
            ), (.unknown, "HTTP/2 stream 3 was not closed cleanly: INTERNAL_ERROR (err 2)", .connectionLost),
            (.unknown, "SSL certificate problem: self-signed certificate", .tlsFailed),
            (.unknown, "Recv failure: Connection timed out", .connectionLost),
            (.networkConnectionLost, "Recv failure: Connection reset by peer", .connectionLost),
            (.unknown, "Out of memory", .internalFailure),
        ] as [(URLError.Code, String, SluiceError.Code)]
    )
    func mapsErrorsByDescription(_ code: URLError.Code, _ description: String, _ expected: SluiceError.Code) {
        let cause = URLError(code, userInfo: [NSLocalizedDescriptionKey: description])
        #expect(error(cause).code == expected)
    }

    @Test func nameOfHostIsNoPartOfDescription() {
        let description = "SSL: no alternative certificate subject name matches target host name 'chunks.example'"
        let cause = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: description])
        #expect(URLFailure(cause).error(host: "chunks.example:443", hasHead: false).code == .tlsFailed)
    }
    #endif
}
