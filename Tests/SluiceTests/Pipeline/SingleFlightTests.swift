import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct SingleFlightTests {
    /// Work that signals its start, ends when a test allows it, and records a cancellation.
    private final class Work: Sendable {
        let begun = AsyncStream<Void>.makeStream()
        let release = AsyncStream<Void>.makeStream()
        private let counts = Locked((begun: 0, cancelled: 0))

        var timesBegun: Int { counts.withLock { $0.begun } }
        var timesCancelled: Int { counts.withLock { $0.cancelled } }

        func run() async -> String {
            counts.withLock { $0.begun += 1 }
            begun.continuation.yield()
            for await _ in release.stream { break }
            if Task.isCancelled { counts.withLock { $0.cancelled += 1 } }
            return Task.isCancelled ? "stopped" : "done"
        }

        func waitUntilBegun() async {
            for await _ in begun.stream { break }
        }

        func flight() -> SingleFlight<String> {
            SingleFlight(cancelled: "cancelled") { flight in
                let task = Task { flight.complete(await self.run()) }
                return { task.cancel() }
            }
        }
    }

    @Test func allWaitersGetValueOfOneRun() async {
        let work = Work()
        let flight = work.flight()
        let tasks = (0..<10).map { _ in Task { await flight.value() } }
        await work.waitUntilBegun()
        work.release.continuation.yield()
        for task in tasks { #expect(await task.value == "done") }
        #expect(await flight.value() == "done")
        #expect(work.timesBegun == 1)
    }

    @Test func cancelsWorkWhenLastWaiterLeaves() async {
        let work = Work()
        let flight = work.flight()
        let first = Task { await flight.value() }
        await work.waitUntilBegun()
        let second = Task.immediate { await flight.value() }
        first.cancel()
        #expect(await first.value == nil)
        #expect(work.timesCancelled == 0)
        second.cancel()
        #expect(await second.value == nil)
        while work.timesCancelled == 0 { await Task.yield() }
        #expect(await flight.value() == "cancelled")
        #expect(work.timesBegun == 1)
    }

    @Test func cancelIsImmediateAndFinal() async {
        let work = Work()
        let flight = work.flight()
        let task = Task { await flight.value() }
        await work.waitUntilBegun()
        flight.cancel()
        #expect(await task.value == "cancelled")
        #expect(await flight.value() == "cancelled")
        flight.cancel()
        while work.timesCancelled == 0 { await Task.yield() }
    }

    @Test func cancelBeforeStartDoesNotBeginWork() async {
        let work = Work()
        let flight = work.flight()
        flight.cancel()
        #expect(await flight.value() == "cancelled")
        #expect(work.timesBegun == 0)
    }

    @Test func cancelledCallerDoesNotBeginWork() async {
        let work = Work()
        let flight = work.flight()
        let cancelled = Task {
            while !Task.isCancelled { await Task.yield() }
            return await flight.value()
        }
        cancelled.cancel()
        #expect(await cancelled.value == nil)
        #expect(work.timesBegun == 0)
        work.release.continuation.yield()
        #expect(await flight.value() == "done")
    }

    @Test func callbackWaitersLeaveIndividually() async throws {
        let work = Work()
        let flight = work.flight()
        let calls = Shared([String?]())
        let leave = try #require(flight.join { value in calls.change { $0.append(value) } })
        let stays = flight.join { value in calls.change { $0.append(value) } }
        #expect(stays != nil)
        await work.waitUntilBegun()
        #expect(flight.waiting == 2)
        leave()
        leave()
        #expect(calls.read == [nil])
        work.release.continuation.yield()
        #expect(await flight.value() == "done")
        await eventually { calls.read.count == 2 }
        #expect(calls.read == [nil, "done"])
        stays?()
        #expect(flight.join { value in calls.change { $0.append(value) } } != nil)
        #expect(calls.read == [nil, "done", "done"])
        #expect(work.timesCancelled == 0)
    }

    @Test func rejectsWaiterAfterAllHaveLeft() async throws {
        let work = Work()
        let flight = work.flight()
        let calls = Shared(0)
        let leave = try #require(flight.join { _ in calls.change { $0 += 1 } })
        await work.waitUntilBegun()
        leave()
        #expect(flight.join { _ in calls.change { $0 += 1 } } == nil)
        #expect(calls.read == 1)
        await eventually { work.timesCancelled == 1 }
    }

    @Test(arguments: 0..<20)
    func randomJoinsAndCancellationsEndEveryWaiter(_ seed: Int) async {
        for _ in 0..<50 {
            let flight = SingleFlight(cancelled: "cancelled") { flight in
                let task = Task { flight.complete("done") }
                return { task.cancel() }
            }
            await withTaskGroup(of: String?.self) { group in
                for _ in 0..<8 { group.addTask { await flight.value() } }
                if seed.isMultiple(of: 2) {
                    group.addTask {
                        flight.cancel(); return "cancelled"
                    }
                }
                if seed.isMultiple(of: 3) { group.cancelAll() }
                for await value in group { #expect(["done", "cancelled", nil].contains(value)) }
            }
        }
    }
}
