extension Measurement {
    /// Seconds it takes to get a user once from each of many hosts.
    static func measureHosts(
        _ client: some Competitor,
        _ arguments: Arguments
    ) async throws -> KeyValuePairs<String, Double> {
        let port = try arguments.server.split(separator: ":").last ?? "80"
        let urls = try arguments.hosts.map { "http://\($0):\(port)/user.json" }
        let inFlight = try arguments.inFlight
        let clock = ContinuousClock()
        let start = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<inFlight {
                group.addTask {
                    for number in stride(from: lane, to: urls.count, by: inFlight) {
                        guard let user = try await client.user(at: urls[number]) else {
                            throw Unexpected(description: "the client cannot be told where hosts are")
                        }
                        try Unexpected.check(user)
                    }
                }
            }
            try await group.waitForAll()
        }
        return ["seconds": (clock.now - start) / .seconds(1), "rss": ResourceUsage.peakMiB]
    }

    /// KiB of memory that an idle connection holds, and the growth with the memory that was freed meanwhile.
    ///
    /// The server answers `/held` once all requests for it have come, so that each has a connection of its own.
    static func measureIdle(
        _ client: some Competitor,
        _ arguments: Arguments
    ) async throws -> KeyValuePairs<String, Double> {
        let count: Int = try arguments.number("count", default: 10_000)
        // The first requests bring into memory the parts that all connections share.
        guard let few = try await client.connect(16, path: "now") else {
            throw Unexpected(description: "the client does not tell how many connections it has")
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

    /// Gives the client's threads time to put away what belonged to the requests.
    private static func settle() async throws {
        try await Task.sleep(for: .seconds(1))
    }
}
