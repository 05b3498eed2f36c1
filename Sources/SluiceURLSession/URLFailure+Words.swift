import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLFailure {
    #if canImport(FoundationNetworking)
    /// Returns the meaning of the session's message, if Foundation on Linux uses one code for several failures.
    func meaningOfWords(host: String) -> (SluiceError.Code, String)? {
        let coarse: Set<URLError.Code?> = [.unknown, .unsupportedURL, .badServerResponse, .cannotFindHost]
        guard coarse.contains(code) else { return nil }
        return URLFailure.spoken.first { words.localizedCaseInsensitiveContains($0.words) }
            .map { ($0.code, $0.reason(host)) }
    }

    private static let spoken: [(words: String, code: SluiceError.Code, reason: @Sendable (String) -> String)] = [
        ("empty reply", .connectionLost, { "The server at \($0) closed the connection without an answer." }),
        ("transfer closed", .truncatedBody, { _ in "The connection closed before the whole body had come." }),
        ("large response headers", .headersTooLarge, { _ in "The response's head is over the session's limit." }),
        ("writing header", .invalidResponse, { _ in "Foundation cannot read the response's head." }),
        ("header without colon", .invalidResponse, { _ in "What the server sent is no valid HTTP." }),
        ("http/0.9", .invalidResponse, { _ in "What the server sent is no valid HTTP." }),
        ("http version", .invalidResponse, { _ in "What the server sent is no valid HTTP." }),
        ("content-length", .invalidResponse, { _ in "The response's Content-Length is not valid." }),
        ("chunk", .invalidResponse, { _ in "The response's chunked encoding is not valid." }),
        ("content encoding", .invalidResponse, { _ in "The response's content encoding is damaged or not known." }),
        ("content-encoding", .invalidResponse, { _ in "The response's content encoding is damaged or not known." }),
        ("proxy", .proxyFailed, { _ in "The proxy cannot be resolved or refused to connect." }),
        ("ssl", .tlsFailed, { "No TLS connection to \($0): the handshake or the check of its certificate failed." }),
        ("tls", .tlsFailed, { "No TLS connection to \($0): the handshake or the check of its certificate failed." }),
        ("certificate", .tlsFailed, { "No TLS connection to \($0): its certificate is not to be trusted." }),
        ("recv failure", .connectionLost, { "The connection to \($0) was lost: the server ended it." }),
        ("send failure", .connectionLost, { "The connection to \($0) was lost: the server ended it." }),
    ]
    #else
    /// Returns nil: on Apple's platforms the codes distinguish failures, and the messages are localized.
    func meaningOfWords(host: String) -> (SluiceError.Code, String)? { nil }
    #endif
}
