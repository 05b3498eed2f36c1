import SluiceFoundation

/// The reason a body could not be decoded: the underlying error of ``SluiceError/Code/decodingFailed``.
public struct DecodingFailure: LocalizedError, Sendable, CustomStringConvertible {
    /// The model's type.
    public let type: String
    /// The coding path in the body, such as `items[0].id`; empty for the body itself.
    public internal(set) var codingPath: String
    /// The problem at that path.
    public let reason: String
    /// At most the first 200 bytes of the body. Values whose names indicate a secret are replaced with `REDACTED`. If
    /// secrets cannot be identified, a note in parentheses instead of the bytes.
    public let bodyPrefix: String
    /// The error of the decoder.
    public let cause: any Error

    init(_ type: Any.Type, body: Data, cause: any Error) {
        self.type = "\(type)"
        self.cause = cause
        bodyPrefix = Self.beginning(of: body)
        let reason = DecodingReason(cause, type, body: body)
        codingPath = reason.path.text
        self.reason = reason.text
    }

    /// Returns the beginning of a body with secrets redacted.
    static func beginning(of body: Data) -> String {
        let beginning = Data(body.prefix(200))
        return switch Redaction.standard.body(beginning, contentType: nil) {
        case .text(let text): text
        case .binary: String(decoding: beginning, as: UTF8.self)
        case .withheld(let reason): "(\(reason))"
        }
    }

    /// A one-sentence description. Of the body it contains only a value that an enum does not have.
    var sentence: String {
        codingPath.isEmpty
            ? "The response could not be decoded as \(type): \(reason)."
            : "The response could not be decoded as \(type): at “\(codingPath)”, \(reason)."
    }

    /// The description with the beginning of the body, secrets redacted.
    public var description: String {
        "\(sentence) The body begins with: \(bodyPrefix)"
    }

    /// The ``description``, as `localizedDescription`.
    public var errorDescription: String? { description }

    /// Returns a copy for a value at a path in the body.
    func inside(_ path: JSONPath) -> DecodingFailure {
        guard !path.isEmpty else { return self }
        var failure = self
        let separator = codingPath.isEmpty || codingPath.hasPrefix("[") ? "" : "."
        failure.codingPath = "\(path)\(separator)\(codingPath)"
        return failure
    }
}

extension DecodingFailure {
    /// Creates the failure of a ``JSONDecodable`` model.
    init(_ type: Any.Type, body: Data, failure: JSONDecodingFailure) {
        let isSecret =
            switch failure.path.components.last {
            case .key(let key): SecretRules.usual.memberNames.contains(key)
            default: false
            }
        let reason = isSecret ? failure.reasonWithoutValue : failure.reason
        self.init(type, body: body, path: failure.path.description, reason: reason, cause: failure)
    }

    /// Creates the failure of a body that is not JSON.
    init(_ type: Any.Type, body: Data, error: JSONSyntaxError) {
        let reason = DecodingReason.notJSON(body, error)
        self.init(type, body: body, path: "", reason: reason, cause: error)
    }

    private init(_ type: Any.Type, body: Data, path: String, reason: String, cause: any Error) {
        self.type = "\(type)"
        self.cause = cause
        self.reason = reason
        codingPath = path
        bodyPrefix = Self.beginning(of: body)
    }
}

extension SluiceError {
    /// The error for a body that could not be decoded.
    static func undecodable(_ failure: DecodingFailure) -> SluiceError {
        SluiceError(.decodingFailed, failure.sentence, step: .serialization, underlyingError: failure)
    }
}

extension DecodingFailure: CustomReflectable {
    /// Omits the decoder's error, which may contain parts of the body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["type": type, "codingPath": codingPath, "reason": reason, "bodyPrefix": bodyPrefix],
            displayStyle: .struct
        )
    }
}
