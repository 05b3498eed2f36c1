import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct HeaderTests {
    private func headers(_ own: HTTPHeaders, _ interceptors: any RequestInterceptor...) async throws -> HTTPHeaders {
        let attempts = try Attempts(headers: own)
        var request = try await attempts.next()
        for interceptor in interceptors {
            request = try await interceptor.intercept(request, context: RequestContext(request: request))
        }
        return request.headers
    }

    @Test func userAgentReplacesOnlyDefault() async throws {
        let agent = UserAgent("acme/1.0")
        #expect(try await headers([.userAgent: SluiceVersion.product], agent) == ["User-Agent": "acme/1.0"])
        #expect(try await headers([:], agent) == ["User-Agent": "acme/1.0"])
        #expect(try await headers(["user-agent": "mine"], agent) == ["user-agent": "mine"])
    }

    @Test func defaultUserAgentContainsVersion() {
        let agent = APIClient.Configuration().headers[.userAgent]
        #expect(agent == "Sluice/\(SluiceVersion.current)")
        #expect(HAR.Program.sluice == HAR.Program(name: "Sluice", version: SluiceVersion.current))
    }

    @Test(arguments: [("acme", "1.0", "acme/1.0"), ("ac me", "1/2\r\n", "ac-me/1-2--"), ("é", "", "--/-")])
    func replacesInvalidCharactersInProduct(_ product: String, _ version: String, _ expected: String) {
        let value = UserAgent(product: product, version: version).value
        #expect(value.hasPrefix("\(expected) ("))
        #expect(value.hasSuffix(") \(SluiceVersion.product)"))
        #expect(UserAgent(product: product).value.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
    }

    @Test(
        arguments: [
            ([:], ["A": "1", "B": "2", "b": "3"]), (["a": "own"], ["B": "2", "b": "3", "a": "own"]),
            (["B": ""], ["A": "1", "B": ""]),
        ] as [(HTTPHeaders, HTTPHeaders)]
    )
    func headersOfTheClientDoNotReplaceThoseOfARequest(_ own: HTTPHeaders, _ sent: HTTPHeaders) throws {
        let client = APIClient(baseURL: "https://a.b") { $0.headers = ["A": "1", "B": "2", "b": "3"] }
        #expect(try client.data.get("x").headers(own).httpRequest().headers == sent)
    }
}
