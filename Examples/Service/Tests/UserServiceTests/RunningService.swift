import ServiceLifecycle
import Sluice

@testable import UserService

/// Runs the service on a port that the system chooses.
///
/// - Parameters:
///   - client: The client for the upstream.
///   - maximumTimeout: The maximum duration of a request.
///   - body: Called with the URL of the running service.
/// - Returns: The result of the closure.
/// - Throws: The error of the closure, or of starting the service.
func withService<Value: Sendable>(
    _ client: APIClient,
    maximumTimeout: Duration = .seconds(10),
    _ body: (String) async throws -> Value
) async throws -> Value {
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    let server = UserServer(client: client, maximumTimeout: maximumTimeout)
    var application = server.application(host: "127.0.0.1", port: 0) { port.yield($0) }
    application.logger.logLevel = .critical
    let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(services: [application], logger: application.logger)
    )
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask {
            defer { port.finish() }
            try await group.run()
        }
        guard let port = await ports.first(where: { _ in true }) else {
            try await tasks.waitForAll()
            throw CancellationError()
        }
        do {
            let value = try await body("http://127.0.0.1:\(port)")
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return value
        } catch {
            await group.triggerGracefulShutdown()
            throw error
        }
    }
}
