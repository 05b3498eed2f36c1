import Foundation
import SluiceHTTP
import Testing

@testable import SluiceTesting

@Suite struct HARArchiveTests {
    private func exchange(request: String = "", response: String) throws -> RecordedExchange {
        let text = """
            {"log":{"version":"1.2","entries":[{"request":{"method":"GET","url":"https://a.test/x?y=1#z"\(request)},
            "response":{\(response)}}]}}
            """
        return try #require(try HARArchive(Data(text.utf8)).exchanges.first)
    }

    @Test(arguments: [
        (#""content":{"text":"hi","mimeType":"text/plain"}"#, "hi"), (#""content":{"size":0}"#, ""), (#""x":1"#, ""),
        (#""content":{"text":"aGk=","encoding":"base64"}"#, "hi"),
        (#""content":{"text":"aG\nk=","encoding":"base64"}"#, "hi"),
    ])
    func readsBodiesAsTextOrBase64(_ content: String, _ expected: String) throws {
        let response = try exchange(response: #""status":200,\#(content)"#).result.get()
        #expect(String(decoding: response.body, as: UTF8.self) == expected)
    }

    @Test(arguments: [
        (#""text":"café""#, "text/plain; charset=iso-8859-1", "text/plain;charset=utf-8"),
        (#""text":"café""#, "text/plain; charset=UTF-8", "text/plain; charset=UTF-8"),
        (#""text":"Y2Fm6Q==","encoding":"base64""#, "text/plain; charset=latin1", "text/plain; charset=latin1"),
    ])
    func textsAreInUTF8(_ content: String, _ type: String, _ expected: String) throws {
        let headers = #""headers":[{"name":"Content-Type","value":"\#(type)"}]"#
        let response = try exchange(response: #""status":200,\#(headers),"content":{\#(content)}"#).result.get()
        #expect(response.head.headers[.contentType] == expected)
    }

    @Test func bodyThatWasNotArchivedIsAFailure() throws {
        let content = #""content":{"size":3,"comment":"Evicted."}"#
        guard case .failure(let error) = try exchange(response: #""status":200,\#(content)"#).result else {
            Issue.record("The entry has a response.")
            return
        }
        #expect(error.code == .cassetteUnreadable)
        #expect(error.reason.contains("the body of 3 bytes") && error.reason.contains("Evicted."))
        for status in [204, 304] {
            let response = try exchange(response: #""status":\#(status),\#(content)"#).result.get()
            #expect(response.body.isEmpty)
        }
        let unknown = #""content":{"size":-1}"#
        #expect(throws: SluiceError.self) { try exchange(response: #""status":200,\#(unknown)"#).result.get() }
        #expect(try exchange(response: #""status":302,\#(unknown)"#).result.get().body.isEmpty)
    }

    @Test func dropsFieldsOfTransfer() throws {
        let headers = """
            "status":200,"httpVersion":"h2","headers":[{"name":":status","value":"200"},{"name":"Content-Encoding","value":"br"},
            {"name":"content-length","value":"9"},{"name":"Transfer-Encoding","value":"chunked"},{"name":"ETag","value":"1"}]
            """
        let head = try exchange(response: headers).result.get().head
        #expect(head.headers.map(\.name) == ["ETag"])
        #expect(head.version == .http2)
    }

    @Test func readsPostedTextOrParameters() throws {
        let cases = [
            (#","postData":{"mimeType":"a/b","text":"raw"}"#, "raw"),
            (#","postData":{"mimeType":"a/b","text":"aGk=","_encoding":"base64"}"#, "hi"),
            (#","postData":{"params":[{"name":"a","value":"1"},{"name":"b"}]}"#, "a=1&b="),
            (#","postData":{"params":[{"name":"a b","value":"x&y=é"}]}"#, "a%20b=x%26y%3D%C3%A9"),
        ]
        for (posted, expected) in cases {
            let request = try exchange(request: posted, response: #""status":200"#).request
            #expect(request.text == expected)
            #expect(request.url == "https://a.test/x?y=1")
        }
    }

    @Test func formsAreComparedByTheirItems() {
        func request(_ body: String, _ type: String = "application/x-www-form-urlencoded") -> RecordedRequest {
            let headers: HTTPHeaders = ["Content-Type": type]
            return RecordedRequest(method: .post, url: "https://a.test/", headers: headers, body: Data(body.utf8))
        }
        let match = CassetteCriterion.body.isMatch
        #expect(match(request("name=Ada+Lovelace&q=a%26b"), request("name=Ada%20Lovelace&q=a%26b")))
        #expect(match(request("a=&b"), request("a&b=")))
        #expect(!match(request("q=a%26b"), request("q=a&b")))
        #expect(!match(request("a=1&b=2"), request("b=2&a=1")))
        #expect(!match(request("a+b", "text/plain"), request("a%20b", "text/plain")))
    }

    @Test func entryWithoutResponseIsLostConnection() throws {
        let result = try exchange(response: #""status":0,"_error":"net::ERR_BLOCKED""#).result
        guard case .failure(let error) = result else {
            Issue.record("The entry has a response: \(result)")
            return
        }
        #expect(error.code == .connectionLost)
        #expect(error.reason.contains("net::ERR_BLOCKED"))
    }

    @Test(arguments: [
        ("{}", "it has no log"), (#"{"log":{}}"#, "its log has no entries"), ("{", "it ends too early"),
        (#"{"log":{"entries":[{}]}}"#, "entry 1 has no request"),
        (#"{"log":{"entries":[{"request":{"method":"GET","url":"u"}}]}}"#, "entry 1 has no response"),
        (
            #"{"log":{"entries":[{"request":{"method":"GET","url":"u"},"response":{"status":200,"content":{"text":"?","encoding":"base64"}}}]}}"#,
            "entry 1 has a body that is not valid base64"
        ),
    ])
    func rejectsInvalidArchiveWithReason(_ text: String, _ reason: String) {
        let error = #expect(throws: SluiceError.self) { try HARArchive(Data(text.utf8), named: "shop.har") }
        #expect(error?.code == .cassetteUnreadable)
        #expect(error?.reason.contains("“shop.har”") == true)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }

    @Test func acceptsByteOrderMark() throws {
        let archive = try HARArchive(Data([0xEF, 0xBB, 0xBF]) + Data(#"{"log":{"entries":[]}}"#.utf8))
        #expect(archive.exchanges.isEmpty)
    }
}
