import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct CacheKeyRuleTests {
    private func request(
        _ path: String = "/a?b=1",
        _ method: HTTPMethod = .get,
        _ body: RequestBody = .none,
        _ headers: HTTPHeaders = [:]
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "https", authority: "x.test", path: path, headers: headers, body: body)
    }

    private func name(_ rule: CacheKeyRule, _ request: HTTPRequest, in partition: String = "") -> String? {
        rule.key(for: request, CacheIdentity(request, partition: partition))?.name
    }

    private func json(_ text: String) -> HTTPRequest {
        request("/a", .post, .data(Data(text.utf8)), ["Content-Type": "application/json; charset=utf-8"])
    }

    @Test func keyDiffersByMethodURLAndParameters() {
        let rule = CacheKeyRule.methodURLParameters
        let names = [
            request(), request("/a?b=2"), request("/a"), request("/a?b=1", .delete),
            request("/a?b=1", .post, .data(Data("x".utf8))), request("/a?b=1", .post, .data(Data("y".utf8))),
        ].map { name(rule, $0) }
        #expect(Set(names).count == names.count)
        #expect(!names.contains(nil))
        #expect(names[0] == "GET https://x.test/a?b=1")
    }

    @Test func keyIgnoresTheOrderOfJSONMembers() {
        let rule = CacheKeyRule.methodURLParameters
        #expect(
            name(rule, json(#"{"a":1,"b":{"c":[1,2],"d":null}}"#))
                == name(rule, json(#"{"b":{"d":null,"c":[1,2]},"a":1}"#))
        )
        #expect(name(rule, json(#"{"a":[1,2]}"#)) != name(rule, json(#"{"a":[2,1]}"#)))
        #expect(name(rule, json("no JSON")) != nil)
    }

    @Test func fileBodiesHaveNoKeyByParameters() {
        let file = RequestBody.file(URL(filePath: "/tmp/x"))
        #expect(name(.methodURLParameters, request("/a", .post, file)) == nil)
        #expect(name(.methodURL, request("/a", .post, file)) == "POST https://x.test/a")
    }

    @Test func keysWithoutQueryAndCustomKeys() {
        #expect(name(.methodURL, request("/a?b=1&c=2")) == "GET https://x.test/a")
        #expect(name(.custom("feed"), request()) == "feed")
        #expect(name(.custom { $0.headers["X-Feed"] }, request("/", .get, .none, ["X-Feed": "7"])) == "7")
        #expect(name(.custom { $0.headers["X-Feed"] }, request()) == nil)
    }

    @Test func keyIncludesCredentialsUnlessAPartitionIsSet() throws {
        let rules: [CacheKeyRule] = [.methodURLParameters, .methodURL, .custom("feed")]
        for rule in rules {
            let names = ["one", "two"].map { name(rule, request("/a", .get, .none, ["Authorization": $0])) }
            #expect(names[0] != names[1])
            #expect(names[0]?.contains("one") == false)
            #expect(names[0] != name(rule, request("/a")))
            #expect(names[0] != name(rule, request("/a", .get, .none, ["Cookie": "one"])))
            let parted = ["one", "two"].map { name(rule, request("/a", .get, .none, ["Authorization": $0]), in: "ada") }
            #expect(parted[0] == parted[1])
        }
        let key = try #require(
            CacheKeyRule.custom("feed").key(for: request(), CacheIdentity(request(), partition: "ada"))
        )
        #expect(key == CacheKey("feed", in: .responses, partition: "ada"))
    }

    @Test func hostFieldCannotImitateAnIdentity() throws {
        let mine = request("/a", .get, .none, ["Authorization": "ada"])
        let digest = try #require(CacheIdentity(mine, partition: "").digest)
        for rule in [CacheKeyRule.methodURL, .methodURLParameters, .custom("x")] {
            for host in [digest, "identity: \(digest)", "x.test \(digest)"] {
                #expect(name(rule, request("/a", .get, .none, ["Host": host])) != name(rule, mine))
            }
        }
    }
}
