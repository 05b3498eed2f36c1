#if os(Linux)
import SluiceHTTP

/// A handshake with a proxy over one connection after another: carries out what a ``ProxyHandshake`` says, without ever waiting.
struct ProxyTunnel {
    enum Step {
        /// To be called again once the socket is readable or writable.
        case waits
        case done
        /// The connection is to be closed, and a new one to be given to ``begin(on:)``.
        case reconnect
        case failed(ProxyFlaw)
        /// TLS to the proxy failed after its handshake.
        case failedTLS(TLSFailure)
    }

    private var handshake: any ProxyHandshake
    private var stream: SocketStream?
    private var output = OutputQueue()
    /// True after a failed write: the proxy may have said why before it closed.
    private var isWriteFailed = false

    init(_ handshake: any ProxyHandshake) {
        self.handshake = handshake
    }

    /// Begins, or begins again, on a connection to the proxy.
    mutating func begin(on stream: SocketStream) {
        self.stream = stream
        isWriteFailed = false
        output.removeAll()
        let message = handshake.begin()
        output.append { $0.append(contentsOf: message) }
    }

    /// Writes and reads until the handshake is over or the socket has nothing more.
    ///
    /// One handshake reads a bounded number of bytes, so that this is bounded too.
    ///
    /// - Parameters:
    ///   - buffer: Room for what is read.
    ///   - precedesTLS: True if the client speaks first by the connection, so that bytes which are there already are not the origin's.
    /// - Returns: The next thing to do.
    mutating func advance(reading buffer: UnsafeMutableRawBufferPointer, precedesTLS: Bool) -> Step {
        while true {
            guard write() else { return .waits }
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(handshake.wanted))
            let action: ProxyHandshakeAction
            switch stream?.read(into: room) {
            case .bytes(let count): action = handshake.receive(UnsafeRawBufferPointer(rebasing: room[..<count]))
            case .nothing: return isWriteFailed ? step(for: handshake.closed()) : .waits
            case .end, .failed, nil:
                if let failure = stream?.tls?.failure { return .failedTLS(failure) }
                action = handshake.closed()
            }
            switch action {
            case .send(let message): output.append { $0.append(contentsOf: message) }
            case .needsMore: continue
            case .done: return precedesTLS ? ending(room) : .done
            case .reconnect, .failed: return step(for: action)
            }
        }
    }

    /// Writes what waits; returns false if the socket takes no more of it for now.
    private mutating func write() -> Bool {
        while !output.isEmpty {
            switch stream?.write(output) {
            case .bytes(let count): output.consume(count)
            case .nothing: return false
            case .end, .failed, nil:
                isWriteFailed = true
                output.removeAll()
            }
        }
        return true
    }

    /// Checks that nothing follows the proxy's last answer.
    private mutating func ending(_ room: UnsafeMutableRawBufferPointer) -> Step {
        guard case .bytes = stream?.read(into: UnsafeMutableRawBufferPointer(rebasing: room.prefix(1))) else {
            // The handshake of TLS finds an end by itself.
            return .done
        }
        return step(for: .failed(handshake.surplus))
    }

    private func step(for action: ProxyHandshakeAction) -> Step {
        switch action {
        case .reconnect: .reconnect
        case .failed(let flaw): .failed(flaw)
        case .send, .needsMore, .done: .waits
        }
    }
}
#endif
