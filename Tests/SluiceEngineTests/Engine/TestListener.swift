#if os(Linux)
import Foundation
import SluiceHTTP

/// A port of a loopback address, 127.0.0.1 by default. A closure serves each connection on a separate thread. The port closes when the listener is deallocated.
final class TestListener: Sendable {
    /// Serves a blocking socket. The socket is closed when the closure returns.
    typealias Service = @Sendable (Int32) -> Void

    private struct State: Sendable {
        var open: Set<Int32> = []
        var accepted = 0
        var isListening = true
        var isStopped = false
    }

    let port: Int
    private let descriptor: Int32
    private let state = Locked(State())

    /// Starts listening.
    ///
    /// - Parameters:
    ///   - last: The last byte of the address, which begins with 127.0.0.
    ///   - requested: The port; 0 for any free port.
    ///   - serve: Serves a connection.
    /// - Throws: An error if the port is taken.
    init(_ last: UInt8, port requested: Int = 0, _ serve: @escaping Service) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(requested).bigEndian
        address.sin_addr.s_addr = (UInt32(0x7F00_0000) | UInt32(last)).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        guard isListening else {
            Foundation.close(descriptor)
            throw TestCertificate.Failure(reason: "no free port")
        }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [state] in
            while true {
                let accepted = accept(descriptor, nil, nil)
                if accepted < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard accepted >= 0, TestListener.note(accepted, in: state) else { break }
                _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                // The second of two short writes is not held back until the client acknowledges the first.
                var on: Int32 = 1
                setsockopt(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
                TestListener.start(serve, accepted, state)
            }
            state.withLock { state in
                state.isListening = false
                Foundation.close(descriptor)
            }
        }
    }

    /// Starts listening at a free port of 127.0.0.1.
    convenience init(_ serve: @escaping Service) throws { try self.init(1, serve) }

    deinit { stop() }

    /// The host and port of the server, for requests.
    var authority: String { "127.0.0.1:\(port)" }

    /// The number of connections accepted so far.
    var connections: Int { state.withLock { $0.accepted } }

    /// The number of connections whose service has not ended.
    var openConnections: Int { state.withLock { $0.open.count } }

    /// Closes every connection, and accepts no more.
    func stop() {
        state.withLock { state in
            if state.isStopped { return }
            state.isStopped = true
            // Under the lock, so that no descriptor has been reused.
            if state.isListening { shutdown(descriptor, Int32(SHUT_RDWR)) }
            for open in state.open { shutdown(open, Int32(SHUT_RDWR)) }
        }
    }

    private static func note(_ accepted: Int32, in state: Locked<State>) -> Bool {
        let isAccepted = state.withLock { state in
            if state.isStopped { return false }
            state.accepted += 1
            state.open.insert(accepted)
            return true
        }
        if !isAccepted { Foundation.close(accepted) }
        return isAccepted
    }

    private static func start(_ serve: @escaping Service, _ accepted: Int32, _ state: Locked<State>) {
        Thread.detachNewThread {
            var pipe = sigset_t()
            sigemptyset(&pipe)
            sigaddset(&pipe, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &pipe, nil)
            serve(accepted)
            state.withLock { state in
                state.open.remove(accepted)
                Foundation.close(accepted)
            }
        }
    }

    /// Reads until the client closes, and never answers.
    static let discardInput: Service = { descriptor in
        var bytes = [UInt8](repeating: 0, count: 4096)
        while recv(descriptor, &bytes, bytes.count, 0) > 0 {}
    }

    /// Reads the head of a request; nil if the client closes before its end.
    static func readHead(_ descriptor: Int32) -> String? {
        read(descriptor, through: "\r\n\r\n")
    }

    /// Reads up to and including a text; nil if the client closes the connection before.
    static func read(_ descriptor: Int32, through end: String) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.ends(with: Array(end.utf8)) {
            guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Writes a text; false if the client has closed the connection.
    @discardableResult
    static func write(_ text: String, to descriptor: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

extension [UInt8] {
    fileprivate func ends(with suffix: [UInt8]) -> Bool { self.suffix(suffix.count).elementsEqual(suffix) }
}
#endif
