/// A step of a ``RequestGraph``: its name and the type of its value.
///
/// ``RequestGraph`` returns a step for each one that is added. A step created directly stands for one that is added
/// later:
///
/// ```swift
/// let user = GraphStep<User>("user")
/// ```
public struct GraphStep<Value: Sendable>: Sendable, Hashable {
    /// The name of the step, unique in its graph.
    public let name: String

    /// Creates a step with a name.
    public init(_ name: String) {
        self.name = name
    }
}

extension GraphStep: ExpressibleByStringInterpolation, CustomStringConvertible {
    /// Creates a step from a string literal.
    public init(stringLiteral name: String) {
        self.init(name)
    }

    /// The name.
    public var description: String { name }
}
