import SluiceHTTP

extension RequestGraph {
    /// Runs all steps, each as soon as its dependencies have ended.
    ///
    /// ```swift
    /// let results = try await graph.run(failsFast: false)
    /// for failure in results.failures { print(failure) }
    /// ```
    ///
    /// - Parameters:
    ///   - maximumInFlight: The maximum number of steps that run at once, at least 1; ``APIClient/batchLimit`` by
    ///     default.
    ///   - failsFast: True to cancel the other steps and their transfers after the first failure, and to fail the
    ///     graph; true by default. Otherwise all steps that do not depend on it run, and the results contain the
    ///     failures.
    /// - Returns: The values of the steps. A graph without steps returns at once.
    /// - Throws: The defects of the graph, before anything is sent; with `failsFast`, the failure of the step that
    ///   failed first; a cancellation if the calling task was cancelled.
    public func run(
        maximumInFlight: Int = APIClient.batchLimit,
        failsFast: Bool = true
    ) async throws(GraphFailure) -> GraphResults {
        let plan = try GraphPlan(plans)
        let run = await GraphRun(works: works, plan: plan, limit: max(1, maximumInFlight), failsFast: failsFast)
            .outcomes()
        if let first = run.firstFailure { throw GraphFailure(step: plans[first.position].name, first.error) }
        if run.isCancelled, failsFast { throw GraphFailure(SluiceError.cancelled) }
        return GraphResults(names, plan.positions, outcomes(run.outcomes, plan))
    }

    /// Adds the reasons to the steps that did not run.
    private func outcomes(_ outcomes: [GraphResults.Outcome?], _ plan: GraphPlan) -> [GraphResults.Outcome] {
        var causes: [Int: Int] = [:]
        var frontier = GraphFrontier(plan)
        for (position, outcome) in outcomes.enumerated() {
            guard case .failure = outcome else { continue }
            for skipped in frontier.fail(position) { causes[skipped] = position }
        }
        return outcomes.enumerated().map { position, outcome in
            if let outcome { return outcome }
            let cause = causes[position].map { SluiceError.dependencyFailed(plans[$0].name) }
            return .failure(cause ?? SluiceError.cancelled)
        }
    }
}

/// One run of a graph.
private struct GraphRun {
    /// The outcomes of a run.
    struct End {
        var outcomes: [GraphResults.Outcome?]
        /// The failure that ended the run early; nil if there was none.
        var firstFailure: (position: Int, error: any Error)?
        var isCancelled = false
    }

    let works: [RequestGraph.Work]
    let plan: GraphPlan
    let limit: Int
    let failsFast: Bool

    /// Runs the steps and returns when none is running any more.
    func outcomes() async -> End {
        await withTaskGroup(of: (Int, GraphResults.Outcome).self) { group in
            var end = End(outcomes: Array(repeating: nil, count: works.count))
            var frontier = GraphFrontier(plan)
            var underWay = 0
            while true {
                while underWay < limit, end.firstFailure == nil, !Task.isCancelled, let position = frontier.next() {
                    let inputs = inputs(of: position, end.outcomes)
                    let work = works[position]
                    underWay += 1
                    group.addTask {
                        do {
                            return (position, .success(try await work(inputs)))
                        } catch {
                            return (position, .failure(error))
                        }
                    }
                }
                guard let (position, outcome) = await group.next() else { break }
                underWay -= 1
                end.outcomes[position] = outcome
                switch outcome {
                case .success:
                    frontier.finish(position)
                case .failure(let error):
                    // A step that fails after the caller is cancelled fails because of the cancellation.
                    guard failsFast, end.firstFailure == nil, !Task.isCancelled else { continue }
                    end.firstFailure = (position, error)
                    group.cancelAll()
                }
            }
            end.isCancelled = Task.isCancelled && end.outcomes.contains { (try? $0?.get()) == nil }
            return end
        }
    }

    private func inputs(of position: Int, _ outcomes: [GraphResults.Outcome?]) -> GraphInputs {
        GraphInputs(plan.needs[position].compactMap { try? outcomes[$0]?.get() })
    }
}

extension SluiceError {
    fileprivate static func dependencyFailed(_ name: String) -> SluiceError {
        SluiceError(
            .dependencyFailed,
            "The step was not run, since “\(name)”, which it needs, came to nothing.",
            step: .building
        )
    }
}
