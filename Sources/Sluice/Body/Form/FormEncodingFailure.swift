import SluiceHTTP

/// Why a value could not be written as a form: what ``URLEncodedFormEncoder`` throws, and the underlying error of
/// ``SluiceError/Code/encodingFailed``.
public struct FormEncodingFailure: Error, Sendable, CustomStringConvertible {
    /// Where in the value encoding stopped, as `filter.items[2].price`; empty for the value itself.
    public let codingPath: String
    /// What was wrong there, without the value.
    public let reason: String
    /// What a value's own encoding or a closure of the encoder's options threw.
    public let cause: (any Error)?

    init(at path: FormPath, _ step: FormPath.Step, _ reason: String, cause: (any Error)? = nil) {
        codingPath = path.text(appending: step)
        self.reason = reason
        self.cause = cause
    }

    /// One sentence without any of the values.
    var sentence: String {
        codingPath.isEmpty
            ? "The form could not be encoded: \(reason)."
            : "The form could not be encoded: at “\(codingPath)” \(reason)."
    }

    /// The sentence with the cause, if there is one, without what looks like a secret in it.
    public var description: String {
        cause.map { "\(sentence) The cause: \(SecretRules.usual.text(SecretRules.words(of: $0)))" } ?? sentence
    }
}

extension FormEncodingFailure: CustomReflectable {
    /// What the description says: a cause may quote values.
    public var customMirror: Mirror {
        Mirror(self, children: ["codingPath": codingPath, "description": description], displayStyle: .struct)
    }
}
