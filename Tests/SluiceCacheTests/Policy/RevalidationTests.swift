import Foundation
import SluiceHTTP
import Testing

@testable import SluiceCache

/// Conditional requests of the cache, and the stored responses that a 304 confirms (RFC 9111 §4.3).
@Suite struct RevalidationTests {
    @Test(arguments: [
        // §4.3.1
        ("ETag: \"a\"", "If-None-Match: \"a\""),
        ("ETag: W/\"a\"", "If-None-Match: W/\"a\""),
        ("Last-Modified: {-100}", "If-Modified-Since: {-100}"),
        ("ETag: \"a\"\nLast-Modified: {-100}", "If-None-Match: \"a\"\nIf-Modified-Since: {-100}"),
        ("ETag: a\nLast-Modified: {-100}", "If-Modified-Since: {-100}"),
        ("ETag: \"a\"\nETag: \"b\"\nLast-Modified: {-100}", "If-Modified-Since: {-100}"),
        ("ETag: \"a\"\nLast-Modified: x", "If-None-Match: \"a\""),
        ("ETag: \"\"", "If-None-Match: \"\""),
        ("ETag: a", ""),
        ("X: y", ""),
    ])
    func staleResponseIsValidatedByItsValidators(stored: String, sent: String) throws {
        let entry = CacheFixture.entry(HTTPHeaders(lines: "Cache-Control: max-age=0\n\(stored)"))
        let plan = CacheRules().plan(for: CacheFixture.request(), stored: [entry], now: CacheFixture.start)
        let forwarding = try #require(plan.conditionalRequest)
        #expect(forwarding.sent.headers == HTTPHeaders(lines: sent))
        #expect(forwarding.purpose == (sent.isEmpty ? .response : .validation))
        #expect(forwarding.selected === entry)
        #expect(forwarding.request.headers.isEmpty)
    }

    @Test(arguments: [
        "If-None-Match: \"z\"", "If-Modified-Since: {-999}", "If-Match: \"z\"", "If-Unmodified-Since: {0}",
        "If-Range: \"z\"",
        "Range: bytes=0-1\nIf-Range: \"z\"",
    ])
    func requestKeepsItsOwnConditions(lines: String) throws {
        let entry = CacheFixture.entry([.cacheControl: "max-age=0", .eTag: "\"a\""])
        let headers = HTTPHeaders(lines: lines)
        let plan = CacheRules().plan(for: CacheFixture.request(headers), stored: [entry], now: CacheFixture.start)
        let forwarding = try #require(plan.conditionalRequest)
        #expect(forwarding.sent.headers == headers)
        #expect(forwarding.purpose == .response)
    }

