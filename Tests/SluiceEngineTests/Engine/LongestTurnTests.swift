#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Floods of all kinds at once. No turn of a loop is long, and other requests are served meanwhile.
    @Suite struct LongestTurnTests {
        private typealias Flood = Task<SluiceError?, Never>

        private let server: LoopbackServer
        private let signal = LoopbackSignal()
        private let transport = SocketTransport { $0.maximumTransfersPerHost = 300 }

        init() throws {
            server = try LoopbackServer()
            server.recordsRequests = false
            server.on("/bomb", .data(CodingSamples.brBomb, headers: ["Content-Encoding": "br"]))
            server.on("/gzip", .data(CodingSamples.gzip(Data(count: 16 << 20)), headers: ["Content-Encoding": "gzip"]))
            let slow = CodingSamples.gzip(CodingSamples.slowRaw(100_000))
            server.on("/slow", .data(slow, headers: ["Content-Encoding": "deflate, gzip"]))
            let chunks = Data(Array(repeating: Data("1\r\nx\r\n".utf8), count: 10_000).joined())
            let chunked = LoopbackResponse.Step.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let tiny = Array(repeating: LoopbackResponse.Step.write(chunks), count: 100)
            server.on("/tiny", .script([chunked] + tiny + [.write("0\r\n\r\n")]))
            let head =
                "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 60 << 10) + "\r\nContent-Length: 0\r\n\r\n"
            // A pause of zero flushes the written bytes.
            let bytes = head.utf8.map { [LoopbackResponse.Step.write(Data([$0])), .pause(.zero)] }
            server.on("/bytewise", .script(Array(bytes.joined())))
            server.on("/endless", .endless(chunk: Data(count: 1 << 20)))
            server.on("/held", .after(signal, .text("held")))
        }

        /// Sends a request and reads the body without keeping it, up to a limit.
        private func flood(
            _ path: String,
            host: String? = nil,
            upTo limit: Int = .max,
            _ context: TransferContext = TransferContext()
        ) -> Flood {
            let request = server.request(path, host: host)
            return Task { [transport] in
                do throws(SluiceError) {
                    let response = try await transport.send(request, context: context)
                    var iterator = response.body.makeAsyncIterator()
                    var count = 0
                    while count < limit, let chunk = try await iterator.next(isolation: nil) { count += chunk.count }
                    return nil
                } catch {
                    return error
                }
            }
        }

        private func longestTurn() async -> Duration {
            var longest = Duration.zero
            for loop in Engine.shared?.loops ?? [] {
                let turn = await withCheckedContinuation { (continuation: CheckedContinuation<Duration, Never>) in
                    loop.post { thread in
                        continuation.resume(returning: thread.longestTurn)
                        thread.longestTurn = .zero
                    }
                }
                longest = max(longest, turn)
            }
            return longest
        }

        /// A turn that the engine makes long is long in each run. A delay of the machine is not.
        @Test func floodsDoNotDelayOtherRequests() async throws {
            LoopThread.measuresTurns.store(true, ordering: .relaxed)
            defer { LoopThread.measuresTurns.store(false, ordering: .relaxed) }
            var turns: [Duration] = []
            // Debug builds take several times as long as release builds.
            let limit = Duration.milliseconds(Self.isSanitized ? 2000 : 100)
            while turns.count < 3, turns.last.map({ $0 >= limit }) ?? true {
                _ = await longestTurn()
                try await floodOnce()
                turns.append(await longestTurn())
            }
            #expect((turns.min() ?? .zero) > .zero)
            #expect((turns.last ?? .zero) < limit, "\(turns)")
        }

        /// True if this process runs under a sanitizer, which makes turns many times longer.
        private static var isSanitized: Bool {
            dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
        }

        private func floodOnce() async throws {
            let earlier = server.requestCount
            let unlimited = TransferContext(limits: ResponseLimits(decompressionRatio: nil))
            // These are held until the other floods have ended, however long that takes.
            let withoutIdleTimeout = TransferContext(timeouts: Timeouts(idle: nil))
            let held = (0..<200).map { _ in flood("/held", withoutIdleTimeout) }
            let bombs = (0..<4).flatMap { _ in [flood("/bomb"), flood("/gzip"), flood("/slow")] }
            let long = [
                flood("/bomb", unlimited), flood("/gzip", unlimited), flood("/slow", unlimited), flood("/tiny"),
                flood("/tiny"), flood("/bytewise"), flood("/bytewise"), flood("/endless", upTo: 256 << 20),
            ]
            let endless = (0..<2).map { _ in flood("/endless") } + [flood("/", host: "slow.invalid")]
            await server.waitForRequests(earlier + held.count + bombs.count + long.count + 2)

            let other = SocketTransport()
            let quick = try LoopbackServer()
            quick.on("/", .text("ok"))
            for _ in 0..<100 {
                let response = try await other.exchange(
                    quick.request("/"),
                    TransferContext(timeouts: Timeouts(total: .seconds(5)))
                )
                #expect(response.text == "ok")
            }
            for bomb in bombs { #expect(await bomb.value?.code == .bodyTooLarge) }
            for flood in long { #expect(await flood.value == nil) }
            for flood in endless { flood.cancel() }
            for flood in endless {
                let error = await flood.value
                #expect(error?.code == .cancelled || error?.code == .cannotResolveHost)
            }
            signal.fire()
            for flood in held { #expect(await flood.value == nil) }
            try await waitUntil("no request is left") { transport.isQuiet }
        }
    }
}
#endif
