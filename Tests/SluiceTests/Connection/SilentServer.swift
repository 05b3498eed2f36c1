import Foundation

/// A listener at an address and a port that never accepts a connection.
final class SilentServer: Sendable {
    private let descriptor: Int32

    /// Starts listening; nil if that fails.
    init?(address: String, port: Int) {
        descriptor = socket(AF_INET, streamSocket, 0)
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = UInt16(clamping: port).bigEndian
        target.sin_addr.s_addr = inet_addr(address)
        let isBound = withUnsafePointer(to: target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        // All properties are set, so the deinitializer closes the descriptor.
        if !isBound || listen(descriptor, 4) != 0 { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// True if a client has connected.
    var hasConnection: Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) == 1
    }
}

#if os(Linux)
private let streamSocket = Int32(SOCK_STREAM.rawValue)
#else
private let streamSocket = SOCK_STREAM
#endif
