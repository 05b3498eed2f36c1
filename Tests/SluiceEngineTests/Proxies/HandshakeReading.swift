#if os(Linux)
import SluiceHTTP

@testable import SluiceEngine

/// The last action of a handshake with a proxy whose answers arrive in pieces, and the messages sent.
struct HandshakeReading: Equatable {
    private(set) var sent: [[UInt8]] = []
    private(set) var last = ProxyHandshakeAction.needsMore
    /// The number of unread bytes of the answers.
    private(set) var rest = 0

    /// Runs a handshake on one connection.
    ///
    /// - Parameters:
    ///   - handshake: The handshake, which is updated.
    ///   - answers: The proxy's answers, each delivered after the message before it has been sent.
    ///   - pieces: The size of the pieces in which answers arrive; nil for whole answers.
    ///   - thenClose: True if the proxy closes at the end.
    init(
        _ handshake: inout some ProxyHandshake,
        _ answers: [[UInt8]],
        pieces: Int? = nil,
        thenClose: Bool = false
    ) {
        sent.append(handshake.begin())
        var answers = answers[...]
        while let answer = answers.popFirst() {
            last = .needsMore
            var left = answer[...]
            while last == .needsMore, !left.isEmpty {
                let count = min(handshake.maximumRead, pieces ?? left.count, left.count)
                last = Array(left.prefix(count)).withUnsafeBytes { handshake.receive($0) }
                left = left.dropFirst(count)
            }
            rest += left.count
            guard case .send(let message) = last else { break }
            sent.append(message)
        }
        if thenClose, last.isOpen { last = handshake.closed() }
    }
}

extension ProxyHandshakeAction {
    /// True if the handshake continues.
    fileprivate var isOpen: Bool {
        switch self {
        case .send, .needsMore: true
        case .done, .reconnect, .failed: false
        }
    }
}
#endif
