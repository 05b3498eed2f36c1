import Foundation
import SluiceHTTP
import Testing

@testable import SluiceTesting

@Suite struct CassetteTests {
    private static func nested(_ depth: Int) -> Data {
        Data(repeating: UInt8(ascii: "["), count: depth) + Data(repeating: UInt8(ascii: "]"), count: depth)
    }

    private func exchange(
        _ type: String?,
        _ body: Data,
        status: HTTPStatus = .ok
    ) -> RecordedExchange {
        var headers: HTTPHeaders = ["X-One": "1", "x-one": "2"]
        if let type { headers.append(.contentType, type) }
        let response = RecordedExchange.Response(head: HTTPResponse(status: status, headers: headers), body: body)
        let request = RecordedRequest(method: .post, url: "http://a.b/c?d=e", headers: headers, body: body)
        return RecordedExchange(request: request, result: .success(response))
    }

    @Test(arguments: [
        ("application/json", Data(#"{"b":1.50,"a":"é"}"#.utf8), #""json": {"#),
        ("application/problem+json", Data("[1]".utf8), #""json": ["#),
        ("application/json", Data("{".utf8), #""text": "{""#),
        ("application/json", Data(#"["\ud83d"]"#.utf8), #""text": "["#),
        ("application/json", Data(#"["\ude00\ud83dx"]"#.utf8), #""text": "["#),
        ("application/json", Self.nested(255), #""text": "[["#),
        ("application/json", Self.nested(128), #""json": ["#),
        ("text/plain", Data("line\n".utf8), #""text": "line\n""#),
        ("image/png", Data([0xFF, 0]), #""base64": "/wA=""#),
    ])
    func roundTripsBodiesInReadableForm(_ type: String, _ body: Data, _ written: String) throws {
        let text = Cassette(exchanges: [exchange(type, body)]).data
        #expect(String(decoding: text, as: UTF8.self).contains(written))
        let read = try #require(try Cassette(text).exchanges.first)
        #expect(read.request.body == body)
        #expect(read.request.headers.values(for: "X-One") == ["1", "2"])
        #expect(try read.result.get().body == body)
        #expect(try read.result.get().head.headers[.contentType] == type)
    }

    @Test func writesTextOfOneJSONValue() throws {
        for count in 0...2 {
            let data = Cassette(exchanges: (0..<count).map { _ in exchange("text/plain", Data("a".utf8)) }).data
            let text = String(decoding: data, as: UTF8.self)
            #expect(text == (try JSONNode(parsing: data).text(indentedBy: 0)) + "\n")
            #expect(try Cassette(data).exchanges.count == count)
        }
    }

    @Test(arguments: [
        (#"{"a":1,"b":2}"#, #"{"b":2.0,"a":1}"#, true), ("[1,2]", "[2,1]", false), ("1e2", "100", true),
        ("9007199254740993", "9007199254740992", false), (#"{"a":1}"#, #"{"a":1,"b":null}"#, false),
        (#""\u00e9""#, #""é""#, true), ("no JSON", "no JSON", true), ("no JSON", "nor this", false),
    ])
    func matchesEquivalentBodies(_ one: String, _ other: String, _ isMatch: Bool) {
        let requests = [one, other].map { RecordedRequest(url: "http://a.b/", body: Data($0.utf8)) }
        #expect(CassetteCriterion.body.isMatch(requests[0], requests[1]) == isMatch)
    }

    @Test func roundTripsNetworkFailure() throws {
        let request = RecordedRequest(url: "http://a.b/")
        let failure = RecordedExchange(request: request, result: .failure(SluiceError(.tlsFailed, "Expired.")))
        let read = try Cassette(Cassette(exchanges: [failure]).data).exchanges.first
        #expect(throws: SluiceError.self) { try read?.result.get() }
        guard case .failure(let error)? = read?.result else { return }
        #expect(error.code == .tlsFailed)
        #expect(error.reason == "Expired.")
    }

    @Test func roundTripsHeaderStartingWithCombiningMark() throws {
        let request = RecordedRequest(url: "http://a/", headers: ["A": "\u{301}b", "C": ""])
        let exchange = RecordedExchange(request: request, result: .failure(SluiceError(.connectionLost, "gone")))
        let read = try Cassette(Cassette(exchanges: [exchange]).data)
        #expect(read.exchanges.map(\.request.headers) == [request.headers])
    }

    @Test(arguments: [
        ("GET", 200, #""body":{"json":{ "a": 1 }}"#, "7"), ("GET", 304, #""trailers":[]"#, "99"),
        ("HEAD", 200, #""trailers":[]"#, "99"),
    ])
    func correctsContentLength(_ method: String, _ status: Int, _ body: String, _ length: String) throws {
        let text = """
            {"version":1,"exchanges":[{"request":{"method":"\(method)","url":"http://a/"},"response":{"status":\(status),
            "headers":["Content-Type: application/json","Content-Length: 99"],\(body)}}]}
            """
        let response = try #require(try Cassette(Data(text.utf8)).exchanges.first?.result.get())
        #expect(response.head.headers[.contentLength] == length)
    }

    @Test(arguments: [
        (#"{"version":1,"exchanges":["#, "it ends too early, in line 1"), ("", "it ends too early"),
        (#"{"exchanges":[]}"#, "it has no version"), (#"{"version":1}"#, "it has no exchanges"),
        (#"{"version":2,"exchanges":[]}"#, "its version is 2, but the newest supported version is 1"),
        (#"{"version":1,"exchanges":[{}]}"#, "exchange 1 has no request with a url"),
        (
            #"{"version":1,"exchanges":[{"request":{"method":"GET","url":"http://a/"}}]}"#,
            "exchange 1 has neither response nor error"
        ),
        (
            #"{"version":1,"exchanges":[{"request":{"method":"GET","url":"http://a/"},"response":{"status":20}}]}"#,
            "exchange 1 has a response without a status of three digits"
        ),
    ])
    func rejectsInvalidCassetteWithReason(_ text: String, _ reason: String) {
        let error = #expect(throws: SluiceError.self) { try Cassette(Data(text.utf8), named: "/x/gists.json") }
        #expect(error?.code == .cassetteUnreadable)
        #expect(error?.reason.contains("“/x/gists.json” cannot be read: \(reason)") == true, "\(error?.reason ?? "")")
    }
}
