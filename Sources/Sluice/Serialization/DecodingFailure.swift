import SluiceFoundation

/// The reason a body could not be decoded: the underlying error of ``SluiceError/Code/decodingFailed``.
public struct DecodingFailure: LocalizedError, Sendable, CustomStringConvertible {
    /// The model's type.
    public let type: String
    /// The coding path in the body, such as `items[0].id`; empty for the body itself.
    public internal(set) var codingPath: String
    /// The problem at that path.
    public private(set) var reason: String
    /// At most the first 200 bytes of the body. Values whose names indicate a secret are replaced with `REDACTED`. If
    /// secrets cannot be identified, a note in parentheses instead of the bytes.
    public private(set) var bodyPrefix: String
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
        // The name of a secret may follow its value, so the whole body is redacted if its form is known.
        if case .text(let text) = Redaction.standard.body(body, contentType: nil) {
            return String(decoding: prefix(of: Data(text.utf8)), as: UTF8.self)
        }
        let beginning = prefix(of: body)
        return switch Redaction.standard.body(beginning, contentType: nil) {
        case .text(let text): text
        case .binary: String(decoding: beginning, as: UTF8.self)
        case .withheld(let reason): "(\(reason))"
        }
    }

    /// Returns at most 200 bytes, without a part of a character at the end.
    private static func prefix(of text: Data) -> Data {
        var end = text.startIndex + min(200, text.count)
        while end > text.startIndex, end < text.endIndex, text[end] & 0xC0 == 0x80 { end -= 1 }
        return Data(text[..<end])
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
        if Self.namesSecret(path) {
            // The names above the value were not known before.
            failure.bodyPrefix = "(\(DocumentRedactor.Reason.possiblySecret.rawValue))"
            if let start = reason.firstIndex(of: "“"), let end = reason.lastIndex(of: "”") {
                failure.reason.replaceSubrange(start...end, with: "the value")
            }
        }
        return failure
    }
}

extension DecodingFailure {
    /// Creates the failure of a ``JSONDecodable`` model.
    init(_ type: Any.Type, body: Data, failure: JSONDecodingFailure) {
        let isShown = Self.isShown(failure.path, in: body)
        let reason = isShown ? failure.reason : failure.reasonWithoutValue
        self.init(type, body: body, path: failure.path.description, reason: reason, cause: failure)
    }

    /// Returns true if redaction leaves the value at a path, and no name above it indicates a secret.
    private static func isShown(_ path: JSONPath, in body: Data) -> Bool {
        guard !namesSecret(path), case .text(let text) = Redaction.standard.body(body, contentType: nil),
            let shown = try? JSON(parsing: text), let json = try? JSON(parsing: body)
        else { return false }
        return !json[path: path].isNull && shown[path: path] == json[path: path]
    }

    /// Returns true if a name in a path indicates a secret.
    fileprivate static func namesSecret(_ path: JSONPath) -> Bool {
        path.components.contains { component in
            guard case .key(let key) = component else { return false }
            return SecretRules.usual.memberNames.contains(key)
        }
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
