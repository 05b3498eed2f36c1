import SluiceHTTP

extension SluiceError {
    /// Creates an error from one that user code threw while a request was built.
    static func building(_ error: any Error, _ reason: String) -> SluiceError {
        if let error = error as? SluiceError { return error }
        return SluiceError(.buildingFailed, "\(reason).", step: .building, underlyingError: error)
    }

    /// Creates an error for a body that cannot be encoded. It names the field if the encoder reports it, but never its
    /// value.
    static func bodyEncoding(_ error: any Error) -> SluiceError {
        var reason = "The request's body could not be encoded."
        if case EncodingError.invalidValue(let value, let context) = error {
            let place = context.codingPath.isEmpty ? "" : " at “\(context.codingPath.text)”"
            reason = "The request's body could not be encoded:\(place) the encoder refused a \(type(of: value))."
        }
        return SluiceError(.encodingFailed, reason, step: .building, underlyingError: error)
    }
}

extension [any CodingKey] {
    /// The path as `items[0].id`; empty for the root.
    var text: String {
        reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }
}
