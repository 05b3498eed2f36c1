import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceCache

/// The grammar of `Cache-Control` (RFC 9111 §5.2), and the handling of invalid fields.
@Suite struct CacheDirectiveTests {
    @Test(arguments: [
        (["max-age=60"], "max-age=60"),
        (["Max-Age=60, NO-STORE"], "max-age=60 no-store"),
        (["max-age=\"60\""], "max-age=60"),
        (["max-age = 60"], "max-age=60"),
        (["private=\"a, b\" , public"], "private=a, b public"),
        (["no-cache=\"a\\\"b\""], "no-cache=a\"b"),
        (["no-store", "max-age=1"], "no-store max-age=1"),
        ([",, no-store ,,\t, public,"], "no-store public"),
        (["no-store;max-age=5, public"], "no-store! public"),
        (["max-age=60 s"], "max-age=60!"),
        (["max-age=\"60\"0"], "max-age=60!"),
        (["max-age="], "max-age=!"),
        (["max-age=, public"], "max-age=! public"),
        (["no-cache=\"a, b"], "no-cache=a, b!"),
        (["=5, public"], "public"),
        (["\"no-store, x\", public"], "public"),
        (["x=é, public"], "x=! public"),
        ([""], ""),
        ([], ""),
    ])
    func directivesAreParsed(lines: [String], expected: String) {
        let texts = CacheDirective.all(in: lines).map { directive in
            "\(directive.name)\(directive.argument.map { "=\($0)" } ?? "")\(directive.isMalformed ? "!" : "")"
        }
        #expect(texts.joined(separator: " ") == expected)
    }

    @Test(
        arguments: [
            ("0", 0), ("60", 60), ("00060", 60), ("2147483648", 2_147_483_648), ("2147483649", 2_147_483_648),
            ("99999999999999999999999999999999999999999999", 2_147_483_648), ("", nil), ("-1", nil), ("+1", nil),
            ("1.5", nil),
            ("1e3", nil), ("0x10", nil), (" 1", nil), ("١", nil), ("1\0", nil),
        ] as [(String, Double?)]
    )
    func deltaSecondsAreDigitsUpToTheirLimit(text: String, expected: Double?) {
        // RFC 9111 §1.2.2
        #expect(DeltaSeconds.parse(text.utf8) == expected)
    }

    @Test(arguments: [
        // §4.2.1: the smallest of duplicates applies. An invalid value means stale.
        ("max-age=60, max-age=30", "maxAge=30"),
        ("max-age=30, max-age=60", "maxAge=30"),
        ("max-age=60, max-age=x", "maxAge=0"),
        ("max-age", "maxAge=0"),
        ("max-age=-1", "maxAge=0"),
        ("max-age=1.5", "maxAge=0"),
        ("max-age='60'", "maxAge=0"),
        ("max-age=60 60", "maxAge=0"),
        // §5.2.2.8, §5.2.2.10
        ("s-maxage=60, proxy-revalidate", "sharedMaxAge=60 proxyRevalidate"),
        ("s-maxage=60, max-age=5", "maxAge=5 sharedMaxAge=60"),
        ("s-maxage=60, s-maxage=\"30\"", "sharedMaxAge=30"),
        ("s-maxage=60, s-maxage=x", "sharedMaxAge=-1"),
        ("s-maxage", "sharedMaxAge=-1"),
        // §5.2.2.4
        ("no-cache", "noCache"),
        ("no-cache=\"\"", "noCache"),
        ("no-cache=\",\"", "noCache"),
        ("no-cache=\"Set-Cookie, X-A\"", "noCache(Set-Cookie X-A)"),
        ("no-cache=Set-Cookie", "noCache(Set-Cookie)"),
        ("no-cache=\"a b\"", "noCache"),
        ("no-cache=\"Set-Cookie", "noCache"),
        ("no-cache=\"A\", no-cache", "noCache noCache(A)"),
        // §5.2.2.5, §5.2.2.2, §5.2.2.3
        ("no-store, must-revalidate, must-understand", "noStore mustRevalidate mustUnderstand"),
        ("no-store=x; y", "noStore"),
        // §5.2.2.7, §5.2.2.9, RFC 8246: a directive that allows something must be well-formed.
        ("private, public, immutable", "public private immutable"),
        ("private=\"A, b\", private=C", "private(A b C)"),
        ("private=\"A\", private", "private private(A)"),
        ("private=\"\"", "private"),
        ("private=\"a b\"", "private"),
        ("private=\"A", "private"),
        ("public x, immutable;", ""),
        // RFC 5861
        ("stale-while-revalidate=30, stale-if-error=\"60\"", "swr=30 sie=60"),
        ("stale-while-revalidate, stale-if-error=x", "swr=0 sie=0"),
        ("foo, bar=baz, no-transform", ""),
    ])
    func responseDirectivesAreInterpretedStrictly(field: String, expected: String) {
        let directives = ResponseDirectives([.cacheControl: field])
        var texts: [String] = []
        if let seconds = directives.maxAge { texts.append("maxAge=\(Int(seconds))") }
        if let seconds = directives.sharedMaxAge { texts.append("sharedMaxAge=\(Int(seconds))") }
        if directives.isNoStore { texts.append("noStore") }
        if directives.isNoCache { texts.append("noCache") }
        if !directives.noCacheFields.isEmpty {
            texts.append("noCache(\(directives.noCacheFields.map(\.rawValue).joined(separator: " ")))")
        }
        if directives.mustRevalidate { texts.append("mustRevalidate") }
        if directives.proxyRevalidate { texts.append("proxyRevalidate") }
        if directives.mustUnderstand { texts.append("mustUnderstand") }
        if directives.isPublic { texts.append("public") }
        if directives.isPrivate { texts.append("private") }
        if !directives.privateFields.isEmpty {
            texts.append("private(\(directives.privateFields.map(\.rawValue).joined(separator: " ")))")
        }
        if directives.isImmutable { texts.append("immutable") }
        if let seconds = directives.staleWhileRevalidate { texts.append("swr=\(Int(seconds))") }
        if let seconds = directives.staleIfError { texts.append("sie=\(Int(seconds))") }
        #expect(texts.joined(separator: " ") == expected)
    }

