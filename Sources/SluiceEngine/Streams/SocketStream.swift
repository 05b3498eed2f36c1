#if os(Linux)
import Glibc

/// The bytes of a connection: a non-blocking socket, with TLS or without. It never raises SIGPIPE.
///
/// Not for two threads at a time: the connection's lock guards it.
struct SocketStream {
    /// The outcome of one read or write.
    enum Moved {
        case bytes(Int)
        case nothing
        /// The server's end; false without TLS's own word that it is one (RFC 8446 §6.1).
        case end(isClean: Bool)
        case failed(Int32)
    }

    private let descriptor: Int32
    var tls: TLSStream?
    /// True if the socket may have input that has not been read.
    var mayRead: Bool
    /// True once the server has closed its side, so that a short read is not the last one.
    var hasHungUp = false

    init(_ descriptor: Int32, _ tls: TLSStream?) {
        self.descriptor = descriptor
        self.tls = tls
        // A server's TLS tickets may have been read from the socket together with the end of the handshake.
        mayRead = tls != nil
    }

    /// Writes what the socket takes.
    func write(_ output: OutputQueue) -> Moved {
        if let tls {
            return switch output.withNextBytes({ tls.write($0) }) {
            case .bytes(let count): .bytes(count)
            case .wantsRead, .wantsWrite: .nothing
            case .closed(let isClean): .end(isClean: isClean)
            case .failed(let error): .failed(error)
            }
        }
        let count = output.send(to: descriptor)
        if count >= 0 { return .bytes(count) }
        switch errno {
        case EAGAIN, EINTR: return .nothing
        case let error: return .failed(error)
        }
    }

    /// Reads what there is, once.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Moved {
        if let tls {
            switch tls.read(into: buffer) {
            case .bytes(let count): return .bytes(count)
            case .wantsRead, .wantsWrite:
                mayRead = false
                return .nothing
            case .closed(let isClean): return .end(isClean: isClean)
            case .failed(let error): return .failed(error)
            }
        }
        let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 {
            if count < buffer.count, !hasHungUp { mayRead = false }
            return .bytes(count)
        }
        if count == 0 { return .end(isClean: true) }
        switch errno {
        case EINTR: return .nothing
        case EAGAIN:
            mayRead = false
            return .nothing
        case let error: return .failed(error)
        }
    }

    /// Reads until a large buffer is full or nothing is left.
    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) -> (count: Int, last: Moved) {
        var filled = 0
        while filled < buffer.count {
            let moved = read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            guard case .bytes(let count) = moved else {
                // The next read finds the end of the connection again.
                return (filled, filled > 0 ? .bytes(filled) : moved)
            }
            filled += count
            if !mayRead { break }
        }
        return (filled, .bytes(filled))
    }

    /// Checks if the server has closed its side, without reading.
    func isClosed() -> Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count == 0 || count < 0 && errno != EAGAIN && errno != EINTR
    }

    /// Checks that nothing has come since the last response: it would be taken for the next one.
    func isSilent() -> Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN { return tls?.hasPendingInput != true }
        guard count > 0, let tls else { return false }
        // It may be a ticket.
        return withUnsafeMutableBytes(of: &byte) { tls.read(into: $0) } == .wantsRead
    }

    /// The words for the last failure.
    var lastFailure: String {
        tls?.failureDetail ?? String(cString: strerror(errno)).lowercased()
    }
}
#endif
