import SluiceHTTP

/// The error that ``URLEncodedFormEncoder`` throws if a value cannot be encoded as a form. It is the underlying error
/// of ``SluiceError/Code/encodingFailed``.
public struct FormEncodingFailure: Error, Sendable, CustomStringConvertible {
    /// The coding path of the value that could not be encoded, such as `filter.items[2].price`; empty for the root
    /// value.
    public let codingPath: String
    /// The reason, without the value.
    public let reason: String
    /// The error that the value's `encode(to:)` or a closure of the encoder's options threw.
    public let cause: (any Error)?

    init(at path: FormPath, _ step: FormPath.Step, _ reason: String, cause: (any Error)? = nil) {
        codingPath = path.text(appending: step)
        self.reason = reason
        self.cause = cause
    }

    /// A one-sentence description without any values.
    var sentence: String {
        codingPath.isEmpty
            ? "The form could not be encoded: \(reason)."
            : "The form could not be encoded: at “\(codingPath)” \(reason)."
    }

    /// The sentence and the cause, if there is one, with text that looks like a secret redacted.
    public var description: String {
        cause.map { "\(sentence) The cause: \(SecretRules.usual.text(SecretRules.words(of: $0)))" } ?? sentence
    }
}

extension FormEncodingFailure: CustomReflectable {
    /// Shows only the description, because a cause may contain values.
    public var customMirror: Mirror {
        Mirror(self, children: ["codingPath": codingPath, "description": description], displayStyle: .struct)
    }
}