    @Test(arguments: [
        ("Cache-Control: max-age=5\nCache-Control: max-age=3", "maxAge=3.0"),
        ("Cache-Control: max-age=x", "maxAge=0.0"),
        ("Cache-Control: min-fresh=5, min-fresh=9", "minFresh=9.0"),
        ("Cache-Control: min-fresh=x", "minFresh=inf"),
        ("Cache-Control: max-stale", "maxStale=inf"),
        ("Cache-Control: max-stale, max-stale=5", "maxStale=5.0"),
        ("Cache-Control: max-stale=x", "maxStale=-1.0"),
        ("Cache-Control: max-stale junk", "maxStale=-1.0"),
        ("Cache-Control: no-cache, no-store, only-if-cached", "noCache noStore onlyIfCached"),
        ("Cache-Control: stale-if-error=60", "sie=60.0"),
        ("Cache-Control: stale-if-error", "sie=-1.0"),
        ("Cache-Control: no-transform, s-maxage=4", ""),
        // §5.4: `Pragma` applies only without `Cache-Control`.
        ("Pragma: no-cache", "noCache"),
        ("Pragma: x, No-Cache", "noCache"),
        ("Pragma: no-store", ""),
        ("Pragma: no-cache\nCache-Control: max-age=5", "maxAge=5.0"),
        ("Pragma: no-cache\nCache-Control:", ""),
    ])
    func requestDirectivesAreInterpretedStrictly(lines: String, expected: String) {
        let directives = RequestDirectives(HTTPHeaders(lines: lines))
        var texts: [String] = []
        if let seconds = directives.maxAge { texts.append("maxAge=\(seconds)") }
        if let seconds = directives.minFresh { texts.append("minFresh=\(seconds)") }
        if let seconds = directives.maxStale { texts.append("maxStale=\(seconds)") }
        if let seconds = directives.staleIfError { texts.append("sie=\(seconds)") }
        if directives.isNoCache { texts.append("noCache") }
        if directives.isNoStore { texts.append("noStore") }
        if directives.isOnlyIfCached { texts.append("onlyIfCached") }
        #expect(texts.joined(separator: " ") == expected)
    }

    @Test func randomBytesDoNotTrap() {
        var random = SeededGenerator(seed: 9111)
        let alphabet = Array("max-age=no-store,\"\\ \t;*()é\0".utf8)
        for _ in 0..<3000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? alphabet.randomElement(using: &random) ?? 0 : UInt8.random(in: 0...255, using: &random)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let directives = CacheDirective.all(in: [text])
            #expect(directives.allSatisfy { !$0.name.isEmpty && $0.name == $0.name.lowercased() })
            // A directive before malformed text still applies.
            #expect(ResponseDirectives([.cacheControl: "no-store, \(text)"]).isNoStore)
        }
    }
}
