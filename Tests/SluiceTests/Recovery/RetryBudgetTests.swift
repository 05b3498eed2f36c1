import Testing

@testable import Sluice

@Suite struct RetryBudgetTests {
    private let start = ContinuousClock.now

    private func withdrawn(_ count: Int, from balance: inout RetryBalance, at second: Int) -> Int {
        (0..<count).count { _ in balance.withdraw(at: start + .seconds(second)) }
    }

    @Test func limitsRetriesToRatioOfRequests() {
        var balance = RetryBalance(RetryBudget(ratio: 0.2, reserve: 0))
        for _ in 0..<1000 { balance.deposit(at: start) }
        #expect(withdrawn(1000, from: &balance, at: 0) == 200)
    }

    @Test func reserveAllowsRetriesWithFewRequests() {
        var balance = RetryBalance(RetryBudget())
        balance.deposit(at: start)
        #expect(withdrawn(1000, from: &balance, at: 0) == 100)
    }

    @Test func ignoresRequestsAndRetriesAfterTenSeconds() {
        var balance = RetryBalance(RetryBudget(ratio: 1, reserve: 0))
        for _ in 0..<10 { balance.deposit(at: start) }
        #expect(withdrawn(6, from: &balance, at: 8) == 6)
        #expect(withdrawn(10, from: &balance, at: 8) == 4)
        #expect(withdrawn(1, from: &balance, at: 11) == 0)
        for _ in 0..<12 { balance.deposit(at: start + .seconds(11)) }
        #expect(withdrawn(20, from: &balance, at: 11) == 2)
        #expect(withdrawn(20, from: &balance, at: 19) == 10)
    }

    @Test func emptyBudgetAllowsNoneAndUnlimitedAll() {
        var none = RetryBalance(RetryBudget(ratio: 0, reserve: 0))
        none.deposit(at: start)
        #expect(withdrawn(1, from: &none, at: 0) == 0)
        var unlimited = RetryBalance(.unlimited)
        #expect(withdrawn(1000, from: &unlimited, at: 0) == 1000)
        var negative = RetryBalance(RetryBudget(ratio: -1, reserve: -1))
        #expect(withdrawn(1, from: &negative, at: 0) == 0)
    }
}
