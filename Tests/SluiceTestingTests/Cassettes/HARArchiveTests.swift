import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

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
        ]
        for (posted, expected) in cases {
            let request = try exchange(request: posted, response: #""status":200"#).request
            #expect(request.text == expected)
            #expect(request.url == "https://a.test/x?y=1")
        }
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
