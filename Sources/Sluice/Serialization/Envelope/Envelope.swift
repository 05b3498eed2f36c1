#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How an API wraps all that it answers: where the outcome, the message and the payload are.
///
/// ```swift
/// // {"code": 0, "msg": "OK", "data": {"user": {…}}}
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.envelope = Envelope(status: "code", success: 0, "OK", message: "msg", payload: "data")
/// }
/// let user: User = try await shop.codable.request("users/1").keyPath("user").sender().value
/// ```
///
/// Requests for text, bytes and pictures take the response as it is, with its envelope. Those for `Decodable` and ``JSONDecodable`` models, and for ``Empty``, ask for the payload. A response whose status is none of the
/// success values fails them with ``SluiceError/Code/envelopeFailed``, and ``RequestFailure/envelope`` has its code and message.
public struct Envelope: Sendable, Hashable {
    /// Where the outcome is.
    public var status: JSONPath
    /// The values that stand for success; a number and a string of the same text are equal.
    public var successValues: [JSON]
    /// Where the message for people is; it may be missing.
    public var message: JSONPath
    /// Where the payload is; it may be missing where there is nothing to tell.
    public var payload: JSONPath

    /// Makes an envelope.
    ///
    /// - Parameters:
    ///   - status: Where the outcome is: `code`, `error.code` or `error>code`.
    ///   - success: The values that stand for success.
    ///   - message: Where the message for people is.
    ///   - payload: Where the payload is.
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
    /// Whether it is a string, a number or a boolean.
    var isScalar: Bool {
        switch self {
        case .bool, .number, .string: true
        case .null, .array, .object: false
        }
    }
}
