import Testing

@testable import Sluice

@Suite struct IdempotencyKeyTests {
    private let name: HTTPHeaderName = "Idempotency-Key"

    @Test func attemptsShareOneKeyAndRequestsDiffer() async throws {
        let key = IdempotencyKey()
        var seen: Set<String> = []
        for _ in 0..<20 {
            let attempts = try Attempts(.post)
            let first = try await attempts.next(key).headers[name]
            let second = try await attempts.next(key).headers[name]
            #expect(first == second)
            seen.insert(try #require(first))
        }
        #expect(seen.count == 20)
    }

    @Test func twoHeadersHaveDifferentKeys() async throws {
        let request = try await Attempts(.post).next(IdempotencyKey(), IdempotencyKey(header: "PayPal-Request-Id"))
        let keys = [name, "PayPal-Request-Id"].compactMap { request.headers[$0] }
        #expect(keys.count == 2)
        #expect(keys.first != keys.last)
    }

    /// RFC 9110 §9.2.2
    @Test(arguments: [
        ("POST", true), ("PATCH", true), ("GET", false), ("HEAD", false), ("PUT", false), ("DELETE", false),
        ("OPTIONS", false), ("PURGE", true),
    ])
    func addsKeyToNonIdempotentMethods(_ method: HTTPMethod, _ isSent: Bool) async throws {
        #expect(try await Attempts(method).next(IdempotencyKey()).headers.contains(name) == isSent)
        #expect(try await Attempts(method).next(IdempotencyKey { _ in true }).headers.contains(name))
    }

    @Test func keepsKeyOfRequest() async throws {
        let request = try await Attempts(.post, headers: ["idempotency-key": "own"]).next(IdempotencyKey())
        #expect(request.headers == ["idempotency-key": "own"])
    }

    @Test func writesCustomKeyAsStringOrRaw() async throws {
        let key = IdempotencyKey(make: { _ in #"a"b\c"# })
        #expect(try await Attempts(.post).next(key).headers[name] == #""a\"b\\c""#)
        let raw = IdempotencyKey(isQuoted: false, make: { _ in "order-17" })
        #expect(try await Attempts(.post).next(raw).headers[name] == "order-17")
    }

    /// RFC 9562 §5.4: version 4, variant 10.
    @Test(arguments: [
        (UInt64.zero, UInt64.zero, "00000000-0000-4000-8000-000000000000"),
        (.max, .max, "ffffffff-ffff-4fff-bfff-ffffffffffff"),
        (0x919108F752D1_1320, 0x5BACF847DB4148A8, "919108f7-52d1-4320-9bac-f847db4148a8"),
    ])
    func makesUUIDFromRandomBits(_ high: UInt64, _ low: UInt64, _ expected: String) {
        #expect(IdempotencyKey.uuid(high, low) == expected)
    }
}
