import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceCache

/// The selection of a stored response by `Vary` (RFC 9111 §4.1), and the separation of users.
@Suite struct VaryTests {
    private static func variant(_ vary: String, _ lines: String) -> String? {
        VaryField(HTTPHeaders(lines: vary)).variant(of: CacheFixture.request(HTTPHeaders(lines: lines)), identity: nil)
    }

    @Test(arguments: [
        // Field lines may be combined, and the white space around values is ignored.
        ("Vary: X", "X: a, b", "X: a\nX: b", true),
        ("Vary: X", "X: a", "X:   a  ", true),
        ("Vary: X", "X: a", "x: a", true),
        // In an unknown field, white space, case and order may matter.
        ("Vary: X", "X: a,b", "X: a, b", false),
        ("Vary: X", "X: a", "X: A", false),
        ("Vary: X", "X: a, b", "X: b, a", false),
        ("Vary: User-Agent", "User-Agent: Sluice/1 (x)", "User-Agent: Sluice/1 (X)", false),
        // An absent field matches only an absent field.
        ("Vary: X", "Y: 1", "Y: 2", true),
        ("Vary: X", "X:", "Y: 2", false),
        ("Vary: X", "X: a", "Y: 2", false),
        // The field and the number of values matter.
        ("Vary: X, Y", "X: a", "Y: a", false),
        ("Vary: X, Y", "X: a\nY: b", "X: b\nY: a", false),
        ("Vary: X, Y", "X: a\nY: b", "Y: b\nX: a", true),
        // RFC 9110 §12.5.3: content codings ignore case and order.
        ("Vary: Accept-Encoding", "Accept-Encoding: gzip, br", "Accept-Encoding: BR ,gzip", true),
        (
            "Vary: Accept-Encoding", "Accept-Encoding: gzip;q=0.5, br",
            "Accept-Encoding: br\nAccept-Encoding: gzip ; q=0.5", true
        ),
        ("Vary: Accept-Encoding", "Accept-Encoding: gzip", "Accept-Encoding: gzip, br", false),
        ("Vary: Accept-Encoding", "Accept-Encoding: gzip;q=0", "Accept-Encoding: gzip", false),
        // §12.5.4: language ranges ignore case, but servers use their order.
        ("Vary: Accept-Language", "Accept-Language: de-DE, en;q=0.5", "Accept-Language: de-de,EN;Q=0.5", true),
        ("Vary: Accept-Language", "Accept-Language: de, en", "Accept-Language: en, de", false),
        // §12.5.1: media types ignore case, but their parameters may not.
        ("Vary: Accept", "Accept: Text/HTML;level=A", "Accept: text/html; level=A", true),
        ("Vary: Accept", "Accept: text/html;level=A", "Accept: text/html;level=a", false),
        ("Vary: Accept", "Accept: a/b;c=\"x, y\"", "Accept: a/b;c=\"x,y\"", false),
        // The names in `Vary` ignore case and order, and may be repeated.
        ("Vary: x ,, Y", "X: a\nY: b", "X: a\nY: b", true),
    ])
    func equivalentRequestsHaveTheSameVariant(vary: String, first: String, second: String, isSame: Bool) {
        #expect((Self.variant(vary, first) == Self.variant(vary, second)) == isSame)
    }

    @Test(arguments: [
        ("Vary: X, Y", "Vary: y,x"), ("Vary: X", "Vary: X, x"), ("Vary: X\nVary: Y", "Vary: X, Y"),
    ])
    func variantIgnoresCaseAndOrderOfVary(first: String, second: String) {
        #expect(Self.variant(first, "X: a\nY: b") == Self.variant(second, "X: a\nY: b"))
    }

    @Test(arguments: ["Vary: *", "Vary: X, *", "Vary: X\nVary: *", "Vary: X Y", "Vary: \"X\"", "Vary: é"])
    func varyStarMatchesNoRequest(vary: String) {
        // §4.1
        #expect(Self.variant(vary, "X: a") == nil)
        let entry = CacheFixture.entry(HTTPHeaders(lines: "Cache-Control: max-age=60\n\(vary)"))
        let plan = CacheRules().plan(for: CacheFixture.request(), stored: [entry], now: CacheFixture.start)
        #expect(plan.kind == "vary-miss response")
    }

    @Test(arguments: ["X: y", "Vary:", "Vary: ,"])
    func emptyVaryHasOneVariant(vary: String) {
        #expect(Self.variant(vary, "X: secret") == "")
    }

    @Test func variantContainsNoFieldValue() throws {
        let variant = try #require(Self.variant("Vary: Authorization", "Authorization: Bearer hush"))
        #expect(variant.count == 64)
        #expect(variant.contains { !$0.isHexDigit } == false)
    }

    struct Owner: Sendable {
        let fields: String
        let owner: String?
        let requester: String?
        let plan: String
    }

