extension JSON {
    /// Makes a model of what a path leads to.
    ///
    /// ```swift
    /// let city = try json.value(at: "address.city", as: String.self)
    /// ```
    ///
    /// - Parameters:
    ///   - path: Where the model stands; see ``JSONPath``.
    ///   - type: The model, where the context does not name it. If it is an optional, what is missing is nil.
    /// - Returns: The model.
    /// - Throws: A ``JSONDecodingFailure`` that names the whole path, also of what is missing inside of the model.
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

    /// Makes a model of what a path leads to, if there is something.
    ///
    /// - Parameters:
    ///   - path: Where the model stands; see ``JSONPath``.
    ///   - type: The model, where the context does not name it.
    /// - Returns: The model; nil if it, or what it stands in, is missing or `null`.
    /// - Throws: A ``JSONDecodingFailure`` that names the whole path, for what is there but is something else.
    public func optionalValue<Model: JSONDecodable>(
        at path: JSONPath,
        as type: Model.Type = Model.self
    ) throws(JSONDecodingFailure) -> Model? {
        try value(at: path, as: Model?.self)
    }
}

/// The models that have a value for what is missing.
private protocol OptionalModel {}

extension Optional: OptionalModel {}
