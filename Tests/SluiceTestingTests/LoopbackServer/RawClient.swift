#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A blocking socket that sends and receives the bytes of a test. It closes when deallocated.
final class RawClient {
    private var descriptor: Int32 = -1
    private var received: [UInt8] = []

    struct Refused: Error {}

    init(port: Int) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        // Sending to a connection that the server has reset must not end the process.
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            leave()
            throw Refused()
        }
        // A test that waits for missing bytes fails instead of hanging.
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        leave()
    }

    func leave() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    func reset() {
        var value = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
        leave()
    }

    func send(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let sent = bytes.withUnsafeBytes { Self.send(descriptor, $0) }
            guard sent > 0 else { return }
            bytes = bytes.dropFirst(sent)
        }
    }

    private static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        #elseif canImport(Musl)
        Musl.send(descriptor, bytes.baseAddress, bytes.count, MSG_NOSIGNAL)
        #else
        Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
        #endif
    }

    func get(_ target: String, method: String = "GET", headers: String = "") -> String {
        send("\(method) \(target) HTTP/1.1\r\nHost: test\r\n\(headers)\r\n")
        return method == "HEAD" ? receiveHead() : receive()
    }

    /// Receives a head and a body of the announced length, or all bytes until the end.
    func receive() -> String {
        let head = receiveHead()
        let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length: ") }
            .flatMap { Int($0.dropFirst(16)) }
        guard let length else { return head + receiveToEnd() }
        while received.count < length, fill() {}
        return head + take(min(length, received.count))
    }

    func receiveHead() -> String {
        receive(through: "\r\n\r\n")
    }

    /// Receives bytes up to and including a text, or all bytes until the end.
    func receive(through text: String) -> String {
        let wanted = Array(text.utf8)
        while true {
            for index in received.indices where received[index...].starts(with: wanted) {
                return take(index + wanted.count)
            }
            guard fill() else { return take(received.count) }
        }
    }

    func receiveToEnd() -> String {
        while fill() {}
        return take(received.count)
    }

    /// True if the other end has closed or reset the connection, with no bytes left to read.
    func isAtEnd() -> Bool {
        received.isEmpty && !fill()
    }

    /// The error of the next receive; 0 for the end of the stream.
    func receiveError() -> Int32 {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, 0) < 0 ? errno : 0
    }

    private func take(_ count: Int) -> String {
        defer { received.removeFirst(count) }
        return String(decoding: received.prefix(count), as: UTF8.self)
    }

    private func fill() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        received += buffer[..<count]
        return true
    }
}
