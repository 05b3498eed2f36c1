#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

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
        let (seconds, attoseconds) = components
        guard seconds < 1_000_000 else { return 1_000_000_000 }
        return Int32(seconds) * 1000 + Int32(attoseconds / 1_000_000_000_000_000) + 1
    }
}
