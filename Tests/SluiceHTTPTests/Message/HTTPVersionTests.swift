import SluiceHTTP
import Testing

@Suite struct HTTPVersionTests {
    @Test(
        arguments: [
            (.http1_0, "HTTP/1.0"), (.http1_1, "HTTP/1.1"), (.http2, "HTTP/2"), (.http3, "HTTP/3"),
            (HTTPVersion(major: 0, minor: 9), "HTTP/0.9"),
        ] as [(HTTPVersion, String)]
    )
    func descriptionIsTheProtocolName(version: HTTPVersion, text: String) {
        #expect("\(version)" == text)
    }

    @Test func responseVersionDefaultsToHTTP11() {
        let response = HTTPResponse(status: 204)
        #expect(response.version == .http1_1)
        #expect(response.headers.isEmpty)
    }
}
