import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice

@Suite struct ConcurrencyLimitTests {
    private let client = APIClient()

    private func release(_ permit: Permit?, _ outcome: TransportOutcome = .answered(.ok)) {
        #expect(permit?.releaseImmediately(outcome) == .settled)
    }

    @Test func admitsImmediatelyWithinBothLimits() {
        let gate = ConcurrencyLimit(2, perHost: 1)
        let permit = gate.admitImmediately(client.requestContext("a.example"))
        #expect(permit != nil)
        #expect(gate.admitImmediately(client.requestContext("A.example:443")) == nil)
        #expect(gate.admitImmediately(client.requestContext("b.example")) != nil)
        #expect(gate.admitImmediately(client.requestContext("c.example")) == nil)
        #expect(gate.running == 2)
        release(permit)
        #expect(gate.running == 1)
    }

    @Test(
        arguments: [
            .answered(.ok), .answered(.serviceUnavailable), .failed(.cancelled), .failed(.gateFailed, .gate),
            .failed(.connectionLost),
        ] as [TransportOutcome]
    )
    func releasesSlotForEveryOutcome(_ outcome: TransportOutcome) {
        let gate = ConcurrencyLimit(1)
        release(gate.admitImmediately(client.requestContext("a")), outcome)
        #expect(gate.running == 0)
    }

    @Test func admitsRequestsWithoutKey() async throws {
        let gate = ConcurrencyLimit(each: 1, per: .key { $0.tags.first })
        #expect(gate.admitImmediately(client.requestContext("a", tags: ["x"])) != nil)
        #expect(gate.admitImmediately(client.requestContext("a", tags: ["x"])) == nil)
        #expect(gate.admitImmediately(client.requestContext("a", tags: ["y"])) != nil)
        for _ in 0..<10 { #expect(gate.admitImmediately(client.requestContext("a")) != nil) }
        release(try await gate.admit(client.requestContext("a")))
        #expect(gate.running == 2)
    }

    @Test func failsRequestWhenQueueIsFull() async throws {
        let gate = ConcurrencyLimit(1, maximumWaiting: 1)
        let permit = gate.admitImmediately(client.requestContext("a"))
        let waiting = Task { try await gate.admit(client.requestContext("a")) }
        await eventually { gate.waiting == 1 }
        let error = await #expect(throws: SluiceError.self) { try await gate.admit(client.requestContext("a")) }
        #expect(error?.code == .queueFull)
        #expect(error?.step == .gate)
        #expect(error?.underlyingError as? GateRefusal == GateRefusal(gate: "ConcurrencyLimit"))
        #expect(error?.description.contains("one request is already waiting") == true)
        release(permit)
        release(try await waiting.value)
        #expect(gate.running == 0)
    }

    @Test func cancelledWaiterLeavesAtOnceAndNextIsAdmitted() async throws {
        let gate = ConcurrencyLimit(1)
        let permit = gate.admitImmediately(client.requestContext("a"))
        let first = Task { try await gate.admit(client.requestContext("a")) }
        await eventually { gate.waiting == 1 }
        let second = Task { try await gate.admit(client.requestContext("a")) }
        await eventually { gate.waiting == 2 }
        first.cancel()
        // The waiter is removed at once, under the lock of the cancelling call, not in another task.
        #expect(gate.waiting == 1)
        let error = await #expect(throws: SluiceError.self) { try await first.value }
        #expect(error?.isCancellation == true)
        release(permit)
        release(try await second.value)
        #expect(gate.running == 0)
    }

    @Test func cancelledTaskTakesNoSlot() async {
        let gate = ConcurrencyLimit(1)
        let task = Task { [client] in
            while !Task.isCancelled { await Task.yield() }
            return try await gate.admit(client.requestContext("a"))
        }
        task.cancel()
        let error = await #expect(throws: SluiceError.self) { try await task.value }
        #expect(error?.isCancellation == true)
        #expect(gate.running == 0)
        #expect(gate.waiting == 0)
    }

    @Test func concurrentTasksKeepLimitAndReleaseAllSlots() async {
        let gate = ConcurrencyLimit(8, perHost: 3)
        let most = Locked((running: 0, most: 0, served: 0, cancelled: 0))
        await withTaskGroup { group in
            for seed in 0..<2000 as Range<UInt64> {
                let task = Task { [client] in
                    var random = SeededGenerator(seed: seed)
                    let host = ["a", "b", "c", "d"].randomElement(using: &random) ?? ""
                    let permit: Permit
                    do {
                        permit = try await gate.admit(client.requestContext(host))
                    } catch {
                        return most.withLock { $0.cancelled += 1 }
                    }
                    most.withLock { state in
                        state.served += 1
                        state.running += 1
                        state.most = max(state.most, state.running)
                    }
                    for _ in 0..<Int.random(in: 0..<3, using: &random) { await Task.yield() }
                    most.withLock { $0.running -= 1 }
                    _ = permit.releaseImmediately(.answered(.ok))
                }
                group.addTask {
                    if seed % 3 == 0 {
                        for _ in 0..<seed % 7 { await Task.yield() }
                        task.cancel()
                    }
                    await task.value
                }
            }
        }
        let state = most.withLock { $0 }
        #expect(state.most <= 8)
        #expect(state.served + state.cancelled == 2000)
        #expect(gate.running == 0)
        #expect(gate.waiting == 0)
    }

    @Test func slotPassesThroughThousandWaiters() async throws {
        let gate = ConcurrencyLimit(each: 1)
        let first = try #require(gate.admitImmediately(client.requestContext("a")))
        let tasks = (0..<1000).map { _ in
            Task { [client] in release(try await gate.admit(client.requestContext("a"))) }
        }
        await eventually { gate.waiting == 1000 }
        release(first)
        for task in tasks { try await task.value }
        #expect(gate.running == 0)
    }
}
