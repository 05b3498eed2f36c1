import Sluice

/// Requests that fail in the way that the fault requires.
enum FaultKinds {
    static func all(_ clients: Clients) -> [Kind] {
        let data = { (client: APIClient, path: String) -> @Sendable () async throws -> Void in
            { _ = try await client.data.get(path).sender().value }
        }
        let (plain, retrying) = (clients.plain, clients.retrying)
        return [
            Kind("cut", .failure([.truncatedBody, .connectionLost]), work: data(plain, "cut")),
            Kind("reset", .failure([.connectionLost, .truncatedBody]), work: data(plain, "reset")),
            Kind("closed", .failure([.connectionLost]), work: data(plain, "closed")),
            Kind("garbage", .failure([.invalidResponse, .connectionLost]), work: data(plain, "garbage")),
            Kind("stalled", .failure([.idleTimedOut])) {
                try await promptly { _ = try await clients.shortTimeout.data.get("stalled").sender().value }
            },
            Kind("endless", .failure([.bodyTooLarge]), work: data(plain, "endless")),
            Kind("around", .failure([.redirectLoop]), work: data(plain, "around")),
            Kind("missing", .failure([.unacceptableStatus]), work: data(plain, "missing")),
            Kind("busy", .failure([.unacceptableStatus]), work: data(retrying, "busy")),
            Kind("retried", .failure([.truncatedBody, .connectionLost]), work: data(retrying, "cut")),
            Kind("broken", .failure([.decodingFailed])) {
                let _: ExchangeKinds.Item = try await plain.codable.get("broken").sender().value
            },
            Kind("deadline", .failure([.timedOut])) {
                try await promptly {
                    try await Deadline.withDeadline(.milliseconds(100), on: plain.configuration.clock) {
                        _ = try await plain.data.get("stalled").sender().value
                    }
                }
            },
            Kind("left unread") {
                for try await _ in plain.stream("endless").bytes { break }
            },
        ]
    }
}
