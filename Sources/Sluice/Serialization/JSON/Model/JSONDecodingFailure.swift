/// Why a JSON value is not the model it should be, and where.
///
/// ```
/// At “users[2].address.city” expected a string, found a number.
/// ```
///
/// A model of one's own throws it for a value that is not what it needs; whoever made the model of a part of a larger
/// value adds the way there.
///
/// ```swift
/// guard let colour = Colour(hex: json.stringValue) else {
///     throw JSONDecodingFailure(expected: "a colour as #rrggbb", found: json)
/// }
/// ```
public struct JSONDecodingFailure: Error, Sendable, CustomStringConvertible {
    /// Where the value stands, from the value that was to be decoded; empty for that value itself.
    public var path: JSONPath
    /// What should be there: “a string”, or the name of a model's type.
    public let expected: String
    /// The kind of what is there; nil if there is nothing.
    public let found: JSON.Kind?
    /// The error that a model threw, if that was another than this one.
    public let cause: (any Error)?

    /// Makes a failure of the value that a model is made of.
    ///
    /// - Parameters:
    ///   - expected: What it should be, with its article and without any of the value: “a date as yyyy-mm-dd”.
    ///   - json: What it is; only its kind is kept.
    ///   - cause: The error that says why.
    public init(expected: String, found json: JSON, cause: (any Error)? = nil) {
        path = JSONPath()
        self.expected = expected
        found = JSON.Kind(json)
        self.cause = cause
    }

    /// Makes a failure of a path that leads nowhere.
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

    /// What is wrong, without the place.
    var reason: String {
        "expected \(expected), found \(found.map(\.description) ?? "nothing")"
    }

    /// One sentence, with nothing of the JSON value but keys.
    public var description: String {
        path.isEmpty ? "The value is not right: \(reason)." : "At “\(path)” \(reason)."
    }
}