    @Test(arguments: [
        Owner(fields: "X: y", owner: nil, requester: nil, plan: "hit"),
        Owner(fields: "X: y", owner: "ann", requester: "ann", plan: "hit"),
        Owner(fields: "X: y", owner: "ann", requester: "bob", plan: "vary-miss response"),
        Owner(fields: "X: y", owner: "ann", requester: nil, plan: "vary-miss response"),
        Owner(fields: "X: y", owner: nil, requester: "ann", plan: "vary-miss response"),
        Owner(fields: "Cache-Control: public", owner: nil, requester: "ann", plan: "hit"),
        Owner(fields: "Cache-Control: public", owner: "ann", requester: "bob", plan: "vary-miss response"),
        Owner(fields: "Cache-Control: public, private", owner: nil, requester: "ann", plan: "vary-miss response"),
        Owner(fields: "Cache-Control: public, private=\"X\"", owner: nil, requester: "ann", plan: "vary-miss response"),
        Owner(fields: "Vary: X", owner: "ann", requester: "ann", plan: "hit"),
        Owner(fields: "Vary: X", owner: "ann", requester: "bob", plan: "vary-miss response"),
    ])
    func responseIsServedToItsIdentityOnly(_ row: Owner) {
        let headers = HTTPHeaders(lines: "\(row.fields)\nExpires: {60}")
        let entry = CacheFixture.entry(headers, identity: row.owner)
        let plan = CacheRules().plan(
            for: CacheFixture.request(),
            identity: row.requester,
            stored: [entry],
            now: CacheFixture.start
        )
        #expect(plan.kind == row.plan)
    }

    @Test func variantsAreStoredSeparately() throws {
        let cache = CacheSimulation()
        func server(_ request: HTTPRequest) -> (HTTPResponse, String) {
            let language = request.headers["Accept-Language"] ?? "none"
            return (
                CacheFixture.head(["Vary": "Accept-Language", .cacheControl: "max-age=60"]), language
            )
        }
        for (language, status) in [
            ("de", "fwd=uri-miss"), ("en", "fwd=vary-miss"), ("de", "hit"), ("EN", "hit"), ("fr", "fwd=vary-miss"),
        ] {
            let request = CacheFixture.request(["Accept-Language": language])
            let answer = try #require(cache.send(request, at: 1, server))
            #expect(answer.body.lowercased() == language.lowercased())
            #expect(answer.status.contains(status))
        }
        #expect(cache.kept().count == 3)
    }

    @Test func identitiesAreSeparateExceptForPublicResponses() throws {
        let cache = CacheSimulation()
        for user in ["ann", "bob", "ann", "bob"] {
            let answer = try #require(
                cache.send(at: 1, identity: user) { _ in (CacheFixture.head([.cacheControl: "max-age=60"]), user) }
            )
            #expect(answer.body == user)
        }
        #expect(cache.kept().count == 2)
        let shared = CacheFixture.head([.cacheControl: "public, max-age=60"])
        _ = cache.send(CacheFixture.request([.cacheControl: "no-cache"]), at: 2, identity: "ann") { _ in (shared, "all")
        }
        #expect(cache.kept().map(\.response?.identity) == [nil, "bob"])
        #expect(cache.send(at: 3, identity: "eve", nil)?.body == "all")
        #expect(cache.send(at: 3, nil)?.body == "all")
    }

    @Test(arguments: ["private", "private=\"X\""])
    func contradictoryPrivatePrevails(directive: String) {
        let cache = CacheSimulation()
        let head = CacheFixture.head([.cacheControl: "public, \(directive), max-age=60"])
        _ = cache.send(at: 1, identity: "ann") { _ in (head, "ann") }
        #expect(cache.kept().map(\.response?.identity) == ["ann"])
    }

    @Test func responseThatVariesByHiddenFieldsIsNotStored() throws {
        let rules = CacheRules()
        let head = CacheFixture.head([.cacheControl: "max-age=60", .vary: "X, cookie"])
        let entry = CacheFixture.entry([.cacheControl: "max-age=60", .vary: "cookie"])
        let plan = rules.plan(
            for: CacheFixture.request(),
            hiddenFields: [.authorization, .cookie],
            stored: [entry],
            now: CacheFixture.start
        )
        #expect(plan.kind == "vary-miss response")
        let forwarding = try #require(plan.conditionalRequest)
        let reception = rules.update(
            for: head,
            to: forwarding,
            requested: CacheFixture.start,
            received: CacheFixture.start
        )
        #expect(reception.storing.isEmpty)
    }

    @Test func differentValuesHaveDifferentVariants() {
        var random = SeededGenerator(seed: 41)
        var seen: [String: String] = [:]
        for _ in 0..<2000 {
            func value() -> String {
                String(
                    (0..<Int.random(in: 0...3, using: &random)).map { _ in "ab,: ".randomElement(using: &random) ?? "a"
                    }
                )
                .trimmingCharacters(in: .whitespaces)
            }
            let (first, second) = (value(), value())
            guard let variant = Self.variant("Vary: X, Y", "X: \(first)\nY: \(second)") else { continue }
            let both = "\(first)|\(second)"
            #expect(seen[variant] ?? both == both)
            seen[variant] = both
        }
        #expect(seen.count > 100)
    }

    @Test func numberOfVariantsIsLimited() throws {
        let cache = CacheSimulation()
        for number in 0..<100 {
            let headers: HTTPHeaders = [.cacheControl: "max-age=60", .vary: "X"]
            let request = CacheFixture.request(["X": "\(number % 40)"])
            _ = cache.send(request, at: 1) { _ in (CacheFixture.head(headers), "\(number % 40)") }
            #expect(cache.kept().count <= CacheUpdate.variantLimit)
            #expect(cache.send(request, at: 2, nil)?.body == "\(number % 40)", "The newest is kept.")
        }
        // A response without Vary replaces those that match, and counts itself.
        let whole = CacheFixture.head([.cacheControl: "max-age=60"])
        _ = cache.send(CacheFixture.request(["X": "new"]), at: 3) { _ in (whole, "new") }
        #expect(cache.kept().count == CacheUpdate.variantLimit)
    }
}
