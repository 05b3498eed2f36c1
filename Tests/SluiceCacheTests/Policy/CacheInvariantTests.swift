import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceCache

/// Invariants of the cache for random requests, responses and times.
@Suite struct CacheInvariantTests {
    private static let responseFields = [
        "Cache-Control: max-age=5", "Cache-Control: max-age=0", "Cache-Control: max-age=30, stale-while-revalidate=20",
        "Cache-Control: no-cache", "Cache-Control: no-store", "Cache-Control: must-revalidate, max-age=3",
        "Cache-Control: public", "Cache-Control: private", "Cache-Control: immutable",
        "Cache-Control: stale-if-error=30",
        "Cache-Control: max-age=\"", "Cache-Control: no-cache=\"X\"", "Expires: {20}", "Expires: 0",
        "Last-Modified: {-100}",
        "Last-Modified: x", "ETag: \"1\"", "ETag: \"2\"", "ETag: W/\"1\"", "ETag: 1", "Vary: X", "Vary: Y, X",
        "Vary: *", "Age: 3",
        "Age: x", "Date: {-4}", "Date: x", "Content-Encoding: gzip", "Content-Length: 10",
        "Content-Range: bytes 0-4/10",
        "Content-Range: bytes 5-9/10", "Content-Range: x", "Set-Cookie: a=b", "Connection: X, Vary", "Location: /a",
        "X: z", "Cache-Control: s-maxage=8", "Cache-Control: s-maxage=x", "Cache-Control: proxy-revalidate",
        "Cache-Control: private=\"X\"", "Cache-Control: private=\"ETag\"", "CDN-Cache-Control: max-age=6",
        "CDN-Cache-Control: s-maxage=4, public", "CDN-Cache-Control: no-store", "CDN-Cache-Control: private",
        "CDN-Cache-Control: x=", "CDN-Cache-Control:",
    ]

    private static let modes: [CacheMode] = [
        .private, .private, .shared, .shared(targetedFields: ["CDN-Cache-Control"]),
    ]

    private static let requestFields = [
        "Cache-Control: no-cache", "Cache-Control: no-store", "Cache-Control: only-if-cached",
        "Cache-Control: max-stale",
        "Cache-Control: max-stale=9", "Cache-Control: min-fresh=4", "Cache-Control: max-age=2",
        "Cache-Control: stale-if-error=9",
        "Pragma: no-cache", "Range: bytes=0-4", "Range: bytes=5-", "Range: bytes=-2", "Range: bytes=0-1,4-5",
        "Range: x",
        "If-Range: \"1\"", "If-Range: {-100}", "If-None-Match: \"1\"", "If-None-Match: *", "If-Modified-Since: {0}",
        "If-Match: \"1\"", "If-Unmodified-Since: {0}", "X: 1", "X: 2", "Y: 1", "Authorization: x",
    ]

    private static func lines(_ fields: [String], upTo limit: Int, _ random: inout SeededGenerator) -> HTTPHeaders {
        let count = Int.random(in: 0...limit, using: &random)
        let chosen = (0..<count).compactMap { _ in fields.randomElement(using: &random) }
        return HTTPHeaders(lines: chosen.joined(separator: "\n"))
    }

    @Test(arguments: 0..<20)
    func randomExchangesKeepTheInvariants(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let statuses = [200, 200, 200, 200, 200, 200, 200, 206, 304, 404, 416, 500, 503, 301, 103, 299]
        let methods: [HTTPMethod] = [.get, .get, .get, .get, .head, .post]
        var served = 0
        for _ in 0..<12 {
            let options = HTTPCaching(
                staleIfError: Bool.random(using: &random) ? .seconds(10) : nil,
                staleWhileRevalidate: Bool.random(using: &random) ? .seconds(10) : nil
            )
            let cache = CacheSimulation(options, mode: Self.modes.randomElement(using: &random) ?? .private)
            var now = 0.0
            for _ in 0..<25 {
                now += Double.random(in: -1...4, using: &random)
                let request = CacheFixture.request(
                    Self.lines(Self.requestFields, upTo: Bool.random(using: &random) ? 0 : 3, &random),
                    method: methods.randomElement(using: &random) ?? .get
                )
                let identity = [nil, nil, nil, "ann", "bob"].randomElement(using: &random) ?? nil
                let status = HTTPStatus(rawValue: statuses.randomElement(using: &random) ?? 200)
                var headers = HTTPHeaders(
                    lines: Bool.random(using: &random) ? "Cache-Control: max-age=9\nETag: \"1\"" : ""
                )
                headers.append(contentsOf: Self.lines(Self.responseFields, upTo: 4, &random))
                let body = "\(identity ?? "-")0123456789".prefix(10)
                let before = cache.kept(request)
                for entry in before { Self.checkHit(entry, cache.rules, request, identity, now) }
                let isDown = Int.random(in: 0..<5, using: &random) == 0
                let answer = cache.send(
                    request,
                    at: now,
                    identity: identity,
                    isDown
                        ? nil
                        : { _ in
                            (HTTPResponse(status: status, headers: headers), String(body))
                        }
                )
                if let answer { Self.check(answer, cache.rules, request, identity, now, before) }
                Self.check(cache.kept(request), cache.rules.mode)
                served += answer?.serving == nil ? 0 : 1
            }
        }
        #expect(served > 20)
    }

