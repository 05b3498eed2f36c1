#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct TimerHeapTests {
    private static func time(_ value: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: value) }

    @Test func timersExpireInTheOrderOfTheirDeadlines() {
        var heap = TimerHeap<Int>()
        for deadline in [5, 1, 4, 2, 3] { _ = heap.insert(deadline, at: Self.time(Int64(deadline))) }
        var order: [Int] = []
        while let next = heap.popExpired(at: Self.time(4)) { order.append(next) }
        #expect(order == [1, 2, 3, 4])
        #expect(heap.earliest == Self.time(5))
        #expect(heap.count == 1)
    }

    @Test func firedOrRemovedTimerCannotBeMovedOrRemoved() {
        var heap = TimerHeap<Int>()
        let first = heap.insert(1, at: Self.time(1))
        let second = heap.insert(2, at: Self.time(2))
        expect(heap.popExpired(at: Self.time(1)), 1)
        // This timer gets the slot of the first one.
        let third = heap.insert(3, at: Self.time(3))
        expect(heap.move(first, to: Self.time(9)), false)
        expect(heap.remove(first), nil)
        expect(heap.remove(second), 2)
        expect(heap.remove(second), nil)
        expect(heap.move(third, to: Self.time(7)), true)
        #expect(heap.earliest == Self.time(7))
    }

    @Test func emptyHeapHasNoDeadline() {
        var heap = TimerHeap<Int>()
        #expect(heap.earliest == .distantFuture)
        expect(heap.popExpired(at: .distantFuture), nil)
    }

    /// Random insertions, moves and removals, compared with a sorted list.
    @Test(arguments: 0..<40) func randomOperationsEqualThoseOfASortedList(_ seed: UInt64) {
        var random = Seeded(seed)
        var heap = TimerHeap<Int>()
        var model: [Int: (id: TimerHeap<Int>.ID, deadline: Int64)] = [:]
        for step in 0..<400 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let deadline = Int64.random(in: 0..<1000, using: &random)
                model[step] = (heap.insert(step, at: Self.time(deadline)), deadline)
            case 2:
                guard let (key, entry) = model.randomElement(using: &random) else { continue }
                let deadline = Int64.random(in: 0..<1000, using: &random)
                expect(heap.move(entry.id, to: Self.time(deadline)), true)
                model[key]?.deadline = deadline
            default:
                guard let (key, entry) = model.randomElement(using: &random) else { continue }
                expect(heap.remove(entry.id), key)
                model[key] = nil
            }
            #expect(heap.count == model.count)
            #expect(heap.earliest == model.values.map { Self.time($0.deadline) }.min() ?? .distantFuture)
        }
        var last = Self.time(-1)
        while let key = heap.popExpired(at: .distantFuture) {
            let deadline = Self.time(model.removeValue(forKey: key)?.deadline ?? -2)
            #expect(deadline >= last)
            last = deadline
        }
        #expect(model.isEmpty)
    }
}

/// A generator that returns the same numbers for the same seed (SplitMix64).
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed &+ 0x9E37_79B9_7F4A_7C15
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Compares two values. The first may be the result of a mutating call, which the macro does not accept.
func expect<Value: Equatable>(_ value: Value, _ expected: Value, location: SourceLocation = #_sourceLocation) {
    #expect(value == expected, sourceLocation: location)
}
#endif
