import SluiceLibc

/// The descriptor of a stream socket. The owner must close it.
struct StreamSocket: Sendable {
    let descriptor: Int32

    #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    #else
    private static let stream = SOCK_STREAM
    #endif

    /// Creates a socket that listens on a free port of 127.0.0.1 and does not block in `accept`.
    static func listening() throws(LoopbackFailure) -> StreamSocket {
        let descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { throw LoopbackFailure("socket") }
        let result = StreamSocket(descriptor: descriptor)
        result.setFlags(blocking: false)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0, listen(descriptor, 1024) == 0 else {
            let failure = LoopbackFailure(bound == 0 ? "listen" : "bind")
            result.close()
            throw failure
        }
        return result
    }

    /// Creates two connected sockets.
    static func pair() throws(LoopbackFailure) -> (StreamSocket, StreamSocket) {
        var descriptors: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, stream, 0, &descriptors) == 0 else { throw LoopbackFailure("socketpair") }
        let pair = (StreamSocket(descriptor: descriptors[0]), StreamSocket(descriptor: descriptors[1]))
        pair.0.setFlags(blocking: true)
        pair.1.setFlags(blocking: true)
        return pair
    }

    /// Accepts the next connection. Returns nil if there is none, with the reason in `errno`.
    func accept() -> StreamSocket? {
        let accepted = SluiceLibc.accept(descriptor, nil, nil)
        guard accepted >= 0 else { return nil }
        let result = StreamSocket(descriptor: accepted)
        result.setFlags(blocking: true)
        result.setOption(Int32(IPPROTO_TCP), TCP_NODELAY, to: Int32(1))
        #if canImport(Darwin)
        result.setOption(SOL_SOCKET, SO_NOSIGPIPE, to: Int32(1))
        #endif
        return result
    }

    func port() throws(LoopbackFailure) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { throw LoopbackFailure("getsockname") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Closes the sending direction after the pending bytes. The receiving direction stays open.
    func finishSending() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Shuts down both directions, which wakes a blocked thread. The descriptor stays open.
    func shutDown() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Makes `close` send a reset and discard unsent bytes.
    func resetOnClose() {
        setOption(SOL_SOCKET, SO_LINGER, to: linger(l_onoff: 1, l_linger: 0))
    }

    func close() {
        _ = SluiceLibc.close(descriptor)
    }

    private func setFlags(blocking: Bool) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let flags = fcntl(descriptor, F_GETFL, 0)
        _ = fcntl(descriptor, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK)
    }

    private func setOption<Value>(_ level: Int32, _ option: Int32, to value: Value) {
        _ = withUnsafePointer(to: value) {
            setsockopt(descriptor, level, option, $0, socklen_t(MemoryLayout<Value>.size))
        }
    }
}

// MARK: - Transfer

extension StreamSocket {
    /// Receives available bytes. Blocks if there are none. Returns their number, or 0 at the end of the stream or on an error.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            return max(count, 0)
        }
    }

    /// Sends without blocking. Returns the number of accepted bytes, or nil if the connection is closed.
    func sendNow(_ bytes: UnsafeRawBufferPointer) -> Int? {
        #if canImport(Darwin)
        let flags = Int32(MSG_DONTWAIT)
        #else
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        #endif
        while true {
            let count = send(descriptor, bytes.baseAddress, bytes.count, flags)
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK, ENOBUFS: return 0
            default: return nil
            }
        }
    }

    /// Waits until the socket is writable or the connection is closed. Returns false after a time-out.
    func waitUntilWritable(milliseconds: Int32) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&polled, 1, milliseconds) != 0
    }

    /// Waits until `receive` does not block, because of bytes or the end of the stream. Returns false at the deadline.
    func waitUntilReadable(until deadline: ContinuousClock.Instant) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            if left <= .zero { return false }
            if poll(&polled, 1, left.pollTimeout) > 0 { return true }
        }
    }

    /// The reason why a wait ended.
    enum Wake {
        case timeIsUp
        case signal
        case peerLeft
    }

    /// Waits for a deadline or for a byte on another descriptor. Ends early if the client disconnects.
    func wait(until deadline: ContinuousClock.Instant?, orByteOn other: Int32 = -1) -> Wake {
        while true {
            let left = deadline.map { ContinuousClock.now.duration(to: $0) }
            if let left, left <= .zero { return .timeIsUp }
            var milliseconds = left.map { $0.pollTimeout } ?? -1
            var polled = [
                pollfd(fd: descriptor, events: StreamSocket.hangUp, revents: 0),
                pollfd(fd: other, events: Int16(POLLIN), revents: 0),
            ]
            #if !os(Linux)
            // There is no event for the end of the stream alone. If bytes of a next request are unread, poll periodically.
            if hasBytesToRead {
                polled[0].events = 0
                milliseconds = milliseconds < 0 ? 10 : min(milliseconds, 10)
            }
            #endif
            guard poll(&polled, 2, milliseconds) > 0 else { continue }
            if polled[1].revents != 0 { return .signal }
            #if os(Linux)
            return .peerLeft
            #else
            if !hasBytesToRead { return .peerLeft }
            #endif
        }
    }

    #if os(Linux)
    /// `POLLRDHUP`, which the C headers define only with `_GNU_SOURCE`.
    private static let hangUp: Int16 = 0x2000
    #else
    private static let hangUp = Int16(POLLIN)

    private var hasBytesToRead: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0
    }
    #endif
}

extension Duration {
    /// The duration in milliseconds, rounded up so that a poll does not end early.
    fileprivate var pollTimeout: Int32 {
        Int32(clamping: max(.zero, min(self, .seconds(1_000_000))).attoseconds / 1_000_000_000_000_000) + 1
    }
}
