/// What is wrong with a ``RequestGraph``, so that it cannot be run.
public struct GraphDefect: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of defects.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the member.
        public let description: String

        /// Two steps have one name.
        public static let duplicateName = Kind(description: "duplicateName")
        /// A step needs one that was not added.
        public static let missingStep = Kind(description: "missingStep")
        /// A step needs a value of another type than the step of that name gives.
        public static let mismatchedType = Kind(description: "mismatchedType")
        /// Steps need each other in a circle.
        public static let cycle = Kind(description: "cycle")
    }

    /// What kind of defect it is.
    public let kind: Kind
    /// The names of the steps: a missing one, and then the one that needs it; of a mismatch the step that needs the other, and the
    /// other; of a cycle the whole way around, each before what it needs, the first of them again at the end.
    public let steps: [String]
    /// A sentence that names the steps.
    public let description: String

    static func duplicate(_ name: String) -> GraphDefect {
        GraphDefect(kind: .duplicateName, steps: [name], description: "More than one step is named “\(name)”.")
    }

    static func missing(_ name: String, for dependent: String) -> GraphDefect {
        GraphDefect(
            kind: .missingStep,
            steps: [name, dependent],
            description: "The step “\(dependent)” needs “\(name)”, which is not in the graph."
        )
    }

    static func mismatch(_ name: String, _ need: GraphPlan.Need, _ type: GraphType) -> GraphDefect {
        GraphDefect(
            kind: .mismatchedType,
            steps: [name, need.name],
            description: "The step “\(name)” needs “\(need.name)” to give \(need.type), but it gives \(type)."
        )
    }

    static func cycle(_ names: [String]) -> GraphDefect {
        let path = names.map { "“\($0)”" }.joined(separator: " → ")
        return GraphDefect(kind: .cycle, steps: names, description: "Steps need each other in a circle: \(path).")
    }
}
