/// A model that builds itself from a ``JSON`` value.
///
/// ```swift
/// struct User: JSONDecodable {
///     let name: String
///     let city: String
///     let nickname: String?
///
///     init(json: JSON) throws {
///         name = try json.value(at: "name")
///         city = try json.value(at: "address.city")
///         nickname = try json.optionalValue(at: "nickname")
///     }
/// }
///
/// let users: [User] = try await client.json.request("users").sender().value
/// ```
///
/// `JSON`, strings, booleans, numbers, URLs, and optionals, arrays and dictionaries of models are models already; an
/// enum with such a raw value becomes one by saying so. All of them are strict: `"1"` is no `Int`, and 1 no `String`.
public protocol JSONDecodable: Sendable {
    /// Makes the model.
    ///
    /// - Parameter json: The value to make it of.
    /// - Throws: A ``JSONDecodingFailure``, or an error of the model's own.
    init(json: JSON) throws
}

extension JSONDecodable {
    /// Makes the model of what stands at a place, of which an error is to speak.
    init(json: JSON, at path: @autoclosure () -> JSONPath) throws(JSONDecodingFailure) {
        do {
            try self.init(json: json)
        } catch var failure as JSONDecodingFailure {
            failure.path = path().appending(failure.path)
            throw failure
        } catch {
            var failure = JSONDecodingFailure(expected: "\(Self.self)", found: json, cause: error)
            failure.path = path()
            throw failure
        }
    }
}
