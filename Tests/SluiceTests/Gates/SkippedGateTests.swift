import Sluice
import SluiceTesting
import XCTest

/// Requests that skip gates and constraints by their types.
final class SkippedGateTests: XCTestCase {
    private final class Turnstile: Gate {
        let asked = Shared(0)

        func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
            asked.change { $0 += 1 }
            return Permit()
        }
    }

    private final class Checkpoint: ImmediateGate {
        let name: String
        let asked = Shared(0)

        init(name: String) {
            self.name = name
        }

        func admitImmediately(_ request: RequestContext) -> Permit? {
            asked.change { $0 += 1 }
            return Permit()
        }
        func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
            admitImmediately(request) ?? Permit()
        }
    }

    private final class SignedIn: Constraint {
        let asked = Shared(0)

        func isSatisfied(for request: RequestContext) async -> Bool {
            asked.change { $0 += 1 }
            return true
        }
        func satisfy(for request: RequestContext) async throws {}
    }

    func testRequestSkipsGatesAndConstraintsByType() async throws {
        let server = try LoopbackServer()
        addTeardownBlock { server.stop() }
        server.on("/motto", .text("ok"))
        let (turnstile, signedIn) = (Turnstile(), SignedIn())
        let checkpoints = [Checkpoint(name: "orders"), Checkpoint(name: "search")]
        let shop = APIClient(baseURL: server.url) {
            $0.constraints = [signedIn]
            $0.gates = [turnstile] + checkpoints
        }
        var asked: [Int] {
            [signedIn.asked.read, turnstile.asked.read] + checkpoints.map { $0.asked.read }
        }
        let motto = shop.string.get("motto")
        _ = try await motto.withoutGate(SignedIn.self).sender().value
        XCTAssertEqual(asked, [0, 1, 1, 1])
        _ = try await motto.withoutGate(Turnstile.self, Checkpoint.self).sender().value
        XCTAssertEqual(asked, [1, 1, 1, 1])
        _ = try await motto.withoutGate(SignedIn.self).withoutGate(Turnstile.self).sender().value
        XCTAssertEqual(asked, [1, 1, 2, 2])
        // A name tells gates of one type apart.
        _ = try await motto.withoutGate(named: "search").sender().value
        XCTAssertEqual(asked, [2, 2, 3, 2])
        _ = try await motto.withoutGate(RateLimit.self).sender().value
        XCTAssertEqual(asked, [3, 3, 4, 3])
    }

    func testRequestWithoutATaskSkipsGatesByType() async throws {
        let server = try LoopbackServer()
        addTeardownBlock { server.stop() }
        server.on("/motto", .text("ok"))
        let checkpoint = Checkpoint(name: "orders")
        let shop = APIClient(baseURL: server.url) { $0.gates = [checkpoint] }
        _ = try await shop.string.get("motto").withoutGate(Checkpoint.self).sender().value
        XCTAssertEqual(checkpoint.asked.read, 0)
        _ = try await shop.string.get("motto").sender().value
        XCTAssertEqual(checkpoint.asked.read, 1)
    }
}
