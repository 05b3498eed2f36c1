#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The envelope in which an API wraps all its responses: the locations of the status, the message and the payload.
///
/// ```swift
/// // {"code": 0, "msg": "OK", "data": {"user": {…}}}
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.envelope = Envelope(status: "code", success: 0, "OK", message: "msg", payload: "data")
/// }
/// let user: User = try await shop.codable.request("users/1").keyPath("user").sender().value
/// ```
///
/// Requests for text, bytes and images receive the whole response, including the envelope. Requests for `Decodable` and
/// ``JSONDecodable`` models and for ``Empty`` receive the payload. If the status is not a success value, they fail with
/// ``SluiceError/Code/envelopeFailed``, and ``RequestFailure/envelope`` contains the code and the message.
public struct Envelope: Sendable, Hashable {
    /// The path to the status.
    public var status: JSONPath
    /// The values that mean success. A number and a string with the same text are equal.
    public var successValues: [JSON]
    /// The path to the human-readable message, which may be missing.
    public var message: JSONPath
    /// The path to the payload, which may be missing.
    public var payload: JSONPath

    /// Creates an envelope.
    ///
    /// - Parameters:
    ///   - status: The path to the status: `code`, `error.code` or `error>code`.
    ///   - success: The values that mean success.
    ///   - message: The path to the human-readable message.
    ///   - payload: The path to the payload.
    public init(status: JSONPath, success: JSON..., message: JSONPath, payload: JSONPath) {
        self.status = status
        self.successValues = success
        self.message = message
        self.payload = payload
    }

    func opened(_ document: JSONDocument) throws(JSONPathFailure) -> OpenedEnvelope {
        let code = JSON(document, try document.find(status))
        let message = (try? document.find(message)).map { JSON(document, $0) }
        let payload: Result<Data, JSONPathFailure>
        do {
            payload = .success(try document.slice(at: self.payload))
        } catch {
            payload = .failure(error)
        }
        return OpenedEnvelope(
            isSuccess: successValues.contains { $0 == code || $0.isScalar && $0.stringValue == code.stringValue },
            code: code,
            message: message.flatMap { $0.isNull ? nil : $0.isScalar ? $0.stringValue : $0.description },
            path: self.payload,
            payload: payload
        )
    }
}

extension JSON {
    /// True for a string, a number or a boolean.
    var isScalar: Bool {
        switch self {
        case .bool, .number, .string: true
        case .null, .array, .object: false
        }
    }
}
