import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One connection: reads a request, plays its response, and again until either side has enough.
struct LoopbackConnection {
    private let socket: StreamSocket
    private let number: Int
    private let routes: RouteTable
    private let log: TrafficLog

    /// Serves a socket on a thread of its own and closes it.
    static func start(on socket: StreamSocket, routes: RouteTable, log: TrafficLog) {
        guard let number = log.open(socket) else { return socket.close() }
        let connection = LoopbackConnection(socket: socket, number: number, routes: routes, log: log)
        do throws(LoopbackFailure) {
            try startThread {
                connection.serve()
                log.close(number)
            }
        } catch {
            // The client sees a connection that is dropped, as it would on a server that is overloaded.
            log.close(number)
        }
    }

    private func serve() {
        var reader = RequestReader(socket: socket, log: log, routes: routes)
        while true {
            switch reader.next(connection: number) {
            case .request(let request, let wantsClose):
                guard answer(request, routes.response(to:)), !wantsClose else { return }
            case .refused(let request, let response, let wantsClose):
                guard answer(request, { _ in response }), !wantsClose else { return }
            case .malformed(let reason):
                refuse(reason)
                return
            case .end:
                return
            }
        }
    }

    /// Returns whether the connection can take another request.
    private func answer(_ request: LoopbackRequest, _ respond: (LoopbackRequest) -> LoopbackResponse) -> Bool {
        log.record(request)
        var player = ResponsePlayer(socket: socket, log: log, request: request)
        return player.play(respond(request))
    }

    private func refuse(_ reason: String) {
        let response = LoopbackResponse.json(encoding: ["error": reason], status: .badRequest).closingConnection()
        let request = LoopbackRequest(method: "", target: "", headers: [:], body: Data(), connection: number)
        var player = ResponsePlayer(socket: socket, log: log, request: request)
        _ = player.play(response)
        // Closing with bytes unread makes a reset of it, which may overtake the answer.
        socket.finishSending()
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            for _ in 0..<256 where socket.wait(until: .now + .milliseconds(100)) != .peerLeft {
                if socket.receive(into: buffer) == 0 { return }
            }
        }
    }
}
