import SluiceHTTP

extension SluiceError {
    /// A failure of a step of the user's that takes part in making the request.
    static func building(_ error: any Error, _ reason: String) -> SluiceError {
        if let error = error as? SluiceError { return error }
        return SluiceError(.buildingFailed, "\(reason).", step: .building, underlyingError: error)
    }

    /// A body that cannot be encoded; names the field where the encoder does, and nothing of its value.
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
    /// The path as `items[0].id`; empty for the value itself.
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
