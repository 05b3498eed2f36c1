import Testing

@testable import Sluice

@Suite struct JournalScheduleTests {
    private static let start = ContinuousClock.now

    /// Writes with their time in milliseconds, and the steps that are due then.
    private static let writes: [(writes: [(Int64, Int)], due: [JournalSchedule.Step?])] = [
        ([(1, 0), (1, 100), (1, 249), (1, 250)], [nil, nil, nil, .write]),
        ([(4 << 20, 0), (1, 24), (1, 25)], [nil, nil, .write]),
        ([(4 << 20, 30), (4 << 20, 40), (1, 55), (1, 56)], [.write, nil, .write, nil]),
        ([(1, 250), (1, 251), (1, 499), (1, 500)], [.write, nil, nil, .write]),
        ([(256 << 20, 0), (1, 1)], [.sync, nil]),
        ([(200 << 20, 30), (56 << 20, 31)], [.write, .sync]),
        ([(1, 15_000), (1, 15_001), (1, 15_250)], [.sync, nil, .write]),
        ([(.max, 0), (.max, 1), (0, 2)], [.sync, .sync, nil]),
    ]

    @Test(arguments: writes)
    func journalIsDueByBytesOrTime(_ writes: [(Int64, Int)], _ due: [JournalSchedule.Step?]) {
        var schedule = JournalSchedule(now: Self.start)
        let steps = writes.map { count, time in
            let now = Self.start + .milliseconds(time)
            let step = schedule.didWrite(count, now: now)
            if let step {
                let next = schedule.finish(step, now: now)
                #expect(next == nil)
            }
            return step
        }
        #expect(steps == due)
    }

    @Test func noStepIsDueDuringAJournalWrite() {
        var schedule = JournalSchedule(now: Self.start)
        let start = schedule.didWrite(1, now: Self.start + .seconds(1))
        #expect(start == .write)
        let due = schedule.didWrite(1 << 30, now: Self.start + .seconds(60))
        #expect(due == nil)
        let end = schedule.finish(.write, now: Self.start + .seconds(60))
        #expect(end == nil)
        let next = schedule.didWrite(1, now: Self.start + .seconds(60))
        #expect(next == .sync)
    }

    @Test func noteRequestedDuringAWriteIsDueAfterIt() {
        var schedule = JournalSchedule(now: Self.start)
        let steps = [
            schedule.requestWrite(), schedule.requestWrite(), schedule.requestWrite(),
            schedule.finish(.write, now: Self.start),
            schedule.finish(.write, now: Self.start), schedule.requestWrite(), schedule.finish(.write, now: Self.start),
        ]
        #expect(steps == [.write, nil, nil, .write, nil, .write, nil])
    }
}
