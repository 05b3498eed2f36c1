/// Requests one after the other in each of several tasks, for a given time.
struct Load: Sendable {
    /// Requests under way at any moment.
    let inFlight: Int

    /// What was done, and what it took.
    struct Outcome {
        let requests: Int
        let seconds: Double
        let cpuSeconds: Double
    }

    /// Keeps the requests coming until the time is over, and then waits for those under way.
    func run(for duration: Duration, _ request: @escaping @Sendable () async throws -> Void) async throws -> Outcome {
        let clock = ContinuousClock()
        let cpuSeconds = ResourceUsage.cpuSeconds
        let start = clock.now
        let deadline = start + duration
        let requests = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<inFlight {
                group.addTask {
                    var count = 0
                    while clock.now < deadline {
                        try await request()
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return Outcome(
            requests: requests,
            seconds: (clock.now - start) / .seconds(1),
            cpuSeconds: ResourceUsage.cpuSeconds - cpuSeconds
        )
    }
}
