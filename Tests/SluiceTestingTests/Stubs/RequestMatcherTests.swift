import Foundation
import Testing

@testable import SluiceTesting

@Suite struct RequestMatcherTests {
    private let request = RecordedRequest(
        method: .post,
        url: "https://shop.test:8443/v1/users/7?page=2&q=a%20b",
        headers: ["Accept": "application/json"],
        body: Data(#"{"a":1,"b":[2]}"#.utf8)
    )

    @Test func matchesOnlyIfAllConditionsHold() {
        let cases: [(RequestMatcher, Bool)] = [
            (.any, true), (.post("/v1/users/7"), true), (.get("/v1/users/7"), false), (.post("/v1/users/{id}"), true),
            (.path("/v1/users/{id}"), true), (.path("/v1/*"), true), (.path("*"), true), (.path("/v1/{id}"), false),
            (.path("/v1/users"), false), (.any.host("SHOP.test:8443"), true), (.any.host("shop.test"), false),
            (.any.query("page"), true), (.any.query("page", "2"), true), (.any.query("page", "3"), false),
            (.any.query("q", "a b"), true), (.any.query("x"), false), (.any.header("accept"), true),
            (.any.header("Accept", "text/html"), false), (.any.header("X"), false),
            (.any.body(json: #"{ "b": [2.0], "a": 1 }"#), true), (.any.body(json: #"{"a":1}"#), false),
            (.any.body(json: "{"), false), (.any.body(#"{"a":1,"b":[2]}"#), true), (.any.body(Data([1])), false),
            (.any.matching("small") { $0.body.count < 100 }, true), (.any.matching("none") { _ in false }, false),
        ]
        for (matcher, isMatch) in cases { #expect(matcher.matches(request) == isMatch, "\(matcher)") }
    }

    @Test(
        arguments: [
            ("https://shop.test/v1/users/7", "the path is /v1/users/7 (write only the path, and the host as"),
            ("/v1/users/7?page=2", "the path is /v1/users/7 (write the query as"),
            ("v1/users/7", "the path is /v1/users/7 (a path begins with"),
        ]
    )
    func mistakeInAPathIsNamed(_ path: String, _ text: String) {
        let mismatches = RequestMatcher.post(path).mismatches(request)
        #expect(mismatches.count == 1 && mismatches.first?.hasPrefix(text) == true, "\(mismatches)")
    }

    @Test(
        arguments: [
            ("/users/{id}", "/users/a%20b", ["id": "a b"]), ("/{a}/x/{b}", "/1/x/2", ["a": "1", "b": "2"]),
            ("/files/{name}.json", "/files/a.b.json", ["name": "a.b"]), ("/files/*/end", "/files/a/b/end", [:]),
            ("/users/{id}", "/users/", nil), ("/users/{id}", "/users/1/2", nil), ("/files/*/end", "/files/end", nil),
            ("/{", "/{", [:]),
        ] as [(String, String, [String: String]?)]
    )
    func matchesPathPatterns(_ pattern: String, _ path: String, _ parameters: [String: String]?) {
        let recorded = RecordedRequest(url: "http://a\(path)")
        let matcher = RequestMatcher.path(pattern)
        #expect(matcher.matches(recorded) == (parameters != nil))
        #expect(matcher.pathParameters(of: recorded) == parameters ?? [:])
    }
}
