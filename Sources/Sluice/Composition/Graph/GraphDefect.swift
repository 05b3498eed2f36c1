/// A defect of a ``RequestGraph`` that prevents it from running.
public struct GraphDefect: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of defects.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the member.
        public let description: String

        /// Two steps have the same name.
        public static let duplicateName = Kind(description: "duplicateName")
        /// A step depends on a step that was not added.
        public static let missingStep = Kind(description: "missingStep")
        /// A step expects a value of another type than its dependency gives.
        public static let mismatchedType = Kind(description: "mismatchedType")
        /// Steps depend on each other in a cycle.
        public static let cycle = Kind(description: "cycle")
    }

    /// The kind of the defect.
    public let kind: Kind
    /// The names of the steps. For a missing step: its name, then the step that needs it. For a mismatch: the dependent
    /// step, then its dependency. For a cycle: all steps in order, each before its dependency, with the first repeated
    /// at the end.
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
