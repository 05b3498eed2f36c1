#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct AnswerCacheTests {
    private static let found: AnswerCache.Answer = AnswerCache.Answer.success([ScopedAddress(IPAddress(10, 0, 0, 1))])

    private func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    /// Answers, the lifetime of addresses in seconds, and the milliseconds for which the answer is cached.
    static let lifetimes: [(answer: AnswerCache.Answer, lifetime: Int, stored: Int64)] = [
        (found, 60, 60_000), (found, 0, 0), (found, -1, 0), (.failure(.notFound), 60, 1000),
        (.failure(.notFound), 0, 0),
        (.failure(.temporary("Try again")), 60, 0), (.failure(.noThread), 60, 0),
    ]

    @Test(arguments: lifetimes)
    func answersAreStoredForTheirLifetime(answer: AnswerCache.Answer, lifetime: Int, stored: Int64) {
        var cache = AnswerCache(lifetime: .seconds(lifetime), capacity: 10)
        cache.store(answer, for: "a", at: time(5))
        #expect(cache.answer(to: "b", at: time(5)) == nil)
        if stored > 0 { #expect(cache.answer(to: "a", at: time(stored + 4)) == answer) }
        #expect(cache.answer(to: "a", at: time(stored + 5)) == nil)
        #expect(cache.count == 0)
    }

    @Test func temporaryFailureRemovesAnOlderAnswer() {
        var cache = AnswerCache(lifetime: .seconds(60), capacity: 10)
        cache.store(AnswerCacheTests.found, for: "a", at: time(0))
        cache.store(.failure(.temporary("Try again")), for: "a", at: time(0))
        #expect(cache.answer(to: "a", at: time(0)) == nil)
    }

    @Test func addressIsMovedToTheEnd() {
        let addresses = (1...3).map { ScopedAddress(IPAddress(10, 0, 0, $0)) }
        var cache = AnswerCache(lifetime: .seconds(60), capacity: 10)
        cache.store(.success(addresses), for: "a", at: time(0))
        cache.putLast(IPAddress(10, 0, 0, 1), for: "a")
        #expect(cache.answer(to: "a", at: time(0)) == .success([addresses[1], addresses[2], addresses[0]]))
        cache.putLast(IPAddress(10, 0, 0, 9), for: "a")
        cache.putLast(IPAddress(10, 0, 0, 1), for: "b")
        #expect(cache.answer(to: "a", at: time(59_999)) == .success([addresses[1], addresses[2], addresses[0]]))
        #expect(cache.answer(to: "a", at: time(60_000)) == nil)
    }

    @Test func fullCacheRemovesTheOldestAnswer() {
        var cache = AnswerCache(lifetime: .seconds(60), capacity: 3)
        for name in ["a", "b", "c"] { cache.store(AnswerCacheTests.found, for: name, at: time(0)) }
        cache.store(AnswerCacheTests.found, for: "a", at: time(1))
        cache.store(AnswerCacheTests.found, for: "d", at: time(2))
        #expect(stored(&cache, at: 2) == ["a", "c", "d"])
        #expect(cache.count == 3)
    }

    @Test func expiredAnswersAreRemovedFirst() {
        var cache = AnswerCache(lifetime: .seconds(60), capacity: 3)
        cache.store(AnswerCacheTests.found, for: "a", at: time(0))
        cache.store(.failure(.notFound), for: "b", at: time(0))
        cache.store(AnswerCacheTests.found, for: "c", at: time(0))
        cache.store(AnswerCacheTests.found, for: "d", at: time(2000))
        #expect(stored(&cache, at: 2000) == ["a", "c", "d"])
    }

    private func stored(_ cache: inout AnswerCache, at milliseconds: Int64) -> [String] {
        ["a", "b", "c", "d"].filter { cache.answer(to: $0, at: time(milliseconds)) != nil }
    }

    @Test func removesAnAnswer() {
        var cache = AnswerCache(lifetime: .seconds(60), capacity: 3)
        cache.store(AnswerCacheTests.found, for: "a", at: time(0))
        cache.remove("a")
        #expect(cache.answer(to: "a", at: time(0)) == nil)
    }
}
#endif
