import SluiceHTTP

/// A value that is encoded as names and values when the request is built.
struct RequestParameters: Sendable {
    let value: any Encodable & Sendable
    /// Nil for the client's encoder.
    let encoder: URLEncodedFormEncoder?

    /// Returns the text of a query, without the question mark, or of a form body; empty if the value has no members.
    func text(by standard: URLEncodedFormEncoder) throws(SluiceError) -> String {
        do {
            return try (encoder ?? standard).encode(value)
        } catch {
            throw SluiceError(.encodingFailed, error.sentence, step: .building, underlyingError: error)
        }
    }
}

/// A part of the query. Parts keep their order.
enum QueryPart: Sendable {
    case item(name: String, value: String?)
    /// Indirect, because it is rare and much larger.
    indirect case encoded(RequestParameters)
}

extension HTTPMethod {
    /// True if parameters are sent in the body by default. For other methods, they are sent in the query.
    var takesParametersInBody: Bool {
        switch self {
        case .get, .head, .delete, .options, .trace: false
        default: true
        }
    }
}
