/// Sends requests in several tasks, one after another in each, for a given time.
struct Load: Sendable {
    /// The number of concurrent requests.
    let inFlight: Int

    /// The number of requests, and the resources they used.
    struct Outcome {
        let requests: Int
        let seconds: Double
        let cpuSeconds: Double
    }

    /// Sends requests until the time is over, and then waits for those in progress.
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
