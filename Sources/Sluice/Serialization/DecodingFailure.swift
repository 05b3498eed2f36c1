#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Why a body is not the model it should be: the underlying error of ``SluiceError/Code/decodingFailed``.
public struct DecodingFailure: Error, Sendable, CustomStringConvertible {
    /// The model's type.
    public let type: String
    /// Where in the body decoding stopped, as `items[0].id`; empty for the body itself.
    public internal(set) var codingPath: String
    /// What was wrong there.
    public let reason: String
    /// The body's first bytes, 200 at most, with `REDACTED` in the place of what has a secret's name; a note in parentheses where secrets
    /// cannot be told from the rest.
    public let bodyPrefix: String
    /// The decoder's own error.
    public let cause: any Error

    init(_ type: Any.Type, body: Data, cause: any Error) {
        self.type = "\(type)"
        self.cause = cause
        bodyPrefix = Self.beginning(of: body)
        guard let error = cause as? DecodingError else {
            codingPath = ""
            reason = "the decoder failed"
            return
        }
        switch error {
        case .typeMismatch(let type, let context):
            codingPath = context.codingPath.text
            reason = "expected \(type)"
        case .valueNotFound(let type, let context):
            codingPath = context.codingPath.text
            reason = "expected \(type), found null"
        case .keyNotFound(let key, let context):
            codingPath = context.codingPath.text
            reason = "there is no “\(key.stringValue)”"
        case .dataCorrupted(let context):
            codingPath = context.codingPath.text
            reason = body.isEmpty ? "the body is empty" : "the data is not valid"
        @unknown default:
            codingPath = ""
            reason = "the decoder failed"
        }
    }

    /// What may be shown of a body's beginning.
    static func beginning(of body: Data) -> String {
        let beginning = Data(body.prefix(200))
        return switch Redaction.standard.body(beginning, contentType: nil) {
        case .text(let text): text
        case .binary: String(decoding: beginning, as: UTF8.self)
        case .withheld(let reason): "(\(reason))"
        }
    }

    /// One sentence without any of the body.
    var sentence: String {
        codingPath.isEmpty
            ? "The response is no \(type): \(reason)."
            : "The response is no \(type): at “\(codingPath)” \(reason)."
    }

    /// The sentence with the body's first bytes, without secrets.
    public var description: String {
        "\(sentence) It begins with: \(bodyPrefix)"
    }

    /// A copy for a value that stands somewhere inside of the body.
    func inside(_ path: JSONPath) -> DecodingFailure {
        guard !path.isEmpty else { return self }
        var failure = self
        let separator = codingPath.isEmpty || codingPath.hasPrefix("[") ? "" : "."
        failure.codingPath = "\(path)\(separator)\(codingPath)"
        return failure
    }
}

extension SluiceError {
    /// A body that is not the model it should be.
    static func undecodable(_ failure: DecodingFailure) -> SluiceError {
        SluiceError(.decodingFailed, failure.sentence, step: .serialization, underlyingError: failure)
    }
}

extension DecodingFailure: CustomReflectable {
    /// All but the decoder's own error, which may quote the body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["type": type, "codingPath": codingPath, "reason": reason, "bodyPrefix": bodyPrefix],
            displayStyle: .struct
        )
    }
}
