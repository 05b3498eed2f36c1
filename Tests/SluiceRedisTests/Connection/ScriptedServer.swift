#if os(Linux)
import Foundation
import Glibc
import SluiceHTTP
import SluiceRedis

/// A server on a unix-domain socket or a port that answers as a test's script says, one thread for each connection.
final class ScriptedServer: Sendable {
    let path: String
    /// The port of 127.0.0.1; 0 for a server on a socket.
    let port: Int
    private let listener: Int32
    private let folder: URL
    private let accepted = Locked(0)
    private let isListening = Locked(true)

    /// The number of connections so far.
    var connections: Int { accepted.withLock { $0 } }

    /// A client with one connection to this server.
    var server: RedisServer {
        let isOnSocket = port == 0
        var server = isOnSocket ? .patient(unixSocket: path) : RedisServer(host: "127.0.0.1", port: port).patient
        server.connections = 1
        return server
    }

    /// Starts a server whose script gets each connection with its number, starting at 0. A connection is closed when its script ends.
    init(isOnPort: Bool = false, _ serve: @escaping @Sendable (ScriptedConnection, Int) -> Void) throws {
        folder = try RedisProcess.makeFolder()
        path = folder.appending(path: "f").path
        (listener, port) = isOnPort ? ScriptedServer.bindPort() : (ScriptedServer.bindSocket(path), 0)
        let listener = listener
        guard listener >= 0, listen(listener, 64) == 0 else { throw POSIXError(.EIO) }
        let accepted = accepted
        let isListening = isListening
        Thread.detachNewThread {
            // Closed elsewhere, the listener could be another one by the next call of accept.
            defer {
                isListening.withLock { isListening in
                    isListening = false
                    close(listener)
                }
            }
            while true {
                let descriptor = accept(listener, nil, nil)
                if descriptor < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard descriptor >= 0 else { return }
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                // The second of two short writes is not held back until the client acknowledges the first.
                var on: Int32 = 1
                setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
                let number = accepted.withLock { count in
                    count += 1
                    return count - 1
                }
                Thread.detachNewThread {
                    serve(ScriptedConnection(descriptor), number)
                    close(descriptor)
                }
            }
        }
    }

    private static func bindSocket(_ path: String) -> Int32 {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return status == 0 ? listener : -1
    }

    /// Binds a free port of 127.0.0.1.
    private static func bindPort() -> (listener: Int32, port: Int) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 ? getsockname(listener, $0, &size) : -1
            }
        }
        return (status == 0 ? listener : -1, Int(UInt16(bigEndian: address.sin_port)))
    }

    deinit {
        isListening.withLock { if $0 { shutdown(listener, Int32(SHUT_RDWR)) } }
        try? FileManager.default.removeItem(at: folder)
    }
}

/// A connection of a ``ScriptedServer``, used by its own thread.
final class ScriptedConnection {
    private let descriptor: Int32
    private var parser = RESPParser()

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Returns the words of the next command; nil at the end.
    func command() -> [String]? {
        while true {
            if case .reply(.array(let words))? = try? parser.next() { return words.map { $0.string ?? "" } }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            buffer[..<count].withUnsafeBytes { parser.append($0) }
        }
    }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Answers the commands of the greeting, up to PING.
    ///
    /// - Parameter role: The role in the reply to HELLO; nil for none.
    func greet(role: String? = nil) {
        while let words = command() {
            switch words[0] {
            case "HELLO":
                let rest = role.map { "+role\r\n+\($0)\r\n" } ?? ""
                write("%\(role == nil ? 1 : 2)\r\n+proto\r\n:3\r\n" + rest)
            case "PING": return write("+PONG\r\n")
            default: write("+OK\r\n")
            }
        }
    }

    /// Reads until the client closes the connection.
    func waitForEnd() {
        while command() != nil {}
    }
}
#endif
