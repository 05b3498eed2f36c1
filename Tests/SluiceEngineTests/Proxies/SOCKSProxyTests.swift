#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// SOCKS proxies, with and without TLS to the origin.
    @Suite struct SOCKSProxyTests {
        private let certificates: TestCertificates
        private let transport = SocketTransport()
        private static let granted: [UInt8] = [5, 0, 0, 3, 2, 65, 65, 0, 80]

        init() throws { certificates = try TestCertificates.shared.get() }

        private static let origin: TestListener.Service = { descriptor in
            while TestListener.readHead(descriptor) != nil {
                TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor)
            }
        }

        /// Creates a SOCKS 5 proxy that records its requests.
        private func proxy(
            to port: Int,
            _ requests: Locked<[[UInt8]]>,
            user: String? = nil,
            password: String = ""
        ) throws -> TestProxy {
            try TestProxy { client in
                guard let greeting = client.read(exactly: 2), client.read(exactly: Int(greeting[1])) != nil else {
                    return
                }
                if let user {
                    client.write([5, 2])
                    let count = 3 + user.utf8.count + password.utf8.count
                    guard let received = client.read(exactly: count) else { return }
                    let wanted = [1, UInt8(user.utf8.count)] + Array(user.utf8) + [UInt8(password.utf8.count)]
                    guard received == wanted + Array(password.utf8) else {
                        client.write([1, 1])
                        return
                    }
                    client.write([1, 0])
                } else {
                    client.write([5, 0])
                }
                guard let head = client.read(exactly: 5) else { return }
                let rest = head[3] == 1 ? 5 : head[3] == 4 ? 17 : Int(head[4]) + 2
                guard let more = client.read(exactly: rest) else { return }
                requests.withLock { $0.append(head + more) }
                client.write(Self.granted)
                client.relay(to: port)
            }
        }

        @Test func namesAreResolvedByTheSelectedSide() async throws {
            let origin = try TestListener(Self.origin)
            let requests = Locked<[[UInt8]]>([])
            let proxy = try proxy(to: origin.port, requests)
            let port = [UInt8(truncatingIfNeeded: origin.port >> 8), UInt8(truncatingIfNeeded: origin.port)]
            for (selected, host) in [
                (Proxy.socks5(proxy.address), "web.test"), (.socks5(proxy.address, resolvesNames: false), "127.0.0.1"),
                (.socks5(proxy.address), "127.0.0.1"),
            ] {
                let request = HTTPRequest(scheme: "http", authority: "\(host):\(origin.port)", path: "/")
                for _ in 0..<2 {
                    let response = try await transport.exchange(request, .by(selected))
                    #expect(response.text == "ok")
                    #expect(response.metrics?.remoteAddress == proxy.address)
                }
            }
            let named: [UInt8] = [5, 1, 0, 3, 8] + Array("web.test".utf8) + port
            let numbered: [UInt8] = [5, 1, 0, 1, 127, 0, 0, 1] + port
            // The side that resolves names is part of the connection policy, so the two settings share no connection.
            #expect(requests.withLock { $0 } == [named, numbered, numbered])
            #expect(transport.isQuiet)
        }

        @Test func unresolvedNameIsAHostFailure() async throws {
            let proxy = try TestProxy { _ in }
            let request = HTTPRequest(scheme: "http", authority: "a..test", path: "/")
            let context = try TransferContext.by(.socks5(proxy.address, resolvesNames: false))
            #expect(await transport.failure(of: request, context)?.code == .cannotResolveHost)
            #expect(proxy.connections == 0)
        }

        @Test func credentialsAreAcceptedOrRefused() async throws {
            let origin = try TestHTTPSServer(certificates.right)
            let requests = Locked<[[UInt8]]>([])
            let proxy = try proxy(to: origin.port, requests, user: "ädä", password: "p:w %41")
            let known = Proxy.socks5(proxy.address, user: "ädä", password: "p:w %41")
            for _ in 0..<3 {
                let response = try await transport.exchange(origin.request("/a", host: "localhost"), .by(known))
                #expect(response.text == "GET /a 0")
            }
            #expect(requests.withLock { $0.count } == 1)
            let wrong = Proxy.socks5(proxy.address, user: "ädä", password: "s3cret!")
            let error = await transport.failure(of: origin.request("/a"), try .by(wrong))
            #expect(error?.code == .proxyFailed)
            #expect(
                error?.reason.hasSuffix(
                    " through \(wrong.displayName) could not be established: the proxy did not accept the credentials."
                ) == true
            )
            #expect(error?.expandedDescription.contains("s3cret") == false)
        }

        @Test func version4TunnelsTLS() async throws {
            let origin = try TestHTTPSServer(certificates.right)
            let users = Locked<[String]>([])
            let proxy = try TestProxy { client in
                guard client.read(exactly: 8) != nil else { return }
                var text: [UInt8] = []
                while text.count(where: { $0 == 0 }) < 2, let byte = client.read(upTo: 1) { text += byte }
                let received = String(decoding: text, as: UTF8.self)
                users.withLock { $0.append(received) }
                client.write([0, 90, 1, 2, 3, 4, 5, 6])
                client.relay(to: origin.port)
            }
            let selected = Proxy.socks4(proxy.address, user: "ada")
            for _ in 0..<2 {
                let response = try await transport.exchange(origin.request("/a", host: "localhost"), .by(selected))
                #expect(response.text == "GET /a 0")
            }
            #expect(users.withLock { $0 } == ["ada\0localhost\0"])
        }

        /// True if localhost has an address of each family, which depends on the system.
        private static let localhostHasBothAddresses: Bool = {
            var hints = addrinfo()
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            var list: UnsafeMutablePointer<addrinfo>?
            guard getaddrinfo("localhost", nil, &hints, &list) == 0 else { return true }
            defer { freeaddrinfo(list) }
            var families: Set<Int32> = []
            var next = list
            while let entry = next {
                families.insert(entry.pointee.ai_family)
                next = entry.pointee.ai_next
            }
            return families.count == 2
        }()

        /// The next address of a host is tried over a new connection to the proxy.
        @Test(.enabled(if: localhostHasBothAddresses, "localhost has one address"))
        func nextAddressIsTriedAfterARefusal() async throws {
            let origin = try TestListener(Self.origin)
            let requests = Locked<[[UInt8]]>([])
            let proxy = try TestProxy { client in
                guard client.read(exactly: 3) != nil, client.write([5, 0]), let head = client.read(exactly: 4),
                    let address = client.read(exactly: head[3] == 4 ? 16 : 4), client.read(exactly: 2) != nil
                else { return }
                let isFirst = requests.withLock { requests in
                    requests.append(address)
                    return requests.count == 1
                }
                guard !isFirst else { return _ = client.write([5, 5, 0, 1, 0, 0, 0, 0, 0, 0]) }
                client.write(Self.granted)
                client.relay(to: origin.port)
            }
            let context = try TransferContext.by(.socks5(proxy.address, resolvesNames: false))
            let request = HTTPRequest(scheme: "http", authority: "localhost:\(origin.port)", path: "/")
            #expect(try await transport.exchange(request, context).text == "ok")
            let loopback: Set<[UInt8]> = [[UInt8](repeating: 0, count: 15) + [1], [127, 0, 0, 1]]
            #expect(Set(requests.withLock { $0 }) == loopback)
            #expect(requests.withLock { $0.count } == 2)
            #expect(proxy.connections == 2)
        }

        @Test func eachAddressIsTriedOnceIfAllAreRefused() async throws {
            let requests = Locked<[[UInt8]]>([])
            let proxy = try TestProxy { client in
                guard client.read(exactly: 3) != nil, client.write([5, 0]), let head = client.read(exactly: 4),
                    let address = client.read(exactly: head[3] == 4 ? 18 : 6)
                else { return }
                requests.withLock { $0.append(address) }
                client.write([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])
            }
            let context = try TransferContext.by(.socks5(proxy.address, resolvesNames: false))
            let request = HTTPRequest(scheme: "http", authority: "localhost:80", path: "/")
            let error = await transport.failure(of: request, context)
            #expect(error?.code == .proxyFailed)
            #expect(error?.reason.hasSuffix("the server refused the connection.") == true)
            let attempted = requests.withLock { $0 }
            #expect(attempted.count == (Self.localhostHasBothAddresses ? 2 : 1))
            #expect(Set(attempted).count == attempted.count)
            #expect(transport.isQuiet)
        }
    }
}
#endif
