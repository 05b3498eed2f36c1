import SluiceTesting
import Testing

@testable import Sluice

/// The properties of a target that may have one of several types take effect with each of them.
@Suite struct TargetPropertyTests {
    private struct Fields: Target {
        var baseURL = "https://shop.example"
        var path = "feed"
        var headers: HTTPHeaders = ["Accept": "text/plain", "X-Tenant": "t1"]
        var tags: Set<String> = ["a", "b"]
        var cacheTags: Set<String> = ["a", "b"]
        var dataSource = DataSource.cache
        var cacheExpiration = CacheExpiration.hours(1)
    }

    private struct Texts: Target {
        var baseURL = "https://shop.example"
        var path = "feed"
        var headers = ["X-Tenant": "t1", "Accept": "text/plain"]
        var tags = ["a", "b", "a"]
        var cacheTags = ["a", "b", "a"]
        var dataSource: DataSource? = .cache
        var cacheExpiration: CacheExpiration? = .hours(1)
    }

    private struct Optionals: Target {
        var baseURL = "https://shop.example"
        var path = "feed"
        var headers: [String: String]? = ["X-Tenant": "t1", "Accept": "text/plain"]
        var tags: [String]? = ["a", "b"]
        var cacheTags: Set<String>? = ["a", "b"]
        var dataSource: DataSource? = .cache
        var cacheExpiration: CacheExpiration? = .hours(1)
    }

    private func caching(_ draft: RequestDraft) -> Caching { draft.options.caching.applied(to: Caching()) }

    @Test(arguments: [Fields(), Texts(), Optionals()] as [any Target])
    func everyAcceptedTypeTakesEffect(_ target: any Target) throws {
        let draft = try target.draft()
        #expect(draft.headers.map { "\($0.name): \($0.value)" } == ["Accept: text/plain", "X-Tenant: t1"])
        #expect(draft.tags == ["a", "b"])
        #expect(caching(draft).tags == ["a", "b"])
        #expect(caching(draft).expiration == .hours(1))
        guard case .cache = caching(draft).source.kind else {
            Issue.record("The data source is ignored.")
            return
        }
    }

    @Test func nilIsTheDefault() {
        let draft = Optionals(headers: nil, tags: nil, cacheTags: nil, dataSource: nil, cacheExpiration: nil).draft()
        #expect(draft.headers.isEmpty)
        #expect(draft.tags.isEmpty)
        #expect(!draft.options.caching.isChanged)
    }
}
