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

    /// Records that a step has given its value.
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
