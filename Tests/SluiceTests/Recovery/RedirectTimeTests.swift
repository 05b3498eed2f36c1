import Sluice
import SluiceHTTP
import SluiceTesting
import XCTest

/// Redirects, and the total time-out that covers them.
final class RedirectTimeTests: XCTestCase {
    /// Takes a while to redirect a request, and records the total time-outs that it is given.
    private final class SlowRedirect: CallbackTransport {
        static let duration = Duration.milliseconds(20)
        let totals = Shared<[Duration?]>([])

        func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
            answer(to: request, context)
        }

        func begin(
            _ request: HTTPRequest,
            context: TransferContext,
            completion: @escaping @Sendable (Result<TransportResponse, SluiceError>) -> Void
        ) -> @Sendable () -> Void {
            completion(.success(answer(to: request, context)))
            return {}
        }

        private func answer(to request: HTTPRequest, _ context: TransferContext) -> TransportResponse {
            totals.change { $0.append(context.timeouts.total) }
            guard request.path == "/old" else {
                return TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody())
            }
            let end = ContinuousClock.now + Self.duration
            while ContinuousClock.now < end {}
            let head = HTTPResponse(status: .found, headers: [.location: "/new"])
            return TransportResponse(head: head, body: ResponseBody())
        }
    }

    private struct Quiet: RequestObserver {
        func observe(_ event: RequestEvent, of request: ObservedRequest) {}
    }

    private struct QuietPlugin: Plugin {}

    private static let total = Duration.seconds(30)

    private func totals(_ configure: (inout APIClient.Configuration) -> Void) async throws -> [Duration] {
        let transport = SlowRedirect()
        let client = APIClient(baseURL: "http://shop.test") {
            $0.transport = transport
            $0.timeouts.total = Self.total
            configure(&$0)
        }
        _ = try await client.data.get("old").sender().value
        return transport.totals.read.compactMap(\.self)
    }

    func testRedirectDoesNotRestartTheTotalTimeOut() async throws {
        let bare = try await totals { _ in }
        let observed = try await totals { $0.observers = [Quiet()] }
        let inATask = try await totals { $0.plugins = [QuietPlugin()] }
        for totals in [bare, observed, inATask] {
            XCTAssertEqual(totals.count, 2)
            XCTAssertEqual(totals.first, Self.total)
            XCTAssertLessThanOrEqual(totals.last ?? Self.total, Self.total - SlowRedirect.duration)
        }
    }
}
