import SluiceTesting
import Testing

@testable import Sluice

@Suite struct DeadlineTests {
    private static let clock = TestClock()

    private static func after(_ seconds: Int?) -> Deadline? {
        seconds.map { .after(.seconds($0), on: clock) }
    }

    @Test(
        arguments: [
            (nil, nil, nil), (5, nil, 5), (nil, 5, 5), (5, 7, 5), (7, 5, 5), (-1, 5, -1),
        ] as [(Int?, Int?, Int?)]
    )
    func earlierDeadlineApplies(own: Int?, current: Int?, earliest: Int?) {
        Deadline.$current.withValue(Self.after(current)) {
            #expect(Deadline.earliest(Self.after(own)) == Self.after(earliest))
        }
    }

    @Test(
        arguments: [
            (nil, nil, nil), (5, nil, 5), (nil, 5, 5), (5, 7, 5), (7, 5, 5), (nil, 0, 0), (5, -3, 0),
        ] as [(Int?, Int?, Int?)]
    )
    func limitsTransferToRemainingTime(total: Int?, left: Int?, allowed: Int?) {
        let timeouts = Timeouts(idle: .seconds(1), total: total.map { .seconds($0) })
        let bounded = timeouts.within(Self.after(left), on: Self.clock)
        #expect(bounded.total == allowed.map { .seconds($0) })
        #expect(bounded.idle == .seconds(1))
    }

    @Test func innerDeadlineDoesNotExtendOuter() async throws {
        let clock = Self.clock
        #expect(Deadline.current == nil)
        await Deadline.withDeadline(.seconds(5), on: clock) {
            #expect(Deadline.current == Self.after(5))
            await Deadline.withDeadline(.seconds(9), on: clock) { #expect(Deadline.current == Self.after(5)) }
            await Deadline.withDeadline(.seconds(2), on: clock) {
                #expect(Deadline.current == Self.after(2))
                let left = await Task { Deadline.current?.timeLeft(on: clock) }.value
                #expect(left == .seconds(2))
            }
            #expect(Deadline.current == Self.after(5))
        }
        #expect(Deadline.current == nil)
    }

    @Test(
        arguments: [
            ([], .beginning), ([.requestInterceptors], .requestInterceptors), ([.gate("a")], .gate("a")),
            ([.gate("a"), .gate("b")], .gate("a")), ([.transport, .pause, .gate("a")], .gate("a")),
            // Another attempt has proceeded while one waits at a gate.
            ([.gate("a"), .transport], .gate("a")), ([.transport, .pause], .pause),
        ] as [([CallStage], CallStage)]
    )
    func currentStageIsTheOneThatDelaysRequest(entered: [CallStage], current: CallStage) {
        var stages = CallStages()
        for stage in entered { stages.beginStage(stage) }
        #expect(stages.current == current)
    }

    @Test func gateLeavesStagesOnceLeft() {
        var stages = CallStages()
        for stage in [CallStage.transport, .gate("a"), .gate("b"), .gate("a")] { stages.beginStage(stage) }
        stages.leave(gate: "a")
        #expect(stages.current == .gate("b"))
        stages.leave(gate: "b")
        stages.leave(gate: "c")
        #expect(stages.current == .gate("a"))
        stages.leave(gate: "a")
        #expect(stages.current == .transport)
    }
}
