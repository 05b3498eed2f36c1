import Testing

@testable import Sluice

@Suite struct AnsweredRequestsTests {
    @Test func recordsEachStateOnceAndForgetsTheOldestAtTheLimit() {
        var answered = AnsweredRequests()
        let limit = AnsweredRequests.limit
        /// Returns the numbers that are recorded for the first time.
        func record(_ numbers: Range<Int>) -> [Int] { numbers.filter { answered.insert("\($0)") } }
        #expect(record(0..<limit).count == limit)
        #expect(record(0..<limit).isEmpty)
        // Each of these takes the place of the oldest.
        #expect(record(limit..<(2 * limit + 7)).count == limit + 7)
        #expect(record((limit + 7)..<(2 * limit + 7)).isEmpty)
        #expect(record(0..<3) == [0, 1, 2])
    }
}
