#if os(Linux)
import SluiceHTTP

/// What is wrong with what a server has sent.
extension SluiceError {
    static var bodyWithoutHead: SluiceError {
        SluiceError(.invalidResponse, "What the server sent is no valid HTTP: its head has no status.")
    }

    static var bodyTooDense: SluiceError {
        SluiceError(
            .bodyTooLarge,
            "The response's body becomes too long by decompression; raise limits.decompressionRatio if that is meant."
        )
    }

    static var malformedHead: SluiceError {
        SluiceError(.invalidResponse, "The head of the response is no valid HTTP: a line of it is malformed.")
    }

    static var unaskedCoding: SluiceError {
        SluiceError(
            .invalidResponse,
            "The response has a transfer coding that was not asked for; only “chunked” may be."
        )
    }

    static func headTooLarge(limit: Int) -> SluiceError {
        SluiceError(.headersTooLarge, "The response's head is over the limit of \(limit) bytes.")
    }

    static var closedUnanswered: SluiceError {
        SluiceError(
            .connectionLost,
            "The connection, which had been kept open, closed without an answer, and the server may have seen the request."
        )
    }

    static var closedInHead: SluiceError {
        SluiceError(.connectionLost, "The connection closed in the middle of the response's head.")
    }
}
#endif
