#if os(Linux)
import Foundation
import SluiceHTTP

/// A port of a loopback address with a full accept queue, so that connection attempts get no answer until it is served.
final class SilentPort: Sendable {
    private struct State: Sendable {
        var fillers: [Int32]
        var isServed = false
    }

    let port: Int
    private let descriptor: Int32
    private let state: Locked<State>

    /// Fills the accept queue of a port.
    ///
    /// - Parameters:
    ///   - last: The last byte of the address, which begins with 127.0.0.
    ///   - port: The port; 0 for any free port.
    /// - Throws: An error if the port is taken.
    init(_ last: UInt8, port: Int = 0) throws {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let listener = socket(AF_INET, type, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = (UInt32(0x7F00_0000) | UInt32(last)).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        var fillers: [Int32] = []
        let isListening = withUnsafeMutablePointer(to: &address) { pointer -> Bool in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Bool in
                guard bind(listener, address, size) == 0, listen(listener, 0) == 0,
                    getsockname(listener, address, &size) == 0
                else { return false }
                for _ in 0..<4 {
                    let filler = socket(AF_INET, type | Int32(SOCK_NONBLOCK.rawValue), 0)
                    fillers.append(filler)
                    _ = connect(filler, address, size)
                }
                return true
            }
        }
        guard isListening else {
            Foundation.close(listener)
            throw TestCertificate.Failure(reason: "no free port")
        }
        descriptor = listener
        state = Locked(State(fillers: fillers))
        self.port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit {
        let isServed = state.withLock { state in
            for filler in state.fillers { Foundation.close(filler) }
            return state.isServed
        }
        // The accepting thread closes the descriptor itself.
        if isServed { shutdown(descriptor, Int32(SHUT_RDWR)) } else { Foundation.close(descriptor) }
    }

    /// Accepts the queued connections, and serves each connection on a separate thread.
    func serve(_ service: @escaping TestListener.Service) {
        let ports = state.withLock { state in
            let ports = Set(state.fillers.map { SilentPort.ownPort(of: $0) })
            for filler in state.fillers { Foundation.close(filler) }
            state.fillers = []
            state.isServed = true
            return ports
        }
        Thread.detachNewThread { [descriptor] in
            while true {
                let (accepted, port) = SilentPort.next(of: descriptor)
                if accepted < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard accepted >= 0 else { break }
                guard !ports.contains(port) else {
                    Foundation.close(accepted)
                    continue
                }
                Thread.detachNewThread {
                    service(accepted)
                    Foundation.close(accepted)
                }
            }
            Foundation.close(descriptor)
        }
    }

    /// Accepts the next connection. Returns it with the port of its client in network byte order.
    private static func next(of descriptor: Int32) -> (Int32, in_port_t) {
        withAddress { accept(descriptor, $0, $1) }
    }

    private static func ownPort(of descriptor: Int32) -> in_port_t {
        withAddress { getsockname(descriptor, $0, $1) }.1
    }

    private static func withAddress(
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> (Int32, in_port_t) {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer -> Int32 in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int32 in body(address, &size) }
        }
        return (result, address.sin_port)
    }
}
#endif
