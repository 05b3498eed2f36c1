import Foundation
import Sluice
import Testing

@Suite struct URLBuildingTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let base: String
        let path: String
        var query: [(String, String?)] = []
        let url: String

        var testDescription: String { "\(base) + \(path) is \(url)" }

        init(_ base: String, _ path: String, query: [(String, String?)] = [], is url: String) {
            self.base = base
            self.path = path
            self.query = query
            self.url = url
        }
    }

    static let examples = [
        Example("http://a.b", "", is: "http://a.b/"),
        Example("http://a.b/", "", is: "http://a.b/"),
        Example("http://a.b", "c", is: "http://a.b/c"),
        Example("http://a.b", "/c", is: "http://a.b/c"),
        Example("http://a.b/v1", "c/d", is: "http://a.b/v1/c/d"),
        Example("http://a.b/v1/", "/c/", is: "http://a.b/v1/c/"),
        Example("HTTPS://A.b:8443/v1", "c", is: "https://A.b:8443/v1/c"),
        Example("http://[::1]:80", "c", is: "http://[::1]:80/c"),
        Example("http://[::1]", "c", is: "http://[::1]/c"),
        Example("http://a.b?key=1", "c", is: "http://a.b/c?key=1"),
        Example("http://a.b/v1?key=1", "c?d=2", query: [("e", "3")], is: "http://a.b/v1/c?key=1&d=2&e=3"),
        Example("http://a.b", "c#part", is: "http://a.b/c"),
        Example("http://a.b#part", "c", is: "http://a.b/c"),
        Example("http://a.b", "grün käse", is: "http://a.b/gr%C3%BCn%20k%C3%A4se"),
        Example("http://a.b", "100%25/a+b", is: "http://a.b/100%25/a+b"),
        Example(
            "http://a.b",
            "c",
            query: [("q", "a b+c&d=e/f?ü")],
            is: "http://a.b/c?q=a%20b%2Bc%26d%3De%2Ff%3F%C3%BC"
        ),
        Example("http://a.b", "c", query: [("x", nil), ("y", "")], is: "http://a.b/c?y="),
        Example("http://a.b/v1/", "", is: "http://a.b/v1/"),
        Example("http://a.b/v1/", "?d=1", is: "http://a.b/v1/?d=1"),
        Example("http://a.b?", "c?d", is: "http://a.b/c?d"),
        Example("http://a.b?key", "c?", is: "http://a.b/c?key"),
        Example("http://a.b", "100%/a%zz%4a?b=5%", is: "http://a.b/100%25/a%25zz%4a?b=5%25"),
        Example("http://a.b/v1", "https://other.org/d/", is: "https://other.org/d/"),
        Example("http://a.b", "c", query: [("x", "1"), ("x", "2")], is: "http://a.b/c?x=1&x=2"),
        Example("http://a.b/v1", "https://other.org/d?e=1", query: [("f", "2")], is: "https://other.org/d?e=1&f=2"),
        Example("http://a.b/v1", "HTTP://other.org", is: "http://other.org/"),
        Example("http://a.b", "c:d/e", is: "http://a.b/c:d/e"),
        Example("http://[::1]", "it[0]?ids[]=1&a[b]=%5B", is: "http://[::1]/it%5B0%5D?ids%5B%5D=1&a%5Bb%5D=%5B"),
    ]

    @Test(arguments: examples)
    func buildsURLFromBasePathAndQuery(_ example: Example) throws {
        var request = APIClient(baseURL: example.base).data.request(example.path)
        for (name, value) in example.query { request = request.query(name, value) }
        #expect(try request.httpRequest().url == example.url)
    }

    @Test(
        arguments: [
            "", "a.b", "/path", "http:", "http://", "http:///path", "http://:80", "http://a b", "http://a.b:port",
            "http://a.b:0", "http://a.b:70000", "http://user:secret@a.b", "http://a.b\\c", "http://<a>", "http://a\nb",
            "http://a.b:",
        ]
    )
    func rejectsInvalidURLAndShowsItWithoutSecrets(_ base: String) {
        let request = APIClient(baseURL: base).data.request("c")
        let error = #expect(throws: SluiceError.self) { try request.httpRequest() }
        #expect(error?.code == .invalidURL)
        #expect(error?.step == .building)
        #expect(error?.description.contains("secret") == false)
        let shown = base.replacing("user:secret", with: "REDACTED").replacing("\n", with: "?")
        let subject = base.isEmpty ? "The base URL" : "The base URL “\(shown)”"
        #expect(error?.description.hasPrefix("\(subject) is not valid: ") == true)
    }

    @Test(arguments: ["ftp://a.b", "file:///etc/passwd", "gopher://a.b", "javascript://x", "ws://a.b"])
    func rejectsOtherSchemes(_ base: String) {
        let error = #expect(throws: SluiceError.self) {
            try APIClient(baseURL: base).data.request("c").httpRequest()
        }
        #expect(error?.code == .unsupportedScheme)
    }

    @Test(arguments: ["ws://feed.example/x", "FTP://a.b/c", "file:///etc/passwd", "git+ssh://a.b"])
    func wholeURLOfAnotherSchemeIsNoPath(_ url: String) {
        let request = APIClient(baseURL: "https://a.b").data.request(url)
        #expect(throws: SluiceError.self) { try request.httpRequest() }
    }

    @Test(arguments: ["proxy/http://c.d", "1a://b", "a_b://c", "a:b://c"])
    func pathThatContainsAURLIsAppended(_ path: String) throws {
        let request = APIClient(baseURL: "https://a.b").data.request(path)
        #expect(try request.httpRequest().url == "https://a.b/\(path)")
    }

    @Test func urlKeepsItsOwnBase() throws {
        let client = APIClient(baseURL: "https://a.b")
        let base = URL(string: "https://other.org/v1/")
        let url = try #require(URL(string: "users?page=2", relativeTo: base))
        #expect(try client.data.get(url).httpRequest().url == "https://other.org/v1/users?page=2")
        let path = try #require(URL(string: "users?page=2"))
        #expect(try client.data.get(path).httpRequest().url == "https://a.b/users?page=2")
    }

    @Test func absoluteURLIgnoresInvalidBase() throws {
        let request = APIClient(baseURL: "").data.request("https://a.b/c")
        #expect(try request.httpRequest().url == "https://a.b/c")
    }
}
