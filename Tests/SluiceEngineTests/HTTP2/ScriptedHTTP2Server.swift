#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting

@testable import SluiceEngine

/// A server of HTTP/2 with prior knowledge (RFC 9113 §3.3) that says what a test has it say, frame by frame.
///
/// By itself it sends its settings, acknowledges those of the client and answers its pings, where it is not told otherwise. A test waits
/// for the frames of a client and answers through the peers, which are the connections in the order in which they came.
final class ScriptedHTTP2Server: Sendable {
    /// The reaction to a frame, on the thread that reads.
    typealias Reaction = @Sendable (HTTP2Peer, HTTP2Frame) -> Void

    private let listener: TestListener
    private let accepted: Locked<[HTTP2Peer]>

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - settings: The settings that each connection begins with; nil for none at all.
    ///   - acknowledges: Acknowledges the client's settings.
    ///   - answersPings: Answers the client's pings.
    ///   - reaction: Is given each frame of a client.
    /// - Throws: A failure where there is no port.
    init(
        settings: [UInt16: UInt32]? = [:],
        acknowledges: Bool = true,
        answersPings: Bool = true,
        _ reaction: Reaction? = nil
    ) throws {
        let accepted = Locked<[HTTP2Peer]>([])
        self.accepted = accepted
        listener = try TestListener { descriptor in
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

    /// A server that answers each request with 200 and a text, once its body has come.
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
        try await waitUntil("connection \(index) is there") { peers.count > index }
        return peers[index]
    }

    /// Waits for a request of the first connection.
    func seen(_ index: Int = 0) async throws -> (HTTP2Peer, HTTP2Frame) {
        let peer = try await peer()
        return (peer, try await peer.request(index))
    }

    /// A request to this server.
    func request(
        _ path: String = "/",
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none
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
