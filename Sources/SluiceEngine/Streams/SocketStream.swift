#if os(Linux)
import CLinux
import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// The byte stream of a connection: a non-blocking socket, with or without TLS. It never raises SIGPIPE.
///
/// It must not be used by two threads at a time: the lock of the connection guards it.
package struct SocketStream {
    /// The result of one read or write.
    package enum IOResult {
        case bytes(Int)
        /// The socket has no input, or accepts no output.
        case wouldBlock
        /// The end of the stream. `isClean` is false if TLS ended without close_notify (RFC 8446 §6.1).
        case end(isClean: Bool)
        /// The value is the error number, or 0 for an error of TLS.
        case failed(Int32)
    }

    /// The unread input of a socket.
    enum UnreadInput {
        case none, bytes
        /// The server has closed its side, or the connection has failed.
        case end
    }

    /// The maximum number of bytes that one turn reads, writes or decodes, about a tenth of a millisecond of work.
    static let turnBytes = 256 << 10
    /// The number of bytes that a read counts as at least.
    static let leastReadCost = 4 << 10

    private let descriptor: Int32
    package var tls: TLSStream?
    /// True if the socket may have unread input.
    package var mayRead: Bool
    /// True once the server has closed its side. A short read is then not the last one.
    var hasHungUp = false
    /// The error number of the last read or write that failed, or 0 for none.
    private var lastError: Int32 = 0
    /// The number of bytes that the server had acknowledged at the last update.
    private var acknowledged: UInt64 = 0
    /// The number of bytes in the send buffer at the last update, for a socket that does not count acknowledged ones.
    private var unacknowledged = 0
    /// The time of the last acknowledgement at the last update.
    private(set) var lastAcknowledgement = MonotonicTime(nanoseconds: 0)

    package init(_ descriptor: Int32, _ tls: TLSStream?, hasHungUp: Bool = false) {
        self.descriptor = descriptor
        self.tls = tls
        self.hasHungUp = hasHungUp
        // The socket read that ended the handshake may also have read TLS tickets.
        mayRead = tls != nil
    }

    package mutating func recordEvents(_ events: UInt32) {
        let ends = EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue
        // TLS may have to write before it can read.
        let readable = EPOLLIN.rawValue | ends | (tls == nil ? 0 : EPOLLOUT.rawValue)
        if events & readable != 0 { mayRead = true }
        if events & ends != 0 { hasHungUp = true }
    }

    /// Permits reads after a failed write: the server may have sent a reason before it closed.
    mutating func outputFailed() {
        mayRead = true
        hasHungUp = true
    }

    /// Removes from the output what the socket accepts at once.
    mutating func writeAtOnce(_ output: inout OutputQueue) {
        if !output.isEmpty, case .bytes(let count) = write(output) { output.consume(count) }
    }

    /// Writes as many bytes as the socket accepts.
    package mutating func write(_ output: OutputQueue) -> IOResult {
        if let tls {
            // The socket may accept as much as it is given, and encryption takes time.
            let transfer = output.withNextBytes { tls.write(.init(rebasing: $0.prefix(SocketStream.turnBytes))) }
            return switch transfer {
            case .bytes(let count): .bytes(count)
            case .wantsRead, .wantsWrite: .wouldBlock
            case .closed(let isClean): .end(isClean: isClean)
            case .failed(let error): .failed(error)
            }
        }
        var count = output.send(to: descriptor)
        while count < 0, errno == EINTR { count = output.send(to: descriptor) }
        if count >= 0 { return .bytes(count) }
        switch errno {
        case EAGAIN: return .wouldBlock
        case let error: return failed(error)
        }
    }

    private mutating func failed(_ error: Int32) -> IOResult {
        lastError = error
        return .failed(error)
    }

    /// Reads available bytes once.
    package mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        if let tls {
            switch tls.read(into: buffer) {
            case .bytes(let count): return .bytes(count)
            case .wantsRead, .wantsWrite:
                mayRead = false
                return .wouldBlock
            case .closed(let isClean): return .end(isClean: isClean)
            case .failed(let error): return .failed(error)
            }
        }
        var count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        while count < 0, errno == EINTR {
            count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        }
        if count > 0 {
            if count < buffer.count, !hasHungUp { mayRead = false }
            return .bytes(count)
        }
        if count == 0 { return .end(isClean: true) }
        switch errno {
        case EAGAIN:
            mayRead = false
            return .wouldBlock
        case let error: return failed(error)
        }
    }

    /// Reads until the buffer is full, no input is available, or a read has given little.
    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) -> (count: Int, last: IOResult) {
        var filled = 0
        while filled < buffer.count {
            let result = read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            guard case .bytes(let count) = result else {
                // The next read reports the end of the connection again.
                return (filled, filled > 0 ? .bytes(filled) : result)
            }
            filled += count
            if !mayRead || count < SocketStream.leastReadCost { break }
        }
        return (filled, .bytes(filled))
    }

    /// Returns the unread input of the socket, without consuming it.
    func unreadInput() -> UnreadInput {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count > 0 ? .bytes : count < 0 && (errno == EAGAIN || errno == EINTR) ? .none : .end
    }

    /// Returns true if nothing has been received since the last response. Such bytes would be parsed as the next response.
    func hasNoInput() -> Bool {
        let input = unreadInput()
        guard input != .end, let tls else { return input == .none }
        if input == .none, !tls.hasPendingInput { return true }
        if tls.hasDecryptedInput { return false }
        // The input may be a TLS ticket.
        var byte: UInt8 = 0
        return withUnsafeMutableBytes(of: &byte) { tls.read(into: $0) } == .wantsRead
    }

    /// Sets ``lastAcknowledgement`` if the server has acknowledged bytes since the last call.
    mutating func updateAcknowledgement(at now: MonotonicTime) {
        let acknowledgements = sluice_acknowledgements(descriptor)
        if acknowledgements.bytes == 0 {
            // A unix-domain socket has only a send buffer.
            let left = Int(sluice_unacknowledged(descriptor))
            if left < unacknowledged { lastAcknowledgement = now }
            unacknowledged = left
        }
        guard acknowledgements.bytes > acknowledged else { return }
        acknowledged = acknowledgements.bytes
        lastAcknowledgement = now + .milliseconds(-Int(acknowledgements.milliseconds))
    }

    /// True if the system has sent bytes again at least twice, and the server has acknowledged none of them.
    var isRetransmitting: Bool { sluice_acknowledgements(descriptor).retransmissions >= 2 }

    /// True if the server has not acknowledged all written bytes.
    var hasUnacknowledged: Bool { sluice_unacknowledged(descriptor) > 0 }

    /// Returns the time of the last acknowledgement while the send buffer may contain bytes that were written before the wait began.
    func progress(of wait: inout AcknowledgementWait) -> MonotonicTime? {
        if wait.isOver { return nil }
        let end = wait.end ?? acknowledged + UInt64(sluice_unacknowledged(descriptor))
        wait.end = end
        wait.isOver = acknowledged >= end
        return lastAcknowledgement
    }

    /// The message for the last failed read or write, for the end of a sentence about the connection.
    var lastFailure: String {
        tls?.failureDetail ?? (lastError == 0 ? "the server closed it" : SystemError(number: lastError).message)
    }
}

/// A wait for the acknowledgement of written bytes. Acknowledgements are progress until the server has received them all.
struct AcknowledgementWait {
    /// The number of bytes of the connection up to the last awaited one, or more. Nil before the first check.
    fileprivate var end: UInt64?
    /// True if all awaited bytes had been acknowledged at the last check.
    fileprivate var isOver = false
}
#endif
