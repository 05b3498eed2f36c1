import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceCache

/// Range requests answered from stored responses (RFC 9110 §14).
@Suite struct CacheRangeTests {
    @Test(arguments: [
        ("bytes=0-4", "0..<5"), ("bytes=5-", "5..<10"), ("bytes=-3", "7..<10"), ("bytes=9-9", "9..<10"),
        ("bytes=0-99", "0..<10"), ("bytes=-99", "0..<10"), ("BYTES=0-0", "0..<1"), ("bytes= 0-4 ", "0..<5"),
        ("bytes=,0-4,", "0..<5"), ("bytes=0-99999999999999999999", "0..<10"), ("bytes=-99999999999999999999", "0..<10"),
        ("bytes=,\t0-4", "0..<5"), ("bytes=007-008", "7..<9"), ("bytes=-10", "0..<10"),
        // §14.1.2: no byte of these ranges exists.
        ("bytes=10-", "unsatisfiable"), ("bytes=10-20", "unsatisfiable"), ("bytes=-0", "unsatisfiable"),
        ("bytes=99999999999999999999-", "unsatisfiable"), ("bytes=-000", "unsatisfiable"),
        // The server must interpret these.
        ("bytes=0-1,3-4", "unread"), ("bytes=4-0", "unread"), ("bytes=a-b", "unread"), ("bytes=--1", "unread"),
        ("bytes=-", "unread"), ("bytes=", "unread"), ("bytes", "unread"), ("items=0-1", "unread"), ("", "unread"),
        ("bytes=1 -2", "unread"), ("bytes=+1-2", "unread"), ("bytes =0-1", "unread"), ("=0-9", "unread"),
        ("bytes=9", "unread"), ("bytes=1-b", "unread"), ("bytes=-x", "unread"), ("bytes=1 - 2", "unread"),
        ("bytes=0-1-2", "unread"), (" bytes=0-9", "unread"), ("bytes:0-9", "unread"), ("bytes=0--1", "unread"),
        ("bytes=٣-٥", "unread"),
    ])
    func rangesAreResolvedAgainstTheLength(text: String, expected: String) {
        let extent = ByteRangeRequest(text)?.extent(of: 10)
        let found =
            switch extent {
            case .bytes(let range): "\(range)"
            case .unsatisfiable: "unsatisfiable"
            case .everything: "everything"
            case nil: "unread"
            }
        #expect(found == expected)
    }

    @Test func suffixOfAnEmptyRepresentationIsEverything() {
        #expect(ByteRangeRequest("bytes=-1")?.extent(of: 0) == .everything)
        #expect(ByteRangeRequest("bytes=0-")?.extent(of: 0) == .unsatisfiable)
        #expect(ByteRangeRequest("bytes=-0")?.extent(of: 0) == .unsatisfiable)
    }

