import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceCache

/// Partial responses that are stored, combined and completed (RFC 9111 §3.3, §3.4).
@Suite struct PartialResponseTests {
    private static let whole = "0123456789"

    /// A server that sends ranges of ten bytes.
    private static func server(
        _ tag: String = "\"a\"",
        _ lines: String = "Cache-Control: max-age=60",
        whole: String = whole
    ) -> CacheSimulation.Server {
        { request in
            var headers = HTTPHeaders(lines: "ETag: \(tag)\n\(lines)")
            let bytes = Array(whole.utf8)
            let isCurrent = request.headers[.ifRange].map { $0 == tag } ?? true
            guard isCurrent, let range = request.headers[.range].flatMap(ByteRangeRequest.init),
                case .bytes(let span) = range.extent(of: Int64(bytes.count))
            else { return (CacheFixture.head(headers), whole) }
            headers.append(.contentRange, "bytes \(span.lowerBound)-\(span.upperBound - 1)/\(bytes.count)")
            let part = bytes[Int(span.lowerBound)..<Int(span.upperBound)]
            return (CacheFixture.head(headers, status: 206), String(decoding: part, as: UTF8.self))
        }
    }

    private static func request(_ range: String, _ lines: String = "X: y") -> HTTPRequest {
        CacheFixture.request(HTTPHeaders(lines: "Range: bytes=\(range)\n\(lines)"))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let ranges: [String]
        /// The stored entries after the requests, as `first..<end body`.
        let kept: String

        var testDescription: String { ranges.joined(separator: " ") }
    }

    @Test(arguments: [
        Row(ranges: ["0-3"], kept: "0..<4 0123"),
        Row(ranges: ["0-3", "4-6"], kept: "0..<7 0123456"),
        Row(ranges: ["4-6", "0-3"], kept: "0..<7 0123456"),
        Row(ranges: ["0-5", "3-7"], kept: "0..<8 01234567"),
        Row(ranges: ["3-7", "0-5"], kept: "0..<8 01234567"),
        Row(ranges: ["4-5", "2-8"], kept: "2..<9 2345678"),
        Row(ranges: ["2-8", "4-5"], kept: "2..<9 2345678"),
        Row(ranges: ["0-1", "5-6"], kept: "5..<7 56"),
        Row(ranges: ["0-4", "5-9"], kept: "whole 0123456789"),
        Row(ranges: ["5-9", "0-4"], kept: "whole 0123456789"),
        Row(ranges: ["3-6", "0-9"], kept: "whole 0123456789"),
        Row(ranges: ["0-9"], kept: "whole 0123456789"),
        Row(ranges: ["0-1", "4-5", "2-3", "0-1", "6-9"], kept: "whole 0123456789"),
        Row(ranges: ["0-1", "2-3", "4-5", "6-9"], kept: "whole 0123456789"),
    ])
    func partsOfOneVersionAreCombined(_ row: Row) throws {
        let cache = CacheSimulation()
        for range in row.ranges {
            let answer = try #require(cache.send(Self.request(range), at: 1, Self.server()))
            #expect(answer.head.status == .partialContent)
        }
        try Self.expect(cache, row.kept)
    }

    private static func expect(_ cache: CacheSimulation, _ kept: String) throws {
        #expect(cache.kept().count == (kept.isEmpty ? 0 : 1))
        guard let entry = cache.kept().first, let response = entry.response else { return }
        let body = String(decoding: entry.body, as: UTF8.self)
        #expect("\(response.part.map { "\($0.range)" } ?? "whole") \(body)" == kept)
        // The head describes the available bytes.
        #expect(response.head.status == (response.part == nil ? 200 : 206))
        let range = response.part.map { "bytes \($0.range.lowerBound)-\($0.range.upperBound - 1)/\($0.total)" }
        #expect(response.head.headers[.contentRange] == range)
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let name: String
        var request = "X: y"
        var tag = "\"a\""
        var lines = "Cache-Control: max-age=60"
        var options = HTTPCaching()

        var testDescription: String { name }
    }

