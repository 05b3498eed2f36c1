extension Measurement {
    /// Measures milliseconds for equal concurrent requests, or microseconds for a step of a graph.
    static func measureComposition(
        _ client: some Competitor,
        _ arguments: Arguments
    ) async throws -> KeyValuePairs<String, Double> {
        var times: [Duration] = []
        let count: Int = try arguments.number("count", default: 1000)
        // The first run warms up the process.
        for _ in 0..<6 {
            if arguments.mode == .sharing {
                guard let shared = try await client.share(count) else {
                    throw Unexpected(description: "the client does not share transfers")
                }
                guard shared.transfers == 1 else {
                    throw Unexpected(description: "there were \(shared.transfers) transfers")
                }
                times.append(shared.time)
            } else {
                guard let run = try await client.runGraph(count) else {
                    throw Unexpected(description: "the client has no graphs")
                }
                guard run.steps == count else { throw Unexpected(description: "\(run.steps) steps ran, not \(count)") }
                times.append(run.time)
            }
        }
        let median = times.dropFirst().sorted()[2]
        if arguments.mode == .sharing { return ["milliseconds": median / .milliseconds(1)] }
        return ["microseconds": median / .microseconds(1) / Double(count)]
    }
}
