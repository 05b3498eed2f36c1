#if os(Linux)
import Foundation
import Sluice
import SluiceEngine
import SluiceTesting

/// The API that sends the exchanges.
enum FaultSender: Sendable {
    case transport
    case client

    /// The outcome of an exchange, as its caller sees it.
    enum Outcome: Sendable {
        case response(WireResponse)
        case failure(SluiceError)
    }

    private static let shared = SocketTransport()

    func send(
        _ method: HTTPMethod,
        _ path: String,
        _ upload: FaultExchange.Upload = .none,
        to server: LoopbackServer,
        idle: Duration = FaultBench.normalTimeout
    ) async -> Outcome {
        let headers: HTTPHeaders = if case .expectingContinue = upload { ["Expect": "100-continue"] } else { [:] }
        let timeouts = Timeouts(connect: FaultBench.normalTimeout, idle: idle)
        switch self {
        case .transport:
            let request = HTTPRequest(
                method: method,
                scheme: "http",
                authority: server.authority,
                path: "/" + path,
                headers: headers,
                body: upload.body
            )
            do throws(SluiceError) {
                let response = try await Self.shared.send(request, context: TransferContext(timeouts: timeouts))
                return .response(WireResponse(response.head, try await response.body.collect()))
            } catch {
                return .failure(error)
            }
        case .client:
            let client = APIClient(baseURL: server.url) {
                $0.timeouts = timeouts
                $0.redirects = .none
            }
            let request: APIRequest<Data, APIError> =
                upload.isNone
                ? client.data.request(path).method(method)
                : client.data.request(path).headers(headers).method(method).body(upload.body)
            let response = await request.sender().response
            if let failure = response.failure { return .failure(failure) }
            return response.head.map { .response(WireResponse($0, response.body)) }
                ?? .failure(SluiceError(.internalFailure, "There is neither a head nor a failure."))
        }
    }
}

extension FaultExchange.Upload {
    fileprivate var isNone: Bool { if case .none = self { true } else { false } }

    fileprivate var body: RequestBody {
        switch self {
        case .none: .none
        case .data, .expectingContinue: .data(FaultExchange.uploadedText)
        case .stream:
            .stream(
                AsyncStream { continuation in
                    continuation.yield(FaultExchange.uploadedText)
                    continuation.finish()
                }
            )
        }
    }
}

extension WireResponse {
    fileprivate init(_ head: HTTPResponse, _ body: Data) {
        self.init(
            status: head.status.rawValue,
            fields: head.headers.map { "\($0.name.rawValue): \($0.value)" },
            body: body
        )
    }
}
#endif