    @Test func randomRangesDoNotTrap() {
        var random = SeededGenerator(seed: 14)
        let alphabet = Array("bytes=0123456789-, \0é".utf8)
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            let text = (Bool.random(using: &random) ? "bytes=" : "") + String(decoding: bytes, as: UTF8.self)
            for total in [0, 1, 10, Int64.max] {
                guard case .bytes(let range) = ByteRangeRequest(text)?.extent(of: total) else { continue }
                #expect(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= total)
            }
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var stored = ""
        var status: HTTPStatus = 200
        let request: String
        /// The status and the body.
        let answer: String
        var range: String?

        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(name: "§14.2", request: "Range: bytes=2-4", answer: "206 234", range: "bytes 2-4/10"),
        Row(name: "§14.1.2 suffix range", request: "Range: bytes=-2", answer: "206 89", range: "bytes 8-9/10"),
        Row(name: "whole representation", request: "Range: bytes=0-", answer: "206 0123456789", range: "bytes 0-9/10"),
        Row(name: "§15.5.17", request: "Range: bytes=10-", answer: "416 ", range: "bytes */10"),
        Row(name: "several ranges", request: "Range: bytes=0-1,3-4", answer: "request response"),
        Row(name: "another unit", request: "Range: items=0-1", answer: "request response"),
        Row(name: "two fields", request: "Range: bytes=0-1\nRange: bytes=0-1", answer: "request response"),
        Row(name: "encoded", stored: "Content-Encoding: gzip", request: "Range: bytes=0-1", answer: "request response"),
        Row(
            name: "identity coding",
            stored: "Content-Encoding: Identity",
            request: "Range: bytes=0-1",
            answer: "206 01",
            range: "bytes 0-1/10"
        ),
        Row(name: "status other than 200", status: 404, request: "Range: bytes=0-1", answer: "404 0123456789"),
        Row(
            name: "§13.1.5 same entity tag",
            stored: "ETag: \"a\"",
            request: "Range: bytes=0-1\nIf-Range: \"a\"",
            answer: "206 01",
            range: "bytes 0-1/10"
        ),
        Row(
            name: "§13.1.5 other entity tag",
            stored: "ETag: \"a\"",
            request: "Range: bytes=0-1\nIf-Range: \"b\"",
            answer: "200 0123456789"
        ),
        Row(
            name: "§13.1.5 weak entity tags",
            stored: "ETag: W/\"a\"",
            request: "Range: bytes=0-1\nIf-Range: W/\"a\"",
            answer: "200 0123456789"
        ),
        Row(
            name: "§13.1.5 weak entity tag in the request",
            stored: "ETag: \"a\"",
            request: "Range: bytes=0-1\nIf-Range: W/\"a\"",
            answer: "200 0123456789"
        ),
        Row(
            name: "§13.1.5 same date",
            stored: "Last-Modified: {-60}",
            request: "Range: bytes=0-1\nIf-Range: {-60}",
            answer: "206 01",
            range: "bytes 0-1/10"
        ),
        Row(
            name: "§13.1.5 same date in other letters",
            stored: "Last-Modified: Sun, 09 Sep 2001 01:45:40 gmt",
            request: "Range: bytes=0-1\nIf-Range: {-60}",
            answer: "200 0123456789"
        ),
        Row(
            name: "§13.1.5 later date",
            stored: "Last-Modified: {-60}",
            request: "Range: bytes=0-1\nIf-Range: {-59}",
            answer: "200 0123456789"
        ),
        Row(
            name: "§8.8.2.2 weak date",
            stored: "Last-Modified: {-59}",
            request: "Range: bytes=0-1\nIf-Range: {-59}",
            answer: "200 0123456789"
        ),
        Row(
            name: "§13.1.5 neither entity tag nor date",
            stored: "ETag: \"a\"",
            request: "Range: bytes=0-1\nIf-Range: a",
            answer: "200 0123456789"
        ),
        Row(
            name: "§13.1.5 without a range",
            stored: "ETag: \"a\"",
            request: "If-Range: \"b\"",
            answer: "200 0123456789"
        ),
        Row(
            name: "§13.2.2 true condition before the range",
            stored: "ETag: \"a\"",
            request: "Range: bytes=0-1\nIf-None-Match: \"a\"",
            answer: "304 "
        ),
        Row(
            name: "§13.2.2 range after a false condition",
            stored: "ETag: \"a\"",
            request: "Range: bytes=0-1\nIf-None-Match: \"b\"",
            answer: "206 01",
            range: "bytes 0-1/10"
        ),
    ])
    func completeResponseServesRanges(_ row: Row) {
        let lines = "Cache-Control: max-age=60\nContent-Length: 10\n\(row.stored)"
        let entry = CacheFixture.entry(HTTPHeaders(lines: lines), status: row.status)
        let request = CacheFixture.request(HTTPHeaders(lines: row.request))
        let plan = CacheRules().plan(for: request, stored: [entry], now: CacheFixture.at(1))
        guard let serving = plan.servableResponse else {
            #expect(plan.kind == row.answer)
            return
        }
        let head = serving.head
        #expect("\(head.status) \(String(decoding: serving.body, as: UTF8.self))" == row.answer)
        #expect(head.headers[.contentRange] == row.range)
        if head.status == 206 { #expect(head.headers.values(for: .contentLength) == ["\(serving.body.count)"]) }
    }

    @Test func headIgnoresRange() {
        // §14.2
        let entry = CacheFixture.entry([.cacheControl: "max-age=60"])
        let request = CacheFixture.request([.range: "bytes=0-1"], method: .head)
        let plan = CacheRules().plan(for: request, stored: [entry], now: CacheFixture.at(1))
        #expect(plan.servableResponse?.head.status == .ok)
        #expect(plan.servableResponse?.form == .head)
    }

    @Test(arguments: [
        ("bytes=4-5", "45"), ("bytes=3-6", "3456"), ("bytes=2-4", nil), ("bytes=5-7", nil), ("bytes=5-", nil),
        ("bytes=-2", nil), ("bytes=10-", nil), ("bytes=0-1,3-4", nil), (nil, nil),
    ])
    func partServesRangesWithinIt(range: String?, body: String?) {
        // RFC 9111 §3.3
        let entry = CacheFixture.entry(
            HTTPHeaders(lines: "Cache-Control: max-age=60\nETag: \"a\"\nContent-Range: bytes 3-6/10"),
            status: 206,
            part: StoredPart(range: 3..<7, total: 10),
            body: "3456"
        )
        let request = CacheFixture.request(range.map { [.range: $0] } ?? [:])
        let plan = CacheRules().plan(for: request, stored: [entry], now: CacheFixture.at(1))
        #expect(plan.servableResponse.map { String(decoding: $0.body, as: UTF8.self) } == body)
        #expect(plan.kind == (body == nil ? "partial response" : "hit"))
    }

    @Test(arguments: [
        StoredPart(range: 0..<5, total: 10), StoredPart(range: -4..<0, total: 10), StoredPart(range: 8..<12, total: 10),
        StoredPart(range: Int64.max - 4..<Int64.max, total: 10), StoredPart(range: Int64.min..<0, total: 10),
    ])
    func partOfIncorrectLengthServesNothing(part: StoredPart) {
        let entry = CacheFixture.entry(
            [.cacheControl: "max-age=60", .eTag: "\"a\""],
            status: 206,
            part: part,
            body: "0123"
        )
        for range in ["bytes=0-0", "bytes=8-8", "bytes=-1"] {
            let plan = CacheRules().plan(
                for: CacheFixture.request([.range: range]),
                stored: [entry],
                now: CacheFixture.at(1)
            )
            #expect(plan.kind == "partial response")
        }
    }

    // RFC 9110 §8.8.2.2: the date that came with the bytes decides if the date of modification is strong.
    @Test func validationDoesNotMakeTheValidatorOfAPartStrong() throws {
        let cache = CacheSimulation()
        let modified = CacheFixture.date(0)
        let range = CacheFixture.request([.range: "bytes=0-4"])
        _ = cache.send(range, at: 0) { _ in
            (CacheFixture.head([.lastModified: modified, .contentRange: "bytes 0-4/10"], status: 206), "01234")
        }
        #expect(cache.kept().count == 1)
        _ = cache.send(range, at: 100) { request in
            #expect(request.headers.contains(.ifModifiedSince))
            return (CacheFixture.head([.lastModified: modified], status: 304, date: 100), "")
        }
        let answer = try #require(
            cache.send(at: 101) { request in
                #expect(request.headers.isEmpty)
                return (CacheFixture.head([.lastModified: modified], date: 101), "abcdefghij")
            }
        )
        #expect(answer.body == "abcdefghij")
    }

    @Test func staleResponseIsValidatedBeforeServingARange() throws {
        let cache = CacheSimulation()
        _ = cache.send(at: 0) { _ in (CacheFixture.head([.eTag: "\"a\""]), "0123456789") }
        let answer = try #require(
            cache.send(CacheFixture.request([.range: "bytes=2-3"]), at: 9) { request in
                #expect(request.headers == [.range: "bytes=2-3", .ifNoneMatch: "\"a\""])
                return (CacheFixture.head([.eTag: "\"a\""], status: 304), "")
            }
        )
        #expect(answer.head.status == .partialContent)
        #expect(answer.body == "23")
        #expect(cache.kept().first?.body.count == 10)
    }
}
