#if os(Linux)
import CCurl
import Glibc
import SluiceHTTP

/// What libcurl reported of a failed transfer: the underlying error of a `SluiceError`.
public struct CurlFailure: Error, Hashable, CustomStringConvertible {
    /// libcurl's code, CURLE_COULDNT_CONNECT (7) for example.
    public let code: UInt32
    /// libcurl's own words for this failure; empty if it had none.
    public let message: String
    /// The system's error number, 0 if there was none.
    public let systemError: Int32

    init(code: CURLcode, message: String, systemError: Int32) {
        self.code = code.rawValue
        self.message = message
        // The number outlives the transfer it belonged to; only connecting sets it anew without naming it.
        let isOfThisTransfer =
            code == CURLE_COULDNT_CONNECT || message.contains(String(cString: strerror(systemError)))
        self.systemError = isOfThisTransfer ? systemError : 0
    }

    /// libcurl's words and number.
    public var description: String {
        let text = message.isEmpty ? String(cString: curl_easy_strerror(CURLcode(code))) : message
        return "\(text) (libcurl \(code))"
    }
}

extension CurlFailure {
    /// The SDK's word for the failure, in which `host` is host and port, and `hasHead` whether the response's head had
    /// come whole.
    func error(host: String, hasHead: Bool) -> SluiceError {
        let (code, reason) = meaning(host: host, hasHead: hasHead)
        return SluiceError(code, reason, underlyingError: self)
    }

    private func meaning(host: String, hasHead: Bool) -> (SluiceError.Code, String) {
        switch CURLcode(code) {
        case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED:
            (.invalidURL, "The URL is not valid, or holds a user name; check its host, port and path.")
        case CURLE_COULDNT_RESOLVE_HOST:
            (.cannotResolveHost, "The name of the host in “\(host)” does not resolve; check its spelling and the DNS.")
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            (.proxyFailed, "The proxy cannot be resolved or refused to connect.")
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED:
            (.cannotConnect, "No connection to \(host): \(systemWords ?? "nothing answers there").")
        case CURLE_OPERATION_TIMEDOUT:
            (.connectTimedOut, "No connection to \(host) came about in the time allowed.")
        case CURLE_GOT_NOTHING:
            (.connectionLost, "The server at \(host) closed the connection without an answer.")
        case CURLE_PARTIAL_FILE:
            (.truncatedBody, "The connection closed before the whole body had come.")
        case CURLE_RECV_ERROR where isAboutChunks, CURLE_BAD_FUNCTION_ARGUMENT where isAboutChunks:
            (.invalidResponse, "The response's chunked encoding is not valid.")
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2_STREAM:
            (.connectionLost, "The connection to \(host) was lost: \(systemWords ?? "the server ended it").")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP_RETURNED_ERROR:
            (.invalidResponse, "What the server sent is no valid HTTP.")
        case CURLE_BAD_FUNCTION_ARGUMENT where hasHead:
            (.invalidResponse, "A field behind the response's body is malformed.")
        case CURLE_BAD_CONTENT_ENCODING,
            CURLE_WRITE_ERROR where hasHead:
            (.invalidResponse, "The response's content encoding is damaged or not known.")
        case CURLE_OUT_OF_MEMORY where !hasHead, CURLcode(100) where !hasHead:
            (.headersTooLarge, "The response's head is over the limit.")
        case CURLE_FILESIZE_EXCEEDED:
            (.bodyTooLarge, "The response's body is over the limit.")
        case CURLE_SEND_FAIL_REWIND:
            (.bodyNotReplayable, "The body would have to be sent again, but it can be read only once.")
        default:
            (.internalFailure, "The transfer failed: \(description).")
        }
    }

    /// libcurl has one code for a lost connection and for a chunk that makes no sense; only its words differ.
    private var isAboutChunks: Bool {
        message.lowercased().contains("chunk")
    }

    private var systemWords: String? {
        systemError == 0 ? nil : String(cString: strerror(systemError)).lowercased()
    }
}
#endif
