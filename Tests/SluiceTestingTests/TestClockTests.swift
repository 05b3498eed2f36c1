import SluiceTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct TestClockTests {
    @Test func cancellationEndsTheWaitForSleepers() async {
        let clock = TestClock()
        let waiting = Task { await clock.waitForSleepers(2) }
        waiting.cancel()
        await waiting.value
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            await clock.waitForSleepers(1)
        }
        late.cancel()
        await late.value
        // A wait that was cancelled takes nothing from the others.
        let sleeping = Task { try? await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        await sleeping.value
    }
}