    @Test(arguments: [
        Refusal(name: "no-store", lines: "Cache-Control: no-store"),
        Refusal(name: "no-store of the request", request: "Cache-Control: no-store"),
        Refusal(name: "content coding", lines: "Cache-Control: max-age=60\nContent-Encoding: gzip"),
        Refusal(name: "two Content-Range fields", lines: "Cache-Control: max-age=60\nContent-Range: bytes 0-1/10"),
        Refusal(name: "Vary: *", lines: "Cache-Control: max-age=60\nVary: *"),
        Refusal(name: "disabled by option", options: HTTPCaching(storesPartialResponses: false)),
    ])
    func partsThatCannotBeCombinedAreNotStored(_ row: Refusal) throws {
        let cache = CacheSimulation(row.options)
        let answer = try #require(cache.send(Self.request("0-3", row.request), at: 1, Self.server(row.tag, row.lines)))
        #expect(answer.head.status == .partialContent)
        #expect(answer.body == "0123")
        try Self.expect(cache, "")
    }

    @Test(arguments: ["bytes 0-3/*", "bytes */10", "bytes 3-0/10", "items 0-3/10", "", "bytes 0-3/10, bytes 0-3/10"])
    func partWithoutValidContentRangeIsNotStored(range: String) throws {
        let cache = CacheSimulation()
        let headers: HTTPHeaders = [.contentRange: range, .eTag: "\"a\"", .cacheControl: "max-age=60"]
        _ = cache.send(Self.request("0-3"), at: 1) { _ in (CacheFixture.head(headers, status: 206), "0123") }
        try Self.expect(cache, "")
    }

    @Test func truncatedPartIsNotStored() throws {
        let cache = CacheSimulation()
        let headers: HTTPHeaders = [.contentRange: "bytes 0-3/10", .eTag: "\"a\"", .cacheControl: "max-age=60"]
        _ = cache.send(Self.request("0-3"), at: 1) { _ in (CacheFixture.head(headers, status: 206), "012") }
        try Self.expect(cache, "")
    }

    @Test func partOfAnotherVersionReplacesTheStoredResponse() throws {
        let cache = CacheSimulation()
        _ = cache.send(Self.request("0-3"), at: 1, Self.server())
        _ = cache.send(Self.request("4-5"), at: 1, Self.server("\"b\""))
        try Self.expect(cache, "4..<6 45")
        // It replaces a complete response as well.
        _ = cache.send(at: 1, Self.server("\"c\"", "Cache-Control: max-age=0"))
        _ = cache.send(Self.request("6-7", "If-None-Match: \"z\""), at: 1, Self.server("\"d\""))
        try Self.expect(cache, "6..<8 67")
    }

