/// The reason a JSON value could not be decoded as a model, with its path.
///
/// ```
/// At “users[2].address.city” expected a string, found a number.
/// ```
///
/// A model throws this error for an unsuitable value. The decoding of the enclosing value adds its path.
///
/// ```swift
/// guard let colour = Colour(hex: json.stringValue) else {
///     throw JSONDecodingFailure(expected: "a colour as #rrggbb", found: json)
/// }
/// ```
public struct JSONDecodingFailure: Error, Sendable, CustomStringConvertible {
    /// The path from the decoded value; empty for that value itself.
    public var path: JSONPath
    /// The expected content: “a string”, or the name of a model type.
    public let expected: String
    /// The kind of the actual value; nil if it is missing.
    public let found: JSON.Kind?
    /// The error that the model threw, if it is not a `JSONDecodingFailure`.
    public let cause: (any Error)?

    /// Creates a failure for the value that a model is created from.
    ///
    /// - Parameters:
    ///   - expected: A description of the expected value with its article and without any of the value: “a date as
    ///     yyyy-mm-dd”.
    ///   - json: The actual value. Only its kind is stored.
    ///   - cause: The underlying error.
    public init(expected: String, found json: JSON, cause: (any Error)? = nil) {
        path = JSONPath()
        self.expected = expected
        found = JSON.Kind(json)
        self.cause = cause
    }

    /// Creates a failure for a path that has no value.
    init(_ failure: JSONPathFailure, expected model: Any.Type) {
        cause = failure
        if failure.isMissing, failure.found != .null {
            path = failure.path
            expected = "\(model)"
            found = nil
        } else {
            path = failure.reached
            expected = failure.isIndex ? "an array" : "an object"
            found = failure.found
        }
    }

    /// The problem without the path.
    var reason: String {
        "expected \(expected), found \(found.map(\.description) ?? "nothing")"
    }

    /// A one-sentence description that contains nothing of the JSON value except keys.
    public var description: String {
        path.isEmpty ? "The value is not right: \(reason)." : "At “\(path)” \(reason)."
    }
}
