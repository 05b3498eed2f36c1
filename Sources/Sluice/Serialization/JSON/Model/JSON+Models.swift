extension JSON {
    /// Creates a model from the value at a path.
    ///
    /// ```swift
    /// let city = try json.value(at: "address.city", as: String.self)
    /// ```
    ///
    /// - Parameters:
    ///   - path: The path to the value; see ``JSONPath``.
    ///   - type: The model type, if it cannot be inferred. A missing value gives nil if it is an optional type.
    /// - Returns: The model.
    /// - Throws: A ``JSONDecodingFailure`` with the complete path, including the path inside the model.
    public func value<Model: JSONDecodable>(
        at path: JSONPath,
        as type: Model.Type = Model.self
    ) throws(JSONDecodingFailure) -> Model {
        let json: JSON
        do throws(JSONPathFailure) {
            json = try find(path)
        } catch {
            guard error.isMissing, type is any OptionalModel.Type else {
                throw JSONDecodingFailure(error, expected: type)
            }
            json = .null
        }
        return try Model(json: json, at: path)
    }

    /// Creates a model from the value at a path, if the value exists.
    ///
    /// - Parameters:
    ///   - path: The path to the value; see ``JSONPath``.
    ///   - type: The model type, if it cannot be inferred.
    /// - Returns: The model; nil if the value or one of its containers is missing or `null`.
    /// - Throws: A ``JSONDecodingFailure`` with the complete path if the value exists but is not of this type.
    public func optionalValue<Model: JSONDecodable>(
        at path: JSONPath,
        as type: Model.Type = Model.self
    ) throws(JSONDecodingFailure) -> Model? {
        try value(at: path, as: Model?.self)
    }
}

/// The model types that represent a missing value.
private protocol OptionalModel {}

extension Optional: OptionalModel {}
