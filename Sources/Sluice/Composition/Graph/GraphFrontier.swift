/// Which steps of a graph can run, as others end (Kahn's order).
struct GraphFrontier: Sendable {
    private let plan: GraphPlan
    /// How much of what each step needs is still to come.
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

    /// The next step that can run; nil where all those that can have been given.
    mutating func next() -> Int? {
        guard head < ready.count else { return nil }
        defer { head += 1 }
        return ready[head]
    }

    /// Notes that a step has given its value.
    mutating func finish(_ position: Int) {
        for dependent in plan.dependents[position] {
            missing[dependent] -= 1
            if missing[dependent] == 0 { ready.append(dependent) }
        }
    }

    /// Notes that a step has failed.
    ///
    /// - Parameter position: The step.
    /// - Returns: Those that can never run for it, and were not known not to.
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
