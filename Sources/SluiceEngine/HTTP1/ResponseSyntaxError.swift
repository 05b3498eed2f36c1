#if os(Linux)
import SluiceHTTP

/// The ways in which a response violates HTTP/1.1 or the limits set for it.
///
/// No case contains bytes from the peer, so none can appear in an error message.
package enum ResponseSyntaxError: Error, Sendable, Equatable {
    /// The first line is not a status line of HTTP/1.0 or HTTP/1.1 (RFC 9112 §4).
    case malformedStatusLine
    /// A line of the head is not a field line, does not end with CRLF, or contains a control character.
    case malformedField
    /// The head, including informational ones before it, is longer than the limit.
    case headTooLarge(limit: Int)
    /// A head or a trailer section has more fields than `ResponseParser.fieldLimit`.
    case tooManyFields
    /// There are more informational responses than `ResponseParser.informationalLimit`.
    case tooManyInformational
    /// A 101 response to a request without an upgrade.
    case unexpectedUpgrade
    /// The Content-Length is not a number, too large, or has several different values (RFC 9112 §6.3).
    case malformedLength
    /// The Transfer-Encoding is not exactly `chunked`.
    case unsupportedTransferCoding
    /// A Transfer-Encoding in HTTP/1.0, or together with a Content-Length (RFC 9112 §6.1).
    case ambiguousLength
    /// The size line of a chunk is malformed, or its data does not end with CRLF (RFC 9112 §7.1).
    case malformedChunk
    /// The extensions of a chunk, or of all chunks together, exceed the limits of `ChunkedBody`.
    case chunkExtensionsTooLong
    /// A line of the trailer section is malformed.
    case malformedTrailer
    /// The trailer section exceeds the rest of the limit that the head has left.
    case trailersTooLarge(limit: Int)
    /// The connection closed before the first byte of a response.
    case closedBeforeResponse
    /// The connection closed before the head was complete.
    case closedInHead
    /// The connection closed before the end of a body with known framing.
    case closedInBody

    /// The error that is reported to the caller.
    package var error: SluiceError {
        let (code, reason) = codeAndReason
        return SluiceError(code, reason)
    }

    private var codeAndReason: (SluiceError.Code, String) {
        switch self {
        case .malformedStatusLine:
            (.invalidResponse, "The response is not valid HTTP: its status line is missing or malformed.")
        case .malformedField:
            (.invalidResponse, "The response is not valid HTTP: a line of its head is malformed.")
        case .headTooLarge(let limit):
            (.headersTooLarge, "The response's head exceeds the limit of \(limit) bytes.")
        case .tooManyFields:
            (.headersTooLarge, "The response has more than \(ResponseParser.fieldLimit) header fields.")
        case .tooManyInformational:
            (
                .invalidResponse,
                "The server sent more than \(ResponseParser.informationalLimit) informational responses."
            )
        case .unexpectedUpgrade:
            (.invalidResponse, "The server switched protocols (101), but the request did not ask it to.")
        case .malformedLength:
            (.invalidResponse, "The response is not valid HTTP: its Content-Length is malformed.")
        case .unsupportedTransferCoding:
            (
                .invalidResponse,
                "The response has a transfer coding that was not requested. Only “chunked” is allowed."
            )
        case .ambiguousLength:
            (
                .invalidResponse,
                "The response is not valid HTTP: its Transfer-Encoding makes the body's length ambiguous."
            )
        case .malformedChunk:
            (.invalidResponse, "The response's chunked encoding is not valid.")
        case .chunkExtensionsTooLong:
            (.invalidResponse, "The response's chunked encoding is not valid: its chunk extensions are too long.")
        case .malformedTrailer:
            (.invalidResponse, "A field in the response's trailer section is malformed.")
        case .trailersTooLarge(let limit):
            (.headersTooLarge, "The response's head and trailer section exceed the limit of \(limit) bytes.")
        case .closedBeforeResponse:
            (.connectionLost, "The server closed the connection without sending a response.")
        case .closedInHead:
            (.connectionLost, "The connection closed in the middle of the response's head.")
        case .closedInBody:
            (.truncatedBody, "The connection closed before the complete body was received.")
        }
    }
}
#endif
