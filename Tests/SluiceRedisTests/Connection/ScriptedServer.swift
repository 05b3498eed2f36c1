#if os(Linux)
import Foundation
import Glibc
import SluiceHTTP
import SluiceRedis

/// A server on a unix-domain socket that answers as a test's script says, one thread for each connection.
final class ScriptedServer: Sendable {
    let path: String
    private let listener: Int32
    private let folder: URL
    private let accepted = Locked(0)

    /// The number of connections so far.
    var connections: Int { accepted.withLock { $0 } }

    /// A client with one connection to this server.
    var server: RedisServer {
        var server = RedisServer.patient(unixSocket: path)
        server.connections = 1
        return server
    }

    /// Starts a server whose script gets each connection with its number, starting at 0. A connection is closed when its script ends.
    init(_ serve: @escaping @Sendable (ScriptedConnection, Int) -> Void) throws {
        folder = try RedisProcess.makeFolder()
        path = folder.appending(path: "f").path
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, listen(listener, 64) == 0 else { throw POSIXError(.EIO) }
        let accepted = accepted
        Thread.detachNewThread {
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { return }
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

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
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
    func greet() {
        while let words = command() {
            switch words[0] {
            case "HELLO": write("%1\r\n+proto\r\n:3\r\n")
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
