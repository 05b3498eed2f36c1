import Foundation
import Sluice
import SluiceTesting
import Synchronization

/// A server in the same process that answers, disconnects, stalls and sends invalid responses.
struct FaultyServer {
    static let page = Data(repeating: UInt8(ascii: "p"), count: 60_000)
    static let resource = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })

    let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
        server.recordsRequests = false
        let page = FaultyServer.page
        server.on("/item", .json(#"{"id":1,"name":"Ada"}"#, headers: ["Cache-Control": "max-age=1", "ETag": "\"1\""]))
        server.on("/page", .data(page))
        server.on("/chunked", .chunked([Data("one ".utf8), Data("two ".utf8), Data("three".utf8)]))
        server.on("/upload") { .text("\($0.body.count)") }
        server.on("/moved", .redirect(to: "/item"))
        server.on("/around", .redirect(to: "/around"))
        server.on("/slow", .delayed(by: .milliseconds(80), .json(#"{"id":2,"name":"Bob"}"#)))
        server.on("/stalled", LoopbackResponse.data(page).interrupted(after: 30_000, by: .hang))
        server.on("/cut", LoopbackResponse.data(page).interrupted(after: 30_000))
        server.on("/reset", LoopbackResponse.data(page).interrupted(after: 30_000, by: .reset))
        server.on("/closed", .raw("", thenClose: true))
        server.on("/garbage", .raw("\u{1}\u{2} no HTTP at all \r\n\r\n", thenClose: true))
        server.on("/endless", .endless(chunk: Data(repeating: 0x61, count: 16_000)))
        server.on("/busy", .status(.serviceUnavailable, headers: ["Retry-After": "0"]))
        server.on("/missing", .status(.notFound))
        server.on("/broken", .json(#"{"id":"#))
        let event = "id: 1\nevent: price\ndata: {\"price\":1}\n\n"
        server.on(
            "/events",
            .data(Data(String(repeating: event, count: 20).utf8), headers: ["Content-Type": "text/event-stream"])
        )
        let item = #"{"id":1,"name":"Ada"}"#
        server.on("/lines", .text(String(repeating: item + "\n", count: 50)))
        server.on("/pages") { request in
            let number = request.query.flatMap { Int($0.dropFirst("page=".count)) } ?? 1
            let headers: HTTPHeaders = number < 3 ? ["Link": "</pages?page=\(number + 1)>; rel=\"next\""] : [:]
            return .json("[\(item),\(item)]", headers: headers)
        }
        server.on("/echo") { request in
            let fields = ["X-Attempt", "User-Agent"].map { request.headers[HTTPHeaderName($0)] ?? "-" }
            return .text((fields + [request.query ?? ""]).joined(separator: " "))
        }
        server.on("/resource", .resource(LoopbackResource(FaultyServer.resource, eTag: "\"1\"")))
        serveSecrets()
    }

    /// Routes that require a token, a cookie or credentials.
    private func serveSecrets() {
        let tokens = Tokens()
        server.on("/token") { _ in .json(tokens.issue()) }
        server.on("/private") { request in
            tokens.use(request.headers[.authorization]) ? .text("secret") : .status(.unauthorized)
        }
        let count = Counter()
        server.on("/flaky") { _ in count.next() % 100 < 50 ? .text("ok") : .status(.serviceUnavailable) }
        server.on("/login", .text("ok", headers: ["Set-Cookie": "user=ada; Path=/"]))
        server.on("/account") { request in
            request.headers[.cookie] == "user=ada" ? .text("ada") : .status(.forbidden)
        }
        server.on("/challenge") { request in
            // ada:s3cret
            request.headers[.authorization] == "Basic YWRhOnMzY3JldA=="
                ? .text("welcome")
                : .status(.unauthorized, headers: ["WWW-Authenticate": "Basic realm=\"soak\""])
        }
    }
}

/// Access tokens, each of which is valid for a hundred requests.
private final class Tokens: Sendable {
    private struct Uses {
        var last = 0
        var left: [String: Int] = [:]
    }

    private let uses = Mutex(Uses())

    func issue() -> String {
        uses.withLock { uses in
            uses.last += 1
            uses.left["Bearer t\(uses.last)"] = 100
            // Requests in progress may use the token before.
            uses.left["Bearer t\(uses.last - 2)"] = nil
            return #"{"access_token":"t\#(uses.last)","token_type":"Bearer","expires_in":3600}"#
        }
    }

    func use(_ authorization: String?) -> Bool {
        uses.withLock { uses in
            guard let authorization, let left = uses.left[authorization], left > 0 else { return false }
            uses.left[authorization] = left - 1
            return true
        }
    }
}

/// A number that grows by one each time it is asked for.
final class Counter: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
