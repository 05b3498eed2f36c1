import Sluice
import SluiceTesting
import Synchronization
import XCTest

/// The article on constraints and gates.
final class GatesGuideTests: XCTestCase {
    actor Session {
        private var ticket: String?

        var isOpen: Bool { ticket != nil }
        func open(with ticket: String) { self.ticket = ticket }
    }

    actor Counter {
        private var left = 1

        func take() -> Bool {
            left -= 1
            return left >= 0
        }
        func release() { left += 1 }
    }

    struct SignedIn: Constraint {
        let session: Session

        func isSatisfied(for request: RequestContext) async -> Bool { await session.isOpen }
        func satisfy(for request: RequestContext) async throws {
            let ticket = try await request.client.string.post("sessions").sender().value
            await session.open(with: ticket)
        }
    }

    struct Quota: Gate {
        let counter: Counter

        func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
            guard await counter.take() else { throw SluiceError(.gateFailed, "The quota is used up.") }
            return Permit { outcome in
                if case .failure = outcome { await counter.release() }
            }
        }
    }

    actor TokenSession {
        private var token = "t1"
        private var renewal: Task<String, Never>?
        private(set) var renewals = 0

        func token(replacing refused: String?) async -> String {
            guard refused == token else { return token }
            let renewal = renewal ?? Task { "t2" }
            if self.renewal == nil { renewals += 1 }
            self.renewal = renewal
            token = await renewal.value
            return token
        }
    }

    final class SessionToken: Gate {
        private let session: TokenSession
        private let host: String
        private let refused = Mutex<String?>(nil)

        init(_ session: TokenSession, for host: String) { (self.session, self.host) = (session, host) }

        func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
            // No other server gets the token.
            guard request.request.authority == host else { return Permit() }
            let token = await session.token(replacing: refused.withLock { $0 })
            return Permit { [host] request in
                if request.authority == host { request.headers["Authorization"] = "Bearer \(token)" }
            } onOutcome: { [self] outcome in
                guard outcome.status == .unauthorized else { return .settled }
                refused.withLock { $0 = token }
                return .replay
            }
        }
    }

    func testGateThatReplays() async throws {
        let server = try LoopbackServer()
        server.on("/orders") { request in
            request.headers["Authorization"] == "Bearer t2" ? .data(request.body) : .status(.unauthorized)
        }
        let session = TokenSession()
        let client = APIClient(baseURL: server.url) { $0.gates = [SessionToken(session, for: server.authority)] }
        let tasks = (0..<20).map { number in
            Task { try await client.string.post("orders").data(Data("\(number)".utf8)).sender().value }
        }
        for (number, task) in tasks.enumerated() {
            let text = try await task.value
            XCTAssertEqual(text, "\(number)")
        }
        let renewals = await session.renewals
        XCTAssertEqual(renewals, 1)
    }

    func testConstraints() async throws {
        let server = try LoopbackServer()
        server.on("/sessions", .text("t1"))
        server.on("/motto", .text("Let it flow."))
        let session = Session()
        let shop = APIClient(baseURL: server.url) {
            $0.constraints = [SignedIn(session: session)]
        }
        let motto = shop.string.get("motto").withoutGate(SignedIn.self)
        _ = try await motto.sender().value
        XCTAssertEqual(server.requests(to: "/sessions").count, 0)
        _ = try await shop.string.get("motto").sender().value
        XCTAssertEqual(server.requests(to: "/sessions").count, 1)
    }

    func testLimits() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/motto", .after(signal, .text("Let it flow.")))
        let careful = APIClient(baseURL: server.url) {
            $0.gates = [
                ConcurrencyLimit(64, perHost: 6),
                RateLimit(10, every: .seconds(1)),
                CircuitBreaker(),
            ]
        }
        let limits: [any Gate] = [
            ConcurrencyLimit(64, perHost: 6, maximumWaiting: 1000, named: "slots"),
            RateLimit(10, every: .seconds(1), burst: 20, per: .host, maximumWaiting: 500, maximumWait: .seconds(5)),
            CircuitBreaker(
                failureRatio: 0.5,
                of: 20,
                within: .seconds(30),
                openFor: .seconds(5),
                growth: 2,
                upTo: .seconds(60),
                trials: 3
            ),
        ]
        XCTAssertEqual(limits.map(\.name), ["slots", "RateLimit", "CircuitBreaker"])
        let limit = try XCTUnwrap(careful.configuration.gates[0] as? ConcurrencyLimit)
        let tasks = (0..<8).map { _ in Task { try await careful.string.get("motto").sender().value } }
        try await waitUntil("two requests wait for a slot") { limit.waiting == 2 }
        await server.waitForRequests(6)
        XCTAssertEqual(server.requestCount, 6)
        signal.fire()
        for task in tasks {
            let motto = try await task.value
            XCTAssertEqual(motto, "Let it flow.")
        }
    }

    func testCustomGate() async throws {
        let server = try LoopbackServer()
        server.on("/motto", .drop, .text("Let it flow."))
        let client = APIClient(baseURL: server.url) { $0.gates = [Quota(counter: Counter())] }
        var codes: [SluiceError.Code?] = []
        for _ in 0..<3 { codes.append(await client.string.get("motto").sender().result.failure?.code) }
        XCTAssertEqual(codes, [.connectionLost, nil, .gateFailed])
    }
}
