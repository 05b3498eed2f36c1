#if os(Linux)
import SluiceHTTP

/// Runs a ``ProxyHandshake`` over one or more connections, without blocking.
struct ProxyTunnel {
    enum Step {
        /// Call again when the socket is readable or writable.
        case wait
        case done
        /// Close the connection, and pass a new one to ``begin(on:)``.
        case reconnect
        case failed(ProxyError)
        /// TLS with the proxy failed after its handshake.
        case tlsFailed(TLSFailure)
    }

    private var handshake: any ProxyHandshake
    private var stream: SocketStream?
    private var output = OutputQueue()
    /// True after a failed write. The proxy may have sent a reason before it closed.
    private var isWriteFailed = false

    init(_ handshake: any ProxyHandshake) {
        self.handshake = handshake
    }

    /// Starts, or restarts, on a connection to the proxy.
    mutating func begin(on stream: SocketStream) {
        self.stream = stream
        isWriteFailed = false
        output.removeAll()
        let message = handshake.begin()
        output.append { $0.append(contentsOf: message) }
    }

    /// Writes and reads until the handshake is over, or until the socket is neither writable nor readable.
    ///
    /// One handshake reads a limited number of bytes, so the work is bounded.
    ///
    /// - Parameters:
    ///   - buffer: A buffer for received bytes.
    ///   - precedesTLS: True if the client speaks first after the handshake, so early bytes cannot come from the origin.
    /// - Returns: The next step.
    mutating func advance(reading buffer: UnsafeMutableRawBufferPointer, precedesTLS: Bool) -> Step {
        while true {
            guard write() else { return .wait }
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(handshake.maximumRead))
            let action: ProxyHandshakeAction
            switch stream?.read(into: room) {
            case .bytes(let count): action = handshake.receive(UnsafeRawBufferPointer(rebasing: room[..<count]))
            case .wouldBlock: return isWriteFailed ? step(for: handshake.closed()) : .wait
            case .end, .failed, nil:
                if let failure = stream?.tls?.failure { return .tlsFailed(failure) }
                action = handshake.closed()
            }
            switch action {
            case .send(let message): output.append { $0.append(contentsOf: message) }
            case .needsMore: continue
            case .done: return precedesTLS ? checkForUnexpectedData(room) : .done
            case .reconnect, .failed: return step(for: action)
            }
        }
    }

    /// Writes pending bytes. Returns false if the socket currently accepts no more.
    private mutating func write() -> Bool {
        while !output.isEmpty {
            switch stream?.write(output) {
            case .bytes(let count): output.consume(count)
            case .wouldBlock: return false
            case .end, .failed, nil:
                isWriteFailed = true
                output.removeAll()
            }
        }
        return true
    }

    /// Checks that no bytes follow the proxy's last answer.
    private mutating func checkForUnexpectedData(_ room: UnsafeMutableRawBufferPointer) -> Step {
        guard case .bytes = stream?.read(into: UnsafeMutableRawBufferPointer(rebasing: room.prefix(1))) else {
            // If the connection has ended, the TLS handshake will detect it.
            return .done
        }
        return step(for: .failed(handshake.unexpectedData))
    }

    private func step(for action: ProxyHandshakeAction) -> Step {
        switch action {
        case .reconnect: .reconnect
        case .failed(let failure): .failed(failure)
        case .send, .needsMore, .done: .wait
        }
    }
}
#endif
