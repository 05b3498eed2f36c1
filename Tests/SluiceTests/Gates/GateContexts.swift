import SluiceHTTP
import SluiceTesting

@testable import Sluice

extension APIClient {
    /// Returns a client with a test's clock.
    static func client(clock: TestClock) -> APIClient {
        APIClient(baseURL: "https://a.example") { $0.clock = clock }
    }

    /// Returns the context of a request of this client to a host.
    func requestContext(_ host: String, tags: Set<String> = []) -> RequestContext {
        RequestContext(
            request: HTTPRequest(scheme: "https", authority: host, path: "/"),
            tags: tags,
            client: self
        )
    }
}

extension TransportOutcome {
    static func answered(
        _ status: HTTPStatus,
        _ headers: HTTPHeaders = [:],
        by host: String = "a.example"
    ) -> TransportOutcome {
        let request = HTTPRequest(scheme: "https", authority: host, path: "/")
        let head = HTTPResponse(status: status, headers: headers)
        return .success(ServerResponse(request: request, head: head, body: .init()))
    }

    static func failed(_ code: SluiceError.Code, _ step: SluiceError.Step = .transport) -> TransportOutcome {
        .failure(SluiceError(code, "It failed.", step: step))
    }
}
