import SluiceTesting
import Testing

@testable import Sluice

/// The properties of a target that may have one of several types. A property of another type would be ignored.
@Suite struct TargetPropertyTests {
    private struct Example<
        Headers: TargetProperty<HTTPHeaders> & Sendable,
        Tags: Sequence<String> & Sendable,
        Source: TargetProperty<DataSource> & Sendable,
        Expiration: TargetProperty<CacheExpiration> & Sendable
    >: Target {
        let headers: Headers
        let tags: Tags
        let cacheTags: Tags
        let dataSource: Source
        let cacheExpiration: Expiration

        var baseURL: String { "https://shop.example" }
        var path: String { "feed" }
    }

    private func draft(
        headers: some TargetProperty<HTTPHeaders> & Sendable = HTTPHeaders(),
        tags: some Sequence<String> & Sendable = Set<String>(),
        source: some TargetProperty<DataSource> & Sendable = DataSource?.none,
        expiration: some TargetProperty<CacheExpiration> & Sendable = CacheExpiration?.none
    ) -> RequestDraft {
        Example(headers: headers, tags: tags, cacheTags: tags, dataSource: source, cacheExpiration: expiration).draft()
    }

    private func lines(_ headers: some TargetProperty<HTTPHeaders> & Sendable) -> [String] {
        draft(headers: headers).headers.map { "\($0.name): \($0.value)" }
    }

    private func caching(_ draft: RequestDraft) -> Caching { draft.options.caching.applied(to: Caching()) }

    @Test func headersMayBeADictionaryAndOptional() {
        let fields: HTTPHeaders = ["Accept": "text/plain", "X-Tenant": "t1"]
        let dictionary = ["X-Tenant": "t1", "Accept": "text/plain"]
        let expected = ["Accept: text/plain", "X-Tenant: t1"]
        #expect(lines(fields) == expected)
        #expect(lines(Optional(fields)) == expected)
        #expect(lines(dictionary) == expected)
        #expect(lines(Optional(dictionary)) == expected)
        #expect(lines([String: String]?.none) == [])
        #expect(lines(HTTPHeaders?.none) == [])
    }

    @Test func tagsMayBeAnArray() {
        for draft in [draft(tags: ["a", "b", "a"]), draft(tags: Set(["a", "b"]))] {
            #expect(draft.tags == ["a", "b"])
            #expect(caching(draft).tags == ["a", "b"])
        }
        #expect(draft(tags: [String]()).tags.isEmpty)
        #expect(!draft().options.caching.isChanged)
    }

    @Test func dataSourceAndExpirationMayBeNonoptional() {
        for draft in [
            draft(source: DataSource.cache, expiration: CacheExpiration.hours(1)),
            draft(source: DataSource?.some(.cache), expiration: CacheExpiration?.some(.hours(1))),
        ] {
            guard case .cache = caching(draft).source.kind else {
                Issue.record("The data source is ignored.")
                continue
            }
            #expect(caching(draft).expiration == .hours(1))
        }
        #expect(caching(draft()).expiration == nil)
    }
}
