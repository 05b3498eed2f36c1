import SluiceHTTP
import Testing

@Suite struct LockedTests {
    private struct Refused: Error {}

    @Test func noConcurrentIncrementIsLost() async {
        let counter = Locked(0)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<20_000 { counter.withLock { $0 += 1 } }
                }
            }
        }
        #expect(counter.withLock { $0 } == 160_000)
    }

    @Test func concurrentChangesAreAtomic() async {
        let pair = Locked((0, 0))
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<10_000 {
                        let isWhole = pair.withLock { pair in
                            let isWhole = pair.0 == pair.1
                            pair.0 += 1
                            pair.1 += 1
                            return isWhole
                        }
                        if !isWhole { Issue.record("The halves differ.") }
                    }
                }
            }
        }
        #expect(pair.withLock { $0 } == (40_000, 40_000))
    }

    @Test func thrownErrorReleasesTheLockAndKeepsTheChange() {
        let value = Locked(1)
        #expect(throws: Refused.self) {
            try value.withLock { (value: inout sending Int) throws(Refused) in
                value = 2
                throw Refused()
            }
        }
        #expect(value.withLock { $0 } == 2)
    }

    @Test func valueIsReleasedWithTheLock() {
        final class Token: Sendable {}
        weak var token: Token?
        do {
            let held = Token()
            token = held
            let locked = Locked(held)
            #expect(locked.withLock { $0 === held })
        }
        #expect(token == nil)
    }
}