    /// Compares the response of a single entry with the plan for it.
    private static func checkHit(
        _ entry: CacheEntry,
        _ rules: CacheRules,
        _ request: HTTPRequest,
        _ identity: String?,
        _ now: Double
    ) {
        let isAuthorized = request.headers.contains(.authorization)
        let date = CacheFixture.at(now)
        let hit = rules.response(
            to: request,
            identity: identity,
            isAuthorized: isAuthorized,
            hiddenFields: [],
            from: entry,
            now: date
        )
        let plan = rules.plan(
            for: request,
            identity: identity,
            isAuthorized: isAuthorized,
            stored: [entry],
            now: date
        )
        guard case .serve(let serving) = plan else {
            #expect(hit == nil)
            return
        }
        // A stale response that may be served without a revalidation is left to the plan.
        guard let hit else {
            #expect(serving.isStale)
            return
        }
        #expect(hit.entry === serving.entry)
        #expect(hit.form == serving.form)
        #expect(hit.age == serving.age)
        #expect(hit.isStale == serving.isStale)
        #expect(hit.head.status == serving.head.status)
        #expect(hit.head.headers == serving.head.headers)
    }

    private static func check(
        _ answer: CacheSimulation.Answer,
        _ rules: CacheRules,
        _ request: HTTPRequest,
        _ identity: String?,
        _ now: Double,
        _ before: [CacheEntry]
    ) {
        guard let serving = answer.serving else { return }
        let metadata = serving.response
        let requestDirectives = RequestDirectives(request.headers)
        let mode = rules.mode
        #expect(request.method == .get || request.method == .head)
        #expect(before.contains { $0 === serving.entry })
        let owner = serving.entry.response?.identity
        let directives = mode.metadata(of: serving.entry)?.directives
        #expect(owner == identity || owner == nil && directives.map(mode.isForAnyone) == true)
        if mode.isShared, let directives, request.headers.contains(.authorization) {
            #expect(mode.isForAnyone(directives) || directives.mustRevalidate)
        }
        // A fresh response that is served is never older than its freshness lifetime.
        if !serving.isStale { #expect(metadata.age(at: CacheFixture.at(now)) < rules.lifetime(of: metadata)) }
        if !serving.isRevalidated {
            #expect(!metadata.directives.isNoCache)
            #expect(!serving.isStale || !mode.mustRevalidate(metadata.directives))
            #expect(!requestDirectives.isNoCache || requestDirectives.staleIfError != nil)
            #expect(
                now >= metadata.received - CacheFixture.start.timeIntervalSinceReferenceDate
                    || requestDirectives.maxStale == .infinity
            )
        }
        let head = answer.head
        #expect(head.headers.values(for: .age).count == 1)
        if head.status == 206 {
            let range = head.headers[.contentRange].flatMap(ContentRange.init)
            #expect(range?.range?.count == serving.body.count)
            #expect(request.headers.contains(.range) && request.method == .get)
            #expect(!head.headers.hasContentCoding)
        }
        if head.status == 304 {
            #expect(!CacheFields(request.headers).isDisjoint(with: .ownConditions))
        }
        if request.headers.contains(.range) == false, request.method == .get, head.status == 200 {
            #expect(serving.entry.response?.part == nil)
        }
    }

    private static func check(_ kept: [CacheEntry], _ mode: CacheMode) {
        #expect(Set(kept.map(\.variant)).count == kept.count)
        for entry in kept {
            guard let response = entry.response else { continue }
            #expect(response.method == .get)
            #expect(response.metadata.vary != .anything)
            let directives = mode.metadata(of: response).directives
            #expect(!directives.isNoStore)
            if mode.isShared {
                #expect(!directives.isPrivate && !response.head.headers.contains(.setCookie))
                #expect(!directives.privateFields.contains { response.head.headers.contains($0) })
            }
            #expect(!response.head.headers.contains(.connection))
            #expect(response.head.headers.values(for: .date).count == 1)
            #expect(![304, 412, 416].contains(response.head.status.rawValue))
            #expect((response.head.status == 206) == (response.part != nil))
            if let part = response.part { #expect(part.isWhole(in: entry) && part.range != 0..<part.total) }
        }
    }
}
