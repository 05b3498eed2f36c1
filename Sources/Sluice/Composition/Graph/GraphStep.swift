/// A step of a ``RequestGraph``: its name, and the type of what it gives.
///
/// ``RequestGraph`` gives one back for every step that is added. One made by itself stands for a step that is added later:
///
/// ```swift
/// let user = GraphStep<User>("user")
/// ```
public struct GraphStep<Value: Sendable>: Sendable, Hashable {
    /// By what failures tell it from the graph's other steps.
    public let name: String

    /// Makes a step of a name.
    public init(_ name: String) {
        self.name = name
    }
}

extension GraphStep: ExpressibleByStringInterpolation, CustomStringConvertible {
    /// Makes a step of a literal name.
    public init(stringLiteral name: String) {
        self.init(name)
    }

    /// The name.
    public var description: String { name }
}
