extension Measurement {
    /// Measures the seconds to get a user once from each of many hosts.
    static func measureHosts(
        _ client: some Competitor,
        _ arguments: Arguments
    ) async throws -> KeyValuePairs<String, Double> {
        let port = try arguments.server.split(separator: ":").last ?? "80"
        let urls = try arguments.hosts.map { "http://\($0):\(port)/user.json" }
        let inFlight = try arguments.inFlight
        let requests: Int = try arguments.number("requests", default: urls.count)
        let clock = ContinuousClock()
        let start = clock.now
        let cpuSeconds = ResourceUsage.cpuSeconds
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<inFlight {
                group.addTask {
                    for number in stride(from: lane, to: requests, by: inFlight) {
                        guard let user = try await client.user(at: urls[number % urls.count]) else {
                            throw Unexpected(description: "the client has no option for host addresses")
                        }
                        try Unexpected.check(user)
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = (clock.now - start) / .seconds(1)
        return [
            "seconds": seconds,
            "rss": ResourceUsage.peakMiB,
            "rps": Double(requests) / seconds,
            "cpu": (ResourceUsage.cpuSeconds - cpuSeconds) / Double(requests) * 10_000,
        ]
    }

    /// Measures the KiB of memory of an idle connection, and the growth including memory that has been freed.
    ///
    /// The server holds `/held` until all its requests have arrived, so that each has its own connection.
    static func measureIdle(
        _ client: some Competitor,
        _ arguments: Arguments
    ) async throws -> KeyValuePairs<String, Double> {
        let count: Int = try arguments.number("count", default: 10_000)
        // The first requests load the memory that all connections share.
        guard let few = try await client.connect(16, path: "now") else {
            throw Unexpected(description: "the client does not report its number of connections")
        }
        try await settle()
        ResourceUsage.releaseFreeMemory()
        let before = ResourceUsage.residentKiB
        let all = try await client.connect(count, path: "held") ?? 0
        guard all >= count, all > few else {
            throw Unexpected(description: "there were \(all) connections, not \(count)")
        }
        try await settle()
        let grown = ResourceUsage.residentKiB
        ResourceUsage.releaseFreeMemory()
        let after = ResourceUsage.residentKiB
        let opened = Double(all - few)
        return ["kib": (after - before) / opened, "untrimmed": (grown - before) / opened]
    }

    /// Waits until the client's threads have released the state of finished requests.
    private static func settle() async throws {
        try await Task.sleep(for: .seconds(1))
    }
}