    @Test func a304FreshensAndServesTheStoredResponse() throws {
        let cache = CacheSimulation()
        _ = cache.send(at: 0) { _ in
            (
                CacheFixture.head([.eTag: "\"a\"", .cacheControl: "max-age=10", .contentType: "text/plain", "X": "1"]),
                "body"
            )
        }
        let answer = try #require(
            cache.send(at: 20) { request in
                #expect(request.headers[.ifNoneMatch] == "\"a\"")
                let headers: HTTPHeaders = [.eTag: "\"a\"", .cacheControl: "max-age=30", "X": "2", .age: "4"]
                return (CacheFixture.head(headers, status: 304, date: 20), "")
            }
        )
        #expect(answer.head.status == .ok)
        #expect(answer.body == "body")
        #expect(answer.head.headers["X"] == "2")
        #expect(answer.head.headers[.contentType] == "text/plain")
        #expect(answer.head.headers.values(for: .age) == ["4"])
        #expect(answer.status == "Sluice; fwd=stale; fwd-status=304; ttl=26")
        #expect(answer.serving?.isRevalidated == true)
        // The 304 made it fresh again.
        let later = try #require(cache.send(at: 45, nil))
        #expect(later.head.headers[.age] == "29")
        #expect(later.status == "Sluice; hit; ttl=1")
    }

    @Test(arguments: [
        // §3.2: the newer fields replace the stored ones, except those that describe the stored bytes.
        ("Content-Length: 0", "Content-Length: 4"),
        ("Content-Encoding: br", "Content-Encoding: gzip"),
        ("Content-Type: text/html", "Content-Type: text/plain"),
        ("Content-Range: bytes 0-0/1", ""),
        ("Cache-Control: max-age=9\nCache-Control: private", "Cache-Control: max-age=9\nCache-Control: private"),
        ("Connection: X-Hop\nX-Hop: 1", ""),
        ("X-New: 1", "X-New: 1"),
        ("X-Old: 2", "X-Old: 2"),
        ("Content-Location: /b", "Content-Location: /b"),
    ])
    func updateReplacesFieldsExceptThoseOfTheContent(newer: String, expected: String) {
        let stored = HTTPResponse(
            status: 200,
            headers: HTTPHeaders(
                lines:
                    "Content-Length: 4\nContent-Encoding: gzip\nContent-Type: text/plain\nX-Old: 1\nAge: 7\nDate: {0}"
            )
        )
        let head = HTTPResponse(status: 304, headers: HTTPHeaders(lines: newer))
        let updated = StoredHead.updated(stored, with: head, received: CacheFixture.at(9))
        #expect(updated.status == .ok)
        for field in HTTPHeaders(lines: newer) {
            #expect(updated.headers.values(for: field.name) == HTTPHeaders(lines: expected).values(for: field.name))
        }
        // The old Age is removed, and the Date is that of the update.
        #expect(!updated.headers.contains(.age))
        #expect(updated.headers[.date] == CacheFixture.date(9))
    }

    struct Identification: Sendable, CustomTestStringConvertible {
        let name: String
        let stored: String
        let answer: String
        let isConfirmed: Bool

        var testDescription: String { name }
    }

    @Test(arguments: [
        Identification(name: "equal strong tags", stored: "ETag: \"a\"", answer: "ETag: \"a\"", isConfirmed: true),
        Identification(name: "different strong tags", stored: "ETag: \"a\"", answer: "ETag: \"b\"", isConfirmed: false),
        Identification(
            name: "strong tag for a weak one, as nginx sends it",
            stored: "ETag: W/\"a\"",
            answer: "ETag: \"a\"",
            isConfirmed: true
        ),
        Identification(
            name: "weak tag for a strong one",
            stored: "ETag: \"a\"",
            answer: "ETag: W/\"a\"",
            isConfirmed: true
        ),
        Identification(name: "equal weak tags", stored: "ETag: W/\"a\"", answer: "ETag: W/\"a\"", isConfirmed: true),
        Identification(
            name: "different weak tags",
            stored: "ETag: W/\"a\"",
            answer: "ETag: W/\"b\"",
            isConfirmed: false
        ),
        Identification(
            name: "equal dates",
            stored: "Last-Modified: {-9}",
            answer: "Last-Modified: {-9}",
            isConfirmed: true
        ),
        Identification(
            name: "equal dates in different formats",
            stored: "Last-Modified: Sun, 09 Sep 2001 01:46:31 GMT",
            answer: "Last-Modified: Sunday, 09-Sep-01 01:46:31 GMT",
            isConfirmed: true
        ),
        Identification(
            name: "different dates",
            stored: "Last-Modified: {-9}",
            answer: "Last-Modified: {-8}",
            isConfirmed: false
        ),
        Identification(
            name: "invalid tag and a date",
            stored: "ETag: a\nLast-Modified: {-9}",
            answer: "ETag: a\nLast-Modified: {-9}",
            isConfirmed: true
        ),
        Identification(
            name: "tag takes precedence over date",
            stored: "ETag: \"a\"\nLast-Modified: {-9}",
            answer: "ETag: \"b\"\nLast-Modified: {-9}",
            isConfirmed: false
        ),
        Identification(
            name: "no validator",
            stored: "ETag: \"a\"",
            answer: "X: y",
            isConfirmed: true
        ),
    ])
    func a304ConfirmsTheResponseWithItsValidator(_ row: Identification) throws {
        // §4.3.4
        let cache = CacheSimulation()
        _ = cache.send(at: 0) { _ in
            (CacheFixture.head(HTTPHeaders(lines: "Cache-Control: max-age=0\n\(row.stored)")), "old")
        }
        let answer = try #require(
            cache.send(at: 20) { request in
                let isConditional =
                    CacheFields(request.headers).contains(.ifNoneMatch)
                    || CacheFields(request.headers).contains(.ifModifiedSince)
                return isConditional
                    ? (CacheFixture.head(HTTPHeaders(lines: row.answer), status: 304), "")
                    : (CacheFixture.head(HTTPHeaders(lines: row.answer)), "new")
            }
        )
        #expect(answer.body == (row.isConfirmed ? "old" : "new"))
        // A 304 that matches no stored response causes an unconditional request.
        #expect(answer.sent.count == (row.isConfirmed ? 1 : 2))
    }

    @Test func a304UpdatesAllResponsesWithItsStrongValidator() throws {
        let first = CacheFixture.entry(HTTPHeaders(lines: "Vary: A\nETag: \"a\"\nDate: {0}"))
        let second = CacheFixture.entry(HTTPHeaders(lines: "Vary: B\nETag: \"a\"\nDate: {1}"))
        let other = CacheFixture.entry(HTTPHeaders(lines: "Vary: C\nETag: \"c\"\nDate: {2}"))
        let rules = CacheRules()
        let now = CacheFixture.at(9)
        let own = CacheFixture.request([.ifNoneMatch: "\"a\", \"z\""])
        let plan = rules.plan(for: own, stored: [first, second, other], now: now)
        let head = CacheFixture.head([.eTag: "\"a\"", .cacheControl: "max-age=60"], status: 304, date: 9)
        let reception = rules.update(
            for: head,
            to: try #require(plan.conditionalRequest),
            requested: now,
            received: now
        )
        // The 304 goes to the caller, whose condition it answers.
        #expect(reception.response?.status == .notModified)
        #expect(Set(reception.storing.map(\.variant)) == [first.variant, second.variant])
        #expect(reception.removing.isEmpty)
        #expect(reception.storing.allSatisfy { $0.response.metadata.explicitLifetime == 60 })
    }

    @Test(arguments: ["Cache-Control: no-store", "Vary: *"])
    func a304WithNoStoreRemovesTheStoredResponse(lines: String) throws {
        let cache = CacheSimulation()
        _ = cache.send(at: 0) { _ in (CacheFixture.head([.eTag: "\"a\""]), "old") }
        let answer = try #require(
            cache.send(at: 1) { _ in (CacheFixture.head(HTTPHeaders(lines: lines), status: 304), "") }
        )
        #expect(answer.body == "old")
        #expect(cache.kept().isEmpty)
    }

    @Test func a304CanChangeVary() throws {
        let cache = CacheSimulation()
        let request = CacheFixture.request(["X": "1"])
        _ = cache.send(request, at: 0) { _ in (CacheFixture.head([.eTag: "\"a\""]), "old") }
        _ = cache.send(request, at: 1) { _ in
            (CacheFixture.head([.vary: "X", .cacheControl: "max-age=60"], status: 304, date: 1), "")
        }
        #expect(cache.kept().count == 1)
        #expect(cache.send(request, at: 2, nil)?.body == "old")
        #expect(cache.send(CacheFixture.request(["X": "2"]), at: 2, nil) == nil)
    }

    @Test func newResponseReplacesTheValidatedOne() throws {
        let cache = CacheSimulation()
        _ = cache.send(at: 0) { _ in (CacheFixture.head([.eTag: "\"a\""]), "old") }
        let answer = try #require(
            cache.send(at: 1) { _ in (CacheFixture.head([.eTag: "\"b\"", .cacheControl: "max-age=9"], date: 1), "new") }
        )
        #expect(answer.body == "new")
        #expect(answer.status == "Sluice; fwd=stale; fwd-status=200; stored")
        #expect(cache.send(at: 2, nil)?.body == "new")
    }

    @Test func noStoreRequestDoesNotStoreA304() throws {
        // §5.2.1.5
        let cache = CacheSimulation()
        _ = cache.send(at: 0) { _ in (CacheFixture.head([.eTag: "\"a\"", "X": "1"]), "old") }
        let answer = try #require(
            cache.send(CacheFixture.request([.cacheControl: "no-store"]), at: 1) { _ in
                (CacheFixture.head([.eTag: "\"a\"", "X": "2"], status: 304), "")
            }
        )
        #expect(answer.body == "old")
        #expect(answer.head.headers["X"] == "2")
        #expect(cache.kept().first?.response?.head.headers["X"] == "1")
    }

    @Test func staleWhileRevalidateServesAndRevalidates() throws {
        // RFC 5861 §3
        let cache = CacheSimulation()
        let head = CacheFixture.head([.eTag: "\"a\"", .cacheControl: "max-age=5, stale-while-revalidate=60"])
        _ = cache.send(at: 0) { _ in (head, "0123456789") }
        let part = CacheFixture.request([.range: "bytes=2-3"])
        let answer = try #require(
            cache.send(part, at: 9) { _ in (CacheFixture.head([.eTag: "\"a\""], status: 304, date: 9), "") }
        )
        #expect(answer.body == "23")
        #expect(answer.status == "Sluice; hit; ttl=-4")
        // For the whole representation, whatever range was requested.
        #expect(answer.sent.map(\.headers) == [[.ifNoneMatch: "\"a\""]])
        #expect(cache.send(at: 10, nil)?.status == "Sluice; hit; ttl=4")
    }
}
