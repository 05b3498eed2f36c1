import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice

/// The entries of running requests.
@Suite struct RunningRequestsTests {
    private final class Request: CancellableRequest {
        let cancellations = Locked(0)

        func cancel() { cancellations.withLock { $0 += 1 } }
    }

    private let requests = RunningRequests()
    private let clock = TestClock()

    @Test func ticketOfAnEarlierRequestDoesNotRemoveALaterOne() throws {
        let (first, second) = (Request(), Request())
        let ticket = try #require(requests.enter(first))
        requests.leave(ticket)
        _ = requests.enter(second)
        // The second request uses the same slot.
        requests.leave(ticket)
        requests.cancelAll()
        #expect(first.cancellations.withLock(\.self) == 0)
        #expect(second.cancellations.withLock(\.self) == 1)
    }

    @Test func closedEntryRefusesRequests() async {
        #expect(requests.enter(Request()) != nil)
        requests.close()
        #expect(requests.enter(Request()) == nil)
        let isEmpty = await requests.waitUntilEmpty(within: .zero, on: clock)
        #expect(!isEmpty)
    }

    @Test func allWaitersReturnWhenTheLastRequestLeaves() async throws {
        let tickets = try (0..<3).map { _ in try #require(requests.enter(Request())) }
        requests.close()
        let waiters = (0..<4).map { _ in
            Task { [requests, clock] in await requests.waitUntilEmpty(within: .seconds(10), on: clock) }
        }
        await clock.waitForSleepers(4)
        for ticket in tickets { requests.leave(ticket) }
        for waiter in waiters { #expect(await waiter.value) }
    }

    @Test func workThatOtherClientsMayNeedIsNotCancelled() async throws {
        let signal = AsyncSignal()
        let wasCancelled = Shared<[Bool]>([])
        let tasks = [true, false].compactMap { isShared in
            requests.start(isShared: isShared) {
                await signal.wait()
                wasCancelled.change { $0.append(Task.isCancelled == !isShared) }
            }
        }
        #expect(tasks.count == 2)
        requests.close()
        requests.cancelAll()
        let isEmpty = await requests.waitUntilEmpty(within: .zero, on: clock)
        #expect(!isEmpty)
        signal.open()
        for task in tasks { await task.value }
        #expect(wasCancelled.read == [true, true])
        let isEmptyAtLast = await requests.waitUntilEmpty(within: .zero, on: clock)
        #expect(isEmptyAtLast)
    }

    @Test func requestsMayLeaveWhileTheyAreCancelled() async throws {
        final class Leaving: CancellableRequest {
            let requests: RunningRequests
            let ticket = Locked<RunningRequests.Ticket?>(nil)

            init(_ requests: RunningRequests) {
                self.requests = requests
            }

            func cancel() {
                if let ticket = ticket.withLock({ $0.take() }) { requests.leave(ticket) }
            }
        }
        let all = (0..<20).map { _ in Leaving(requests) }
        for request in all {
            let ticket = try #require(requests.enter(request))
            request.ticket.withLock { $0 = ticket }
        }
        requests.close()
        requests.cancelAll()
        let isEmpty = await requests.waitUntilEmpty(within: .zero, on: clock)
        #expect(isEmpty)
    }
}
