#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting

@testable import SluiceEngine

/// An HTTP/2 server with prior knowledge (RFC 9113 §3.3) that sends the frames of a test.
///
/// By default it sends its settings, acknowledges the client's settings and answers pings. A test waits for the frames of a
/// client and answers through the peers, which are the connections in the order of their arrival.
final class ScriptedHTTP2Server: Sendable {
    /// Called for each frame of a client, on the thread that reads.
    typealias Reaction = @Sendable (HTTP2Peer, HTTP2Frame) -> Void

    private let listener: TestListener
    private let accepted: Locked<[HTTP2Peer]>

    /// Starts listening.
    ///
    /// - Parameters:
    ///   - settings: The initial settings of each connection; nil to send none.
    ///   - acknowledges: True to acknowledge the client's settings.
    ///   - answersPings: True to answer the client's pings.
    ///   - receiveBuffer: The size of the receive buffer in bytes; nil for the system's.
    ///   - reaction: Called for each frame of a client.
    /// - Throws: An error if there is no free port.
    init(
        settings: [UInt16: UInt32]? = [:],
        acknowledges: Bool = true,
        answersPings: Bool = true,
        receiveBuffer: Int32? = nil,
        _ reaction: Reaction? = nil
    ) throws {
        let accepted = Locked<[HTTP2Peer]>([])
        self.accepted = accepted
        listener = try TestListener { descriptor in
            if var receiveBuffer {
                let size = socklen_t(MemoryLayout<Int32>.size)
                setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, size)
            }
            let peer = HTTP2Peer(descriptor)
            if let settings { peer.settings(settings) }
            accepted.withLock { $0.append(peer) }
            peer.read { frame in
                if acknowledges, frame.kind == .settings, !frame.isAck {
                    peer.send(HTTP2Frame(.settings, flags: HTTP2Frame.Flag.ack))
                }
                if answersPings, frame.kind == .ping, !frame.isAck {
                    peer.send(HTTP2Frame(.ping, flags: HTTP2Frame.Flag.ack, frame.payload))
                }
                reaction?(peer, frame)
            }
        }
    }

    /// Creates a server that answers each request with 200 and a text, after the request's body has arrived.
    static func answering(_ text: String = "ok", settings: [UInt16: UInt32] = [:]) throws -> ScriptedHTTP2Server {
        try ScriptedHTTP2Server(settings: settings) { peer, frame in
            if frame.endsStream { peer.answer(frame.stream, text) }
        }
    }

    var authority: String { listener.authority }
    var port: Int { listener.port }
    var connections: Int { listener.connections }
    var openConnections: Int { listener.openConnections }
    var peers: [HTTP2Peer] { accepted.withLock { $0 } }

    /// Waits for a connection.
    func peer(_ index: Int = 0) async throws -> HTTP2Peer {
        try await waitUntil("connection \(index) is accepted") { peers.count > index }
        return peers[index]
    }

    /// Waits for a request on the first connection.
    func seen(_ index: Int = 0) async throws -> (HTTP2Peer, HTTP2Frame) {
        let peer = try await peer()
        return (peer, try await peer.request(index))
    }

    /// Creates a request to this server.
    func request(
        _ path: String = "/",
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [:],
        body: RequestBody = .none
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: authority, path: path, headers: headers, body: body)
    }
}

extension TransferContext {
    /// A context for HTTP/2 without TLS.
    static func http2(_ timeouts: Timeouts = Timeouts(), limits: ResponseLimits = ResponseLimits()) -> TransferContext {
        var connection = ConnectionOptions()
        connection.proxy = .none
        connection.httpVersion = .http2PriorKnowledge
        return TransferContext(timeouts: timeouts, limits: limits, connection: connection)
    }
}
#endif
