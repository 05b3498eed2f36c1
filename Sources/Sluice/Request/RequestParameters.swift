import SluiceHTTP

/// A value to be encoded as names and values, when the request is built.
struct RequestParameters: Sendable {
    let value: any Encodable & Sendable
    /// Nil for the client's.
    let encoder: URLEncodedFormEncoder?

    /// The text of a query, without the question mark, or of a form body; empty if the value has nothing to say.
    func text(by standard: URLEncodedFormEncoder) throws(SluiceError) -> String {
        do {
            return try (encoder ?? standard).encode(value)
        } catch {
            throw SluiceError(.encodingFailed, error.sentence, step: .building, underlyingError: error)
        }
    }
}

/// A part of the query in the order it was given.
enum QueryPart: Sendable {
    case item(name: String, value: String?)
    /// Boxed: it is rare and many times as large.
    indirect case encoded(RequestParameters)
}

extension HTTPMethod {
    /// Whether parameters go into the body by default; for the others they go into the query.
    var takesParametersInBody: Bool {
        switch self {
        case .get, .head, .delete, .options, .trace: false
        default: true
        }
    }
}
