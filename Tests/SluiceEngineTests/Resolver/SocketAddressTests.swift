#if os(Linux)
import Glibc
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct SocketAddressTests {
    static let texts: [(address: String, port: UInt16, scope: UInt32, text: String)] = [
        ("127.0.0.1", 80, 0, "127.0.0.1:80"),
        ("255.254.1.0", 65535, 0, "255.254.1.0:65535"),
        ("::1", 443, 0, "[::1]:443"),
        ("fe80::1:2", 8080, 7, "[fe80::1:2]:8080"),
        ("::ffff:10.0.0.1", 0, 0, "[::ffff:10.0.0.1]:0"),
    ]

    @Test(arguments: texts)
    func roundTripsThroughSockaddr(address: String, port: UInt16, scope: UInt32, text: String) throws {
        let socket = SocketAddress(address: try #require(IPAddress(address)), port: port, scope: scope)
        #expect(socket.description == text)
        let (copy, family) = socket.withSockaddr { pointer, length in
            (SocketAddress(pointer, length: length), Int32(pointer.pointee.sa_family))
        }
        #expect(copy == socket)
        #expect(family == socket.family)
        let isCutRefused = socket.withSockaddr { SocketAddress($0, length: $1 - 1) == nil }
        #expect(isCutRefused)
    }

    @Test func rejectsOtherAddressFamilies() {
        var other = sockaddr_un()
        other.sun_family = sa_family_t(AF_UNIX)
        let address = withUnsafePointer(to: other) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { SocketAddress($0, length: 110) }
        }
        #expect(address == nil)
    }

    @Test func kernelAcceptsAndReturnsAddresses() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let any = SocketAddress(address: IPAddress(127, 0, 0, 1), port: 0)
        try #require(any.withSockaddr { bind(descriptor, $0, $1) } == 0)
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let bound = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                getsockname(descriptor, pointer, &length) == 0 ? SocketAddress(pointer, length: length) : nil
            }
        }
        #expect(bound?.address == any.address)
        #expect(bound.map { $0.port > 0 } == true)
    }

    static let loopbacks: [(text: String, isLoopback: Bool)] = [
        ("127.0.0.1", true), ("127.255.0.9", true), ("128.0.0.1", false), ("::1", true), ("::", false), ("::2", false),
        ("1::1", false), ("::ffff:127.0.0.1", true), ("::ffff:10.0.0.1", false), ("::7f00:1", false),
    ]

    @Test(arguments: loopbacks)
    func recognizesLoopbackAddresses(text: String, isLoopback: Bool) throws {
        #expect(try #require(IPAddress(text)).isLoopback == isLoopback)
    }

    /// The number of IPv4 and IPv6 addresses in a list, and the number of each in the first eight that are kept.
    static let trims: [(four: Int, six: Int, kept4: Int, kept6: Int)] = [
        (3, 5, 3, 5), (20, 20, 4, 4), (20, 0, 8, 0), (0, 20, 0, 8), (1, 20, 1, 7), (20, 2, 6, 2),
    ]

    @Test(arguments: trims)
    func trimmedListsKeepBothVersions(four: Int, six: Int, kept4: Int, kept6: Int) throws {
        let fours = (0..<four).map { ScopedAddress(IPAddress(10, 0, 0, UInt8($0))) }
        let sixes = try (0..<six).map { ScopedAddress(try #require(IPAddress("2001:db8::\($0)"))) }
        let expected4 = fours.prefix(kept4)
        let expected6 = sixes.prefix(kept6)
        let sixesFirst: [ScopedAddress] = (sixes + fours + sixes).trimmed(to: 8)
        #expect(sixesFirst == Array(expected6) + Array(expected4))
        let foursFirst: [ScopedAddress] = (fours + fours + sixes).trimmed(to: 8)
        #expect(foursFirst == Array(expected4) + Array(expected6))
    }
}
#endif
