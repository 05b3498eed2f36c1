import Foundation
import Sluice
import SluiceTesting

/// A server in the same process that answers, disconnects, stalls and sends invalid responses.
struct FaultyServer {
    let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
        server.recordsRequests = false
        let page = Data(repeating: UInt8(ascii: "p"), count: 60_000)
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
    }
}
