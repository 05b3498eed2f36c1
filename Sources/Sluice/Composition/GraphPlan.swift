/// The dependencies between the steps of a graph, checked before anything is sent. Takes linear time in the number of
/// steps and dependencies.
struct GraphPlan: Sendable {
    /// A step without its work.
    struct Step: Sendable {
        let name: String
        let output: GraphType
        let needs: [Need]
    }

    /// A dependency of a step on another.
    struct Need: Sendable {
        let name: String
        let type: GraphType
    }

    /// The positions of the steps by their names.
    let positions: [String: Int]
    /// The dependencies and the dependents of each step.
    let needs: [[Int]]
    let dependents: [[Int]]

    /// Creates a plan.
    ///
    /// - Parameter steps: The steps, in any order.
    /// - Throws: A failure with all defects of the steps.
    init(_ steps: [Step]) throws(GraphFailure) {
        var positions: [String: Int] = Dictionary(minimumCapacity: steps.count)
        var defects: [String] = []
        for (position, step) in steps.enumerated() {
            if positions[step.name] == nil {
                positions[step.name] = position
            } else {
                defects.append("More than one step is named “\(step.name)”.")
            }
        }
        var needs: [[Int]] = []
        needs.reserveCapacity(steps.count)
        var dependents: [[Int]] = Array(repeating: [], count: steps.count)
        for (position, step) in steps.enumerated() {
            var found: [Int] = []
            found.reserveCapacity(step.needs.count)
            for need in step.needs {
                guard let other = positions[need.name] else {
                    defects.append("The step “\(step.name)” depends on “\(need.name)”, which is not in the graph.")
                    continue
                }
                let type = steps[other].output
                if type != need.type {
                    defects.append(
                        "The step “\(step.name)” expects \(need.type) from “\(need.name)”, which gives \(type)."
                    )
                }
                found.append(other)
                dependents[other].append(position)
            }
            needs.append(found)
        }
        self.positions = positions
        self.needs = needs
        self.dependents = dependents
        var frontier = GraphFrontier(self)
        var isOrdered = Array(repeating: false, count: steps.count)
        while let position = frontier.next() {
            isOrdered[position] = true
            frontier.finish(position)
        }
        defects += cycles(among: isOrdered).map { cycle in
            let path = cycle.map { "“\(steps[$0].name)”" }.joined(separator: " → ")
            return "Steps depend on each other in a cycle: \(path)."
        }
        if !defects.isEmpty { throw GraphFailure(defects) }
    }

    /// Returns the cycles among the steps that cannot be ordered. Each begins and ends with the step that was added
    /// first.
    private func cycles(among isOrdered: [Bool]) -> [[Int]] {
        var isDone = isOrdered
        var cycles: [[Int]] = []
        for start in isDone.indices where !isDone[start] {
            var path: [Int] = []
            var pathIndexes: [Int: Int] = [:]
            var position: Int? = start
            while let current = position {
                if let begin = pathIndexes[current] {
                    cycles.append(Self.closed(Array(path[begin...])))
                    break
                }
                pathIndexes[current] = path.count
                path.append(current)
                position = needs[current].first { !isDone[$0] }
            }
            for current in path { isDone[current] = true }
        }
        return cycles
    }

    private static func closed(_ cycle: [Int]) -> [Int] {
        guard let first = cycle.min(), let begin = cycle.firstIndex(of: first) else { return cycle }
        return cycle[begin...] + cycle[..<begin] + [first]
    }

    /// Returns the dependencies of a step as names and types.
    static func needs<each Dependency: Sendable>(_ dependency: repeat GraphStep<each Dependency>) -> [Need] {
        var needs: [Need] = []
        for step in repeat each dependency { needs.append(step.need) }
        return needs
    }
}

extension GraphStep {
    fileprivate var need: GraphPlan.Need { GraphPlan.Need(name: name, type: GraphType(Value.self)) }
}

/// The type of a step's value.
struct GraphType: Sendable, Hashable, CustomStringConvertible {
    private let id: ObjectIdentifier
    private let type: any (Sendable & SendableMetatype).Type

    init<Value: Sendable>(_ type: Value.Type) {
        id = ObjectIdentifier(type)
        self.type = type
    }

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.id == rhs.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }

    var description: String { "\(type)" }
}

/// The steps of a graph that can run, updated as other steps end (Kahn's algorithm).
struct GraphFrontier: Sendable {
    private let plan: GraphPlan
    /// The number of unfinished dependencies of each step.
    private var missing: [Int]
    private var isSkipped: [Bool]
    private var ready: [Int] = []
    private var head = 0

    init(_ plan: GraphPlan) {
        self.plan = plan
        missing = plan.needs.map(\.count)
        isSkipped = Array(repeating: false, count: missing.count)
        ready.reserveCapacity(missing.count)
        for position in missing.indices where missing[position] == 0 { ready.append(position) }
    }

    /// Returns the next step that can run; nil if there is none at the moment.
    mutating func next() -> Int? {
        guard head < ready.count else { return nil }
        defer { head += 1 }
        return ready[head]
    }

    /// Records that a step has ended with a value.
    mutating func finish(_ position: Int) {
        for dependent in plan.dependents[position] {
            missing[dependent] -= 1
            if missing[dependent] == 0 { ready.append(dependent) }
        }
    }

    /// Records that a step has failed.
    ///
    /// - Parameter position: The step.
    /// - Returns: The steps that can no longer run because of it, without those already known.
    mutating func fail(_ position: Int) -> [Int] {
        var skipped: [Int] = []
        var pending = [position]
        while let current = pending.popLast() {
            for dependent in plan.dependents[current] where !isSkipped[dependent] {
                isSkipped[dependent] = true
                skipped.append(dependent)
                pending.append(dependent)
            }
        }
        return skipped
    }
}
