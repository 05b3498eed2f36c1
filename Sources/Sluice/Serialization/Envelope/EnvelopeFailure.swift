import SluiceHTTP

/// What an envelope says of a request that failed: the underlying error of ``SluiceError/Code/envelopeFailed``.
public struct EnvelopeFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The API's own status.
    public let code: JSON
    /// The API's message for people; nil if there was none.
    public let message: String?

    /// Makes a failure, to test an error model with.
    public init(code: JSON, message: String?) {
        self.code = code
        self.message = message
    }

    /// Code and message as they came. They may hold what the API says of its user.
    public var description: String {
        message.map { "\(code.stringValue): \($0)" } ?? code.stringValue
    }
}

extension RequestFailure {
    /// What the response's envelope says, where the client has declared one and the body is in it; whatever the HTTP status.
    public var envelope: EnvelopeFailure? {
        if let failure = error.underlyingError as? EnvelopeFailure { return failure }
        guard let declaredEnvelope, !body.isEmpty, let document = try? JSONDocument(body),
            let opened = try? declaredEnvelope.opened(document), !opened.isSuccess
        else { return nil }
        return EnvelopeFailure(code: opened.code, message: opened.message)
    }
}

extension APIError {
    /// What the response's envelope says of the failure, where the client has declared one.
    public var envelope: EnvelopeFailure? { failure.envelope }
}
