import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Sluice
import SluiceTesting
import Testing

@testable import UserService

/// Serialized, because a service that ends closes the idle connections of all clients, which share a transport.
@Suite(.serialized) struct LifecycleTests {
    private var logger: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

    /// Runs the whole service on a port that the system chooses.
    private func withGroup(
        _ upstream: FakeUpstream,
        environment: [String: String] = [:],
        logger: Logger? = nil,
        configure: (inout ServiceOptions) -> Void = { _ in },
        _ body: (UserServiceGroup, APIClient) async throws -> Void
    ) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        var options = upstream.options
        options.port = 0
        configure(&options)
        let logger = logger ?? self.logger
        let service = UserServiceGroup(options, environment: environment, logger: logger) { port.yield($0) }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { port.finish() }
                try await service.group.run()
            }
            let number = try #require(await ports.first { _ in true })
            do {
                try await body(service, APIClient(baseURL: "http://127.0.0.1:\(number)"))
            } catch {
                await service.group.triggerGracefulShutdown()
                throw error
            }
            await service.group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    private func status(_ path: String, _ caller: APIClient) async -> HTTPStatus? {
        await caller.data.get(path).sender().response.status
    }

    @Test func theServiceIsReadyWhenTheUpstreamHasAnswered() async throws {
        let upstream = try FakeUpstream()
        defer { upstream.stop() }
        let signal = LoopbackSignal()
        upstream.api.on(.head, "/", .after(signal, .status(.notFound)))
        try await withGroup(upstream) { _, caller in
            await upstream.api.waitForRequests(1)
            #expect(upstream.tally.tokens == 1)
            #expect(await status("ready", caller) == .serviceUnavailable)
            #expect(await status("health", caller) == .ok)
            signal.fire()
            try await waitUntil("the service is ready") { await status("ready", caller) == .ok }
            // The connection and the token of the warm-up are used.
            #expect(await status("users/7", caller) == .ok)
            #expect(upstream.api.connections == 1 && upstream.tally.tokens == 1)
        }
    }

    @Test func aServiceWithoutItsUpstreamIsReadyAfterTheWarmUp() async throws {
        let upstream = try FakeUpstream()
        upstream.stop()
        try await withGroup(upstream) {
            $0.warmUpTimeout = .milliseconds(50)
        } _: { _, caller in
            try await waitUntil("the service is ready") { await status("ready", caller) == .ok }
            #expect(await status("users/7", caller) == .badGateway)
        }
    }

    @Test func aRequestThatHasArrivedIsAnsweredAtTheEnd() async throws {
        let upstream = try FakeUpstream()
        defer { upstream.stop() }
        let signal = LoopbackSignal()
        upstream.api.on("/users/7", .after(signal, .json(encoding: FakeUpstream.user(7))))
        try await withGroup(upstream) { service, caller in
            try await waitUntil("the service is ready") { await status("ready", caller) == .ok }
            async let last = status("users/7", caller)
            try await waitUntil("the request arrives") { !upstream.api.requests(to: "/users/7").isEmpty }
            await service.group.triggerGracefulShutdown()
            signal.fire()
            #expect(await last == .ok)
        }
    }

    @Test func theServiceIsNotReadyBeforeItEnds() async throws {
        let clock = TestClock()
        let readiness = Readiness(delay: .seconds(5), clock: clock) {}
        let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [readiness], logger: logger))
        async let end: Void = group.run()
        try await waitUntil("the service is ready") { readiness.phase == .ready }
        await group.triggerGracefulShutdown()
        await clock.waitForSleepers(1)
        #expect(readiness.phase == .ending)
        clock.advance(by: .seconds(5))
        try await end
    }

    @Test func theClientIsDrainedAtTheEnd() async throws {
        let upstream = try FakeUpstream()
        defer { upstream.stop() }
        let client = APIClient.users(upstream.options)
        let readiness = Readiness {}
        let services: [any Service] = [UpstreamDrain(client: client, logger: logger), readiness]
        let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: services, logger: logger))
        async let end: Void = group.run()
        try await waitUntil("the service is ready") { readiness.phase == .ready }
        #expect(await status("users/7", client) == .ok)
        await group.triggerGracefulShutdown()
        try await end
        let response = await client.data.get("users/7").sender().response
        #expect(response.failure?.code == .drained)
    }

    @Test func metricsOfTheUpstreamAreText() async throws {
        let upstream = try FakeUpstream()
        defer { upstream.stop() }
        try await withGroup(upstream) { _, caller in
            #expect(await status("users/7", caller) == .ok)
            let response = await caller.string.get("metrics").header("Accept", "application/openmetrics-text")
                .sender().response
            #expect(response.head?.headers["Content-Type"]?.hasPrefix("application/openmetrics-text") == true)
            let text = try response.result.get()
            #expect(text.contains(#"route="users/{}",status="2xx",protocol="1.1"} 1"#), "\(text)")
            #expect(text.hasSuffix("# EOF\n"))
        }
    }

    @Test func spansAreExportedAtTheEndAndContinueTheCallersTrace() async throws {
        let upstream = try FakeUpstream()
        let collector = try LoopbackServer()
        defer {
            upstream.stop()
            collector.stop()
        }
        collector.on(.post, "/v1/*", .json("{}"))
        let environment = ["OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"]
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        try await withGroup(upstream, environment: environment) { _, caller in
            let request = caller.data.get("users/7").header("traceparent", "00-\(trace)-00f067aa0ba902b7-01")
            #expect(await request.sender().response.status == .ok)
        }
        let sent = upstream.api.requests(to: "/users/7").first?.headers["traceparent"]
        #expect(sent?.hasPrefix("00-\(trace)-") == true)
        let spans = collector.requests(to: "/v1/traces").map { String(decoding: $0.body, as: UTF8.self) }.joined()
        #expect(spans.contains(trace) && spans.contains("user-service"), "\(spans)")
        #expect(!collector.requests(to: "/v1/metrics").isEmpty)
    }

    @Test func telemetryThatTheCollectorRefusesIsLogged() async throws {
        let upstream = try FakeUpstream()
        let collector = try LoopbackServer()
        defer {
            upstream.stop()
            collector.stop()
        }
        collector.on(.post, "/v1/*", .status(.badRequest))
        let environment = ["OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"]
        let log = RecordingLogHandler.Log()
        let logger = Logger(label: "test") { _ in RecordingLogHandler(log) }
        try await withGroup(upstream, environment: environment, logger: logger) { _, caller in
            #expect(await status("users/7", caller) == .ok)
        }
        #expect(log.messages.contains { $0.hasPrefix("Not all telemetry was exported: ") }, "\(log.messages)")
    }
}
