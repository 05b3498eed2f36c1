/// A model that is created from a ``JSON`` value.
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
/// `JSON`, strings, booleans, numbers, URLs, and optionals, arrays and dictionaries of models conform already. An enum
/// with such a raw value only needs to declare the conformance. All conversions are strict: `"1"` is not an `Int`, and
/// 1 is not a `String`.
public protocol JSONDecodable: Sendable {
    /// Creates the model.
    ///
    /// - Parameter json: The value to read.
    /// - Throws: A ``JSONDecodingFailure``, or an error of the model.
    init(json: JSON) throws
}

extension JSONDecodable {
    /// Creates the model from a value and adds the value's path to errors.
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
