import Foundation
import Testing

@testable import Sluice

@Suite struct PaginationTests {
    private struct Page: Sendable {
        var items = 10
        var total: Int?
        var cursor: String?
    }

    private func next(
        _ pagination: Pagination<Page>,
        _ page: Page = Page(),
        number: Int = 1,
        itemsBefore: Int = 0,
        link: String? = nil,
        body: String = "{}"
    ) throws(SluiceError) -> NextPage {
        let request = HTTPRequest(scheme: "https", authority: "api.example", path: "/items")
        let headers: HTTPHeaders = link.map { ["Link": $0] } ?? [:]
        let response = ServerResponse(
            request: request,
            head: HTTPResponse(status: .ok, headers: headers),
            body: Data(body.utf8)
        )
        let items = pagination.count?(page) ?? 0
        return try pagination.next(
            PageView(model: page, response: response, number: number, items: items, total: itemsBefore + items)
        )
    }

    @Test func followsLink() throws {
        #expect(try next(.link, link: "</p?2>; rel=next") == .url("/p?2"))
        #expect(try next(.link, link: "</p?1>; rel=prev") == .none)
        #expect(try next(.link) == .none)
        #expect(try next(.link("older"), link: "</p?2>; rel=\"older next\"") == .url("/p?2"))
    }

    @Test func followsCursor() throws {
        #expect(try next(.cursor("after", at: \.cursor), Page(cursor: "c1")) == .query("after", "c1"))
        #expect(try next(.cursor("after", at: \.cursor), Page(cursor: "")) == .none)
        #expect(try next(.cursor("after", at: { $0.cursor })) == .none)
    }

    @Test func sendsCursorsOfOtherTypesAsText() throws {
        let id = UUID()
        #expect(try next(.cursor("after", at: \.items), Page(items: 31)) == .query("after", "31"))
        #expect(try next(.cursor("after", at: \.total), Page(total: 0)) == .query("after", "0"))
        #expect(try next(.cursor("after", at: \.total)) == .none)
        #expect(try next(.cursor("after", at: { $0.cursor?.prefix(1) }), Page(cursor: "abc")) == .query("after", "a"))
        #expect(try next(.cursor("after", at: { _ in id })) == .query("after", id.uuidString))
        #expect(try next(.cursor("after", at: { _ in UUID?.none })) == .none)
    }

    @Test func followsAURLInThePage() throws {
        #expect(try next(.nextURL(at: \.cursor), Page(cursor: "/p?2")) == .url("/p?2"))
        #expect(try next(.nextURL(at: \.cursor), Page(cursor: "")) == .none)
        #expect(try next(.nextURL(at: \.cursor)) == .none)
    }

    @Test func advancesOffsetByItems() throws {
        #expect(try next(.offset(counting: \.items)) == .query("offset", "10"))
        #expect(try next(.offset("skip", counting: \.items), Page(items: 7), itemsBefore: 20) == .query("skip", "27"))
        #expect(try next(.offset(from: 100, counting: \.items), itemsBefore: 20) == .query("offset", "130"))
        #expect(try next(.offset(counting: \.items), Page(items: 0), itemsBefore: 20) == .none)
        #expect(try next(.offset(pageSize: 10, counting: \.items), Page(items: 9)) == .none)
        #expect(try next(.offset(counting: \.items, total: \.total), Page(total: 10)) == .none)
        #expect(try next(.offset(counting: \.items, total: \.total), Page(total: 11)) == .query("offset", "10"))
        #expect(try next(.offset(from: 5, counting: \.items, total: \.total), Page(total: 15)) == .none)
        #expect(try next(.offset(from: .max, counting: \.items)) == .none)
        #expect(try next(.offset(counting: \.items, total: \.total), Page(items: -3, total: .min)) == .none)
        #expect(try next(.offset(from: .min, counting: \.items, total: \.total), Page(total: .min)) == .none)
    }

    @Test func advancesPageNumber() throws {
        #expect(try next(.pageNumber(counting: \.items)) == .query("page", "2"))
        #expect(try next(.pageNumber("p", from: 0, counting: \.items), number: 3) == .query("p", "3"))
        #expect(try next(.pageNumber(counting: \.items), Page(items: 0), number: 3) == .none)
        #expect(try next(.pageNumber(pageSize: 20, counting: \.items)) == .none)
        #expect(try next(.pageNumber(counting: \.items, total: \.total), Page(total: 30), itemsBefore: 20) == .none)
        #expect(try next(.pageNumber(from: .max, counting: \.items)) == .none)
    }

    @Test func followsURLInBody() throws {
        let ways: [(String, NextPage)] = [
            (#"{"paging":{"next":"/p?2"}}"#, .url("/p?2")), (#"{"paging":{"next":null}}"#, .none),
            (#"{"paging":{"next":""}}"#, .none), (#"{"paging":{}}"#, .none), (#"{}"#, .none), (#"[]"#, .none),
        ]
        for (body, page) in ways { #expect(try next(.nextURL(at: "paging.next"), body: body) == page, "\(body)") }
        for body in [#"{"paging":{"next":2}}"#, #"{"paging":{"next":["/p"]}}"#, "", "{"] {
            let error = #expect(throws: SluiceError.self, "\(body)") {
                try next(.nextURL(at: "paging.next"), body: body)
            }
            #expect(error?.code == .decodingFailed)
        }
    }
}
