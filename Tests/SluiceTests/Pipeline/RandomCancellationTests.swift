#if os(Linux)
import Foundation
import Sluice
import SluiceEngine
import SluiceHTTP
import SluiceTesting
import XCTest

/// Counts the live objects of one test.
private final class LiveObjects: Sendable {
    private let total = Locked(0)

    var count: Int { total.withLock { $0 } }

    final class Member: Sendable {
        private let liveObjects: LiveObjects

        init(_ liveObjects: LiveObjects) {
            self.liveObjects = liveObjects
            liveObjects.total.withLock { $0 += 1 }
        }

        deinit {
            liveObjects.total.withLock { $0 -= 1 }
        }
    }
}

final class RandomCancellationTests: XCTestCase {
    /// Returns the open descriptors of the process by target. Each socket has its own target; other targets are counted.
    private static func openDescriptors() throws -> [String: Int] {
        let folder = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: [:]) { counts, name in
            // A descriptor that was closed meanwhile has no target.
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            if let target { counts[target, default: 0] += 1 }
        }
    }

    /// Sends a request, so that the engine has opened the descriptors that it keeps.
    private static func startEngine() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        _ = try await APIClient(baseURL: server.url).data.request("").sender().value
    }

    func testRandomCancellationsLeakNothing() async throws {
        let workers = 100
        let requestsPerWorker = 1000
        try await Self.startEngine()
        let before = try Self.openDescriptors()
        let liveObjects = LiveObjects()
        var outcomes = [SluiceError.Code?: Int]()
        do {
            let server = try LoopbackServer()
            server.recordsRequests = false
            server.on("/user", .json(#"{"id":1,"name":"Ada"}"#))
            server.on("/hang", .hang)
            let client = APIClient(baseURL: server.url)
            outcomes = await withTaskGroup(of: [SluiceError.Code?: Int].self) { group in
                for worker in 0..<workers {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(worker))
                        var outcomes = [SluiceError.Code?: Int]()
                        for _ in 0..<requestsPerWorker {
                            let code = await Self.runRequest(client, liveObjects, &random)
                            outcomes[code, default: 0] += 1
                        }
                        return outcomes
                    }
                }
                return await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
            }
        }
        XCTAssertEqual(outcomes.values.reduce(0, +), workers * requestsPerWorker)
        XCTAssertEqual(Set(outcomes.keys), [nil, .cancelled])
        XCTAssertGreaterThan(outcomes[.cancelled] ?? 0, workers * requestsPerWorker / 10)
        XCTAssertGreaterThan(outcomes[nil] ?? 0, workers * requestsPerWorker / 10)
        // Idle connections of other tests may remain or close meanwhile, because XCTest keeps some servers until the end.
        try await waitUntil("all descriptors that were not open before are closed", within: .seconds(600)) {
            try Self.openDescriptors().allSatisfy { $0.value <= before[$0.key, default: 0] }
        }
        // A connection's descriptor is closed just before its slot is released.
        try await waitUntil("no slot is held", within: .seconds(600)) {
            let statistics = SocketTransport.statistics()
            return statistics.activeTransfers == 0 && statistics.queuedTransfers == 0
        }
        // A request with a lost continuation would keep its objects alive.
        try await waitUntil("no request is held", within: .seconds(600)) { liveObjects.count == 0 }
    }

    /// Sends a request, and then waits, cancels the task, cancels the sender, cancels one of two waiting callers, or releases it.
    private static func runRequest(
        _ client: APIClient,
        _ liveObjects: LiveObjects,
        _ random: inout SeededGenerator
    ) async -> SluiceError.Code? {
        let member = LiveObjects.Member(liveObjects)
        let rule: Validation.Rule = { _, _ in withExtendedLifetime(member) {} }
        let action = Int.random(in: 0..<8, using: &random)
        let isHanging = action < 3 && Bool.random(using: &random)
        let sender = client.codable.request(isHanging ? "hang" : "user", as: User.self)
            .validate(Validation(rules: [rule])).sender()
        let pauses = Int.random(in: 0..<20, using: &random)
        switch action {
        case 0:
            let task = Task { await sender.result }
            for _ in 0..<pauses { await Task.yield() }
            task.cancel()
            return await task.value.failure?.code
        case 1:
            let task = Task { await sender.result }
            for _ in 0..<pauses { await Task.yield() }
            sender.cancel()
            return await task.value.failure?.code
        case 2:
            let tasks = (0..<2).map { _ in Task { await sender.result } }
            for _ in 0..<pauses { await Task.yield() }
            for task in tasks { task.cancel() }
            let code = await tasks[0].value.failure?.code
            _ = await tasks[1].value
            return code
        case 3:
            sender.cancel()
            return await sender.result.failure?.code
        default:
            return await sender.result.failure?.code
        }
    }
}
#endif
