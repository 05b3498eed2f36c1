import HTTPTypes
import HTTPTypesConversion
import Sluice
import SluiceTesting
import Testing

/// The code of the article "Bridges to other code", and messages that a server has sent.
@Suite struct GuideTests {
    @Test func messagesOfARequestAreConverted() async throws {
        try await withLoopbackServer { server in
            server.on("/users/42", .text("Ada", headers: ["Set-Cookie": "a=1", "ETag": "\"x\"", "set-cookie": "b=2"]))
            let shop = APIClient(baseURL: server.url)

            let exported = try HTTPTypes.HTTPRequest(shop.stream("users/42").httpRequest())
            let imported = try Sluice.HTTPRequest(exported, body: .none)

            #expect(exported.path == "/users/42" && imported.url == "\(server.url)/users/42")
            let response = try await shop.stream("users/42").response()

            let head = try HTTPTypes.HTTPResponse(response.head)
            let cookies = head.headerFields[values: .setCookie]

            #expect(head.status == .ok && cookies == ["a=1", "b=2"])
        }
    }

    @Test func aReceivedValueThatIsNotTextHasReplacementCharacters() async throws {
        try await withLoopbackServer { server in
            let head =
                [UInt8]("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Name: J".utf8) + [0xFC]
                + [UInt8]("rgen\r\n\r\n".utf8)
            server.on("/", .raw(.init(head)))
            let response = try await APIClient(baseURL: server.url).stream("").response()
            let fields = try HTTPTypes.HTTPResponse(response.head).headerFields
            let name = try #require(HTTPField.Name("X-Name"))
            #expect(fields[name] == "J\u{FFFD}rgen")
        }
    }
}
