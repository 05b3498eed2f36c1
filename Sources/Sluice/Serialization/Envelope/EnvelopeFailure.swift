import SluiceHTTP

/// The code and message of an envelope that reports a failure: the underlying error of
/// ``SluiceError/Code/envelopeFailed``.
public struct EnvelopeFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The API's status code.
    public let code: JSON
    /// The API's human-readable message; nil if there is none.
    public let message: String?

    /// Creates a failure, for testing an error model.
    public init(code: JSON, message: String?) {
        self.code = code
        self.message = message
    }

    /// The code and the message, unchanged. They may contain personal data from the API.
    public var description: String {
        message.map { "\(code.stringValue): \($0)" } ?? code.stringValue
    }
}

extension RequestFailure {
    /// The failure in the response's envelope, regardless of the HTTP status; nil if the client declares no
    /// ``Envelope``, the body does not contain one, or the envelope reports success.
    public var envelope: EnvelopeFailure? {
        if let failure = error.underlyingError as? EnvelopeFailure { return failure }
        guard let declaredEnvelope, !body.isEmpty, let document = try? JSONDocument(body),
            let opened = try? declaredEnvelope.opened(document), !opened.isSuccess
        else { return nil }
        return EnvelopeFailure(code: opened.code, message: opened.message)
    }
}

extension APIError {
    /// The failure in the response's envelope; nil if there is none.
    public var envelope: EnvelopeFailure? { failure.envelope }
}
