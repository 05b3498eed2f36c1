import SluiceFoundation
import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The listening socket and the thread that accepts connections.
final class LoopbackListener: Sendable {
    let port: Int
    private let socket: StreamSocket
    /// Closing the sending direction stops the thread, which then closes the other end.
    private let stopSender: StreamSocket
    private let stopReceiver: StreamSocket
    private let isStopped = Locked(false)

    init() throws(LoopbackFailure) {
        socket = try StreamSocket.listening()
        do throws(LoopbackFailure) {
            port = try socket.port()
            (stopSender, stopReceiver) = try StreamSocket.pair()
        } catch {
            socket.close()
            throw error
        }
    }

    /// Starts to accept connections. The closure takes ownership of each socket.
    func start(_ take: @escaping @Sendable (StreamSocket) -> Void) throws(LoopbackFailure) {
        do throws(LoopbackFailure) {
            try startThread { [socket, stopReceiver] in
                LoopbackListener.accept(from: socket, until: stopReceiver, take)
                socket.close()
                stopReceiver.close()
            }
        } catch {
            isStopped.withLock { $0 = true }
            for socket in [socket, stopSender, stopReceiver] { socket.close() }
            throw error
        }
    }

    /// Stops the thread. Returns after the port is closed.
    func stop() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        stopSender.finishSending()
        var byte: UInt8 = 0
        _ = withUnsafeMutableBytes(of: &byte) { stopSender.receive(into: $0) }
        stopSender.close()
    }

    private static func accept(
        from socket: StreamSocket,
        until stop: StreamSocket,
        _ take: (StreamSocket) -> Void
    ) {
        while true {
            var polled = [
                pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&polled, 2, -1)
            if polled[1].revents != 0 { return }
            guard polled[0].revents != 0 else { continue }
            if let accepted = socket.accept() {
                take(accepted)
            } else if errno == EMFILE || errno == ENFILE {
                // The connection stays in the backlog and the listening socket readable until a descriptor is free, so pause.
                var polledStop = pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&polledStop, 1, 10)
            }
        }
    }
}

/// An error that prevents a ``LoopbackServer`` from starting.
public struct LoopbackFailure: LocalizedError, Sendable, CustomStringConvertible {
    /// The failed system call and the error message of the system.
    public let description: String

    /// The ``description``, as `localizedDescription`.
    public var errorDescription: String? { description }

    /// Creates a failure, by default with the current `errno`.
    init(_ call: String, errno code: Int32 = errno) {
        description = "The loopback server cannot start: \(call) failed with \(String(cString: strerror(code)))."
    }
}
