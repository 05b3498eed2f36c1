import Sluice
import SluiceTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A session with a server on 127.0.0.1 that redirects, is slow, and sometimes fails.
struct Demonstration {
    /// Delays requests until the user has signed in.
    private struct SignedIn: Constraint {
        let session: Session

        func isSatisfied(for request: RequestContext) async -> Bool { await session.isOpen }

        func satisfy(for request: RequestContext) async throws {
            _ = try await request.client.string.post("session").json(["user": "ada", "password": "s3cret"]).sender()
                .value
            await session.open()
        }
    }

    private actor Session {
        private(set) var isOpen = false
        func open() { isOpen = true }
    }

    private let server: LoopbackServer
    private let recorder = HARRecorder()
    private let shop: APIClient

    init() throws {
        server = try LoopbackServer()
        let session = Session()
        shop = APIClient(baseURL: server.url) { [recorder] in
            $0.observers = [recorder]
            $0.constraints = [SignedIn(session: session)]
            $0.retry = RetryPolicy(backoff: .constant(.milliseconds(90)))
        }
        let picture = Data(repeating: 0xFE, count: 24_000)
        let user = #"{"id":1,"name":"Ada","token":"t0p-s3cret"}"#
        server.on(
            .post,
            "/session",
            .delayed(by: .milliseconds(70), .json(#"{"token":"t0p-s3cret"}"#, status: .created))
        )
        server.on("/products", .delayed(by: .milliseconds(45), .json(#"[{"id":1},{"id":2}]"#)))
        server.on(
            "/users/1",
            .delayed(by: .milliseconds(20), .json(user, headers: ["Set-Cookie": "sid=4f1c; Path=/; HttpOnly"]))
        )
        server.on("/pictures/1.webp", .data(picture).throttled(pieceSize: 4_000, every: .milliseconds(22)))
        server.on("/pictures/2.webp", .data(picture).throttled(pieceSize: 6_000, every: .milliseconds(18)))
        server.on(
            "/pictures/3.webp",
            .delayed(by: .milliseconds(60), .data(picture).throttled(pieceSize: 3_000, every: .milliseconds(14)))
        )
        server.on("/offer", .redirect(to: "/offers/latest"))
        server.on("/offers/latest", .delayed(by: .milliseconds(30), .redirect(to: "/offers/42", status: .seeOther)))
        server.on("/offers/42", .delayed(by: .milliseconds(25), .json(#"{"id":42}"#)))
        let busy = LoopbackResponse.delayed(by: .milliseconds(35), .text("Busy.", status: .serviceUnavailable))
        server.on("/stock", busy, busy, .delayed(by: .milliseconds(30), .json(#"{"left":3}"#)))
        server.on("/report", .delayed(by: .milliseconds(380), .json(#"{"rows":[]}"#)))
        server.on("/basket", .drop, .drop, .json(#"{"items":[]}"#))
        server.on(.post, "/orders", .delayed(by: .milliseconds(55), .json(#"{"id":7}"#, status: .created)))
        server.on(.post, "/payments", .delayed(by: .milliseconds(40), .text("No.", status: .internalServerError)))
        server.on("/reviews", .hang)
        server.on(
            "/ideas",
            .delayed(by: .milliseconds(300), .json("[]")),
            .delayed(by: .milliseconds(30), .json("[1]"))
        )
    }

    /// Sends all requests and returns the recording.
    func recording() async throws -> HAR {
        async let first: Void = send(["products", "users/1?access_token=t0p-s3cret", "pictures/1.webp", "offer"])
        await send(shop.string.get("stock"))
        await first
        await withTaskGroup { group in
            group.addTask { await send(["pictures/2.webp", "pictures/3.webp", "missing", "basket", "report"]) }
            group.addTask { await send(shop.string.get("ideas").hedged(.after(.milliseconds(80)))) }
            group.addTask { await send(shop.string.get("reviews").timeout(total: .milliseconds(260)).retry(.none)) }
            group.addTask {
                await send(shop.string.post("orders").json(["product": 42, "count": 1]))
                await send(shop.string.post("payments").form(["order": 7, "card_number": "4111"]))
            }
            group.addTask { await send(shop.string.get("tracker").host("127.0.0.1:9").retry(.none)) }
        }
        await shop.observersCaughtUp()
        return recorder.har()
    }

    /// Sends requests concurrently. Their results are in the recording.
    private func send(_ paths: [String]) async {
        await withTaskGroup { group in
            for path in paths { group.addTask { await send(shop.data.get(path)) } }
        }
    }

    private func send<Model: Sendable>(_ request: APIRequest<Model, APIError>) async {
        _ = await request.sender().result
    }
}
