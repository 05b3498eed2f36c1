import Logging
import ServiceLifecycle
import Sluice

/// Drains the client of the upstream when the service ends.
///
/// Before the server in a group, it ends after it. No handler sends requests then, but a refresh of a token may still run.
struct UpstreamDrain: Service {
    /// The maximum time for requests that are running.
    static let limit = Duration.seconds(5)

    let client: APIClient
    let logger: Logger

    func run() async throws {
        // A cancelled wait is an end of the service too.
        try? await gracefulShutdown()
        let isComplete = await client.drain(within: Self.limit)
        if !isComplete { logger.warning("Requests to the upstream were cancelled.") }
    }
}