    @Test(arguments: ["W/\"a\"", "a", "\"\""])
    func partsWithoutAStrongValidatorAreKeptApart(tag: String) throws {
        let cache = CacheSimulation()
        for range in ["0-3", "4-6", "2-5", "0-3"] {
            let answer = try #require(
                cache.send(Self.request(range, "Cache-Control: no-cache"), at: 1, Self.server(tag))
            )
            #expect(answer.head.status == .partialContent)
        }
        let ranges = cache.kept().compactMap { $0.response?.part?.range }
        #expect(Set(ranges) == [0..<4, 4..<7, 2..<6] && ranges.count == 3)
        // Each part serves the ranges in it, and no other.
        #expect(cache.send(Self.request("1-2"), at: 2, nil)?.body == "12")
        #expect(cache.send(Self.request("4-5"), at: 2, nil)?.body == "45")
        #expect(cache.send(Self.request("3-6"), at: 2, nil) == nil)
        let whole = try #require(cache.send(at: 2, Self.server("\"b\"", whole: "abcdefghij")))
        #expect(whole.sent.map { $0.headers.contains(.range) } == [false])
        #expect(whole.body == "abcdefghij")
        try Self.expect(cache, "whole abcdefghij")
    }

    @Test func numberOfPartsKeptApartIsLimited() throws {
        let cache = CacheSimulation()
        let whole = String(repeating: "x", count: 1000)
        for first in 0..<200 {
            let server = Self.server("x", "Cache-Control: max-age=60", whole: whole)
            _ = cache.send(Self.request("\(first * 5)-\(first * 5 + 3)"), at: 1, server)
            #expect(cache.kept().count == min(first + 1, CacheUpdate.variantLimit))
        }
        #expect(cache.kept().first?.response?.part?.range == 995..<999, "The newest are kept.")
        #expect(cache.kept().last?.response?.part?.range == 920..<924)
    }

    @Test func partWithAStrongValidatorIsNotJoinedToOneWithout() throws {
        let cache = CacheSimulation()
        let lines = "Cache-Control: max-age=60\nVary: X"
        for (range, tag) in [("0-1", "W/\"a\""), ("2-3", "\"a\""), ("4-5", "W/\"a\""), ("4-6", "\"a\"")] {
            _ = cache.send(Self.request(range), at: 1, Self.server(tag, lines))
        }
        let ranges = Set(cache.kept().compactMap { $0.response?.part?.range })
        #expect(ranges == [0..<2, 2..<7, 4..<6])
        // The beginning has no strong validator, so the rest is not requested.
        let request = CacheFixture.request(["X": "y"])
        #expect(cache.send(request, at: 1, Self.server())?.sent.map(\.headers) == [["X": "y"]])
    }

    @Test func randomRangesWithoutValidatorsReturnBytesOfOneVersion() throws {
        var random = SeededGenerator(seed: 206)
        for _ in 0..<25 {
            let cache = CacheSimulation()
            for step in 0..<40 {
                let letter = Character(UnicodeScalar(UInt8(97 + Int.random(in: 0..<3, using: &random))))
                let tag = ["W/\"a\"", "x", "\"\(letter)\""].randomElement(using: &random) ?? "x"
                let lines = "Cache-Control: max-age=\(Int.random(in: 0...9, using: &random))\nDate: {\(step)}"
                let server = Self.server(tag, lines, whole: String(repeating: letter, count: 10))
                let first = Int.random(in: 0..<10, using: &random)
                let last = Int.random(in: first..<10, using: &random)
                let isWhole = Int.random(in: 0..<4, using: &random) == 0
                let request = isWhole ? CacheFixture.request() : Self.request("\(first)-\(last)")
                let answer = try #require(cache.send(request, at: Double(step), server))
                #expect(Set(answer.body).count == 1)
                #expect(answer.body.count == (isWhole ? 10 : last - first + 1))
            }
        }
    }

    @Test func partFreshensTheCompleteResponse() throws {
        let cache = CacheSimulation()
        _ = cache.send(at: 0, Self.server("\"a\"", "Cache-Control: max-age=0"))
        _ = cache.send(
            Self.request("2-3", "If-None-Match: \"z\""),
            at: 9,
            Self.server("\"a\"", "Cache-Control: max-age=60\nDate: {9}")
        )
        try Self.expect(cache, "whole 0123456789")
        #expect(cache.send(at: 20, nil)?.body == Self.whole)
    }

    @Test func partLeavesResponsesWithoutComparableValidator() throws {
        let cache = CacheSimulation()
        _ = cache.send(at: 0, Self.server("W/\"a\"", "Cache-Control: max-age=0"))
        _ = cache.send(Self.request("2-3", "If-None-Match: \"z\""), at: 9, Self.server())
        try Self.expect(cache, "whole 0123456789")
        let encoded = CacheSimulation()
        _ = encoded.send(at: 0, Self.server("\"a\"", "Cache-Control: max-age=0\nContent-Encoding: gzip"))
        _ = encoded.send(Self.request("2-3"), at: 9, Self.server())
        try Self.expect(encoded, "whole 0123456789")
    }

    @Test func prefixIsCompletedByARangeRequest() throws {
        let cache = CacheSimulation()
        _ = cache.send(Self.request("0-3"), at: 0, Self.server())
        let answer = try #require(cache.send(at: 1, Self.server()))
        #expect(answer.sent.map(\.headers) == [[.range: "bytes=4-", .ifRange: "\"a\""]])
        #expect(answer.head.status == .ok)
        #expect(answer.body == Self.whole)
        #expect(answer.head.headers[.contentRange] == nil)
        #expect(answer.head.headers[.contentLength] == "10")
        #expect(answer.status == "Sluice; fwd=partial; fwd-status=206; stored")
        try Self.expect(cache, "whole 0123456789")
        #expect(cache.send(at: 2, nil)?.body == Self.whole)
    }

    @Test func truncatedCompletionFails() throws {
        let cache = CacheSimulation()
        _ = cache.send(Self.request("0-3"), at: 0, Self.server())
        let short: CacheSimulation.Server = { request in (Self.server()(request).head, "45678") }
        #expect(cache.send(at: 1, short) == nil)
        try Self.expect(cache, "0..<4 0123")
    }

    @Test func prefixOfAnotherVersionIsReplaced() throws {
        let cache = CacheSimulation()
        _ = cache.send(Self.request("0-3"), at: 0, Self.server())
        // If-Range does not match, so the server sends the whole.
        let answer = try #require(cache.send(at: 1, Self.server("\"b\"", whole: "abcdefghij")))
        #expect(answer.body == "abcdefghij")
        #expect(answer.sent.count == 1)
        try Self.expect(cache, "whole abcdefghij")
    }

    @Test(arguments: [
        "Content-Range: bytes 4-9/10\nETag: \"b\"", "Content-Range: bytes 5-9/10\nETag: \"a\"",
        "Content-Range: bytes 4-8/10\nETag: \"a\"", "Content-Range: bytes 4-10/11\nETag: \"a\"", "ETag: \"a\"",
        "Content-Range: bytes 4-9/10", "Content-Range: bytes 4-9/10\nETag: \"a\"\nContent-Encoding: br",
    ])
    func unsuitableCompletionCausesACompleteRequest(lines: String) throws {
        let cache = CacheSimulation()
        _ = cache.send(Self.request("0-3"), at: 0, Self.server())
        let answer = try #require(
            cache.send(at: 1) { request in
                request.headers.contains(.range)
                    ? (CacheFixture.head(HTTPHeaders(lines: lines), status: 206), "456789") : Self.server()(request)
            }
        )
        #expect(answer.sent.map { $0.headers.contains(.range) } == [true, false])
        #expect(answer.body == Self.whole)
    }

    @Test(arguments: [412, 416, 304])
    func refusedCompletionCausesACompleteRequest(status: Int) throws {
        let cache = CacheSimulation()
        _ = cache.send(Self.request("0-3"), at: 0, Self.server())
        let answer = try #require(
            cache.send(at: 1) { request in
                request.headers.contains(.range)
                    ? (CacheFixture.head([:], status: HTTPStatus(rawValue: status)), "") : Self.server()(request)
            }
        )
        #expect(answer.body == Self.whole)
    }

    @Test(arguments: ["0-3", "2-5"])
    func onlyAPrefixIsCompletedForACompleteRequest(range: String) throws {
        let cache = CacheSimulation()
        _ = cache.send(Self.request(range), at: 0, Self.server())
        let conditional = CacheFixture.request([.ifNoneMatch: "\"z\""])
        for request in [
            conditional, CacheFixture.request([.cacheControl: "no-store"]), CacheFixture.request(method: .head),
        ] {
            let plan = CacheRules().plan(for: request, stored: cache.kept(), now: CacheFixture.at(1))
            #expect(plan.kind == "partial response")
            #expect(plan.conditionalRequest?.sent.headers == request.headers)
        }
        let plan = CacheRules().plan(for: CacheFixture.request(), stored: cache.kept(), now: CacheFixture.at(1))
        #expect(plan.conditionalRequest?.purpose == (range == "0-3" ? .completion : .response))
    }

    @Test func randomRangesReturnBytesOfOneVersion() throws {
        var random = SeededGenerator(seed: 34)
        for _ in 0..<25 {
            let cache = CacheSimulation()
            var version = 0
            for step in 0..<40 {
                if Int.random(in: 0..<12, using: &random) == 0 { version += 1 }
                let letters = String((0..<10).map { _ in Character(UnicodeScalar(UInt8(97 + version % 26))) })
                let lifetime = Int.random(in: 0...1, using: &random) * 2
                let server = Self.server(
                    "\"\(version)\"",
                    "Cache-Control: max-age=\(lifetime)\nDate: {\(step)}",
                    whole: letters
                )
                let first = Int.random(in: 0..<10, using: &random)
                let last = Int.random(in: first..<14, using: &random)
                let isWhole = Bool.random(using: &random)
                let request = isWhole ? CacheFixture.request() : Self.request("\(first)-\(last)")
                let answer = try #require(cache.send(request, at: Double(step), server))
                #expect(Set(answer.body).count == 1)
                #expect(answer.body.count == (isWhole ? 10 : min(last, 9) - first + 1))
                // A fresh response that was not revalidated may be an older one.
                if answer.serving == nil || answer.serving?.isRevalidated == true {
                    #expect(answer.body.first == letters.first)
                }
                #expect(answer.serving?.isStale != true || answer.serving?.isRevalidated == true)
            }
        }
    }
}
