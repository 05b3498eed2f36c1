#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Cookies on the wire.
    @Suite struct CookieTransferTests {
        private let server: LoopbackServer
        private let transport = SocketTransport()
        private let jar = CookieJar()
        private var context: TransferContext { TransferContext(cookies: jar) }

        init() throws {
            server = try LoopbackServer()
            server.on("/ok", .text("ok"))
            server.on("/set", .text("", headers: ["Set-Cookie": "a=1; Path=/", "set-cookie": "B=2; Path=/ok"]))
        }

        private func sent(_ path: String = "/ok") -> [[String]] {
            server.requests(to: path).map { $0.headers.values(for: .cookie) }
        }

        @Test func cookiesOfAResponseAreSentWithLaterRequests() async throws {
            _ = try await transport.exchange(server.request("/set"), context)
            _ = try await transport.exchange(server.request("/ok"), context)
            _ = try await transport.exchange(server.request("/ok"))
            #expect(sent() == [["B=2; a=1"], []])
            #expect(transport.hasIdle)
            #expect(await jar.cookies.map(\.name) == ["a", "B"])
        }

        @Test(arguments: [301, 401, 404, 500] as [HTTPStatus])
        func responsesOfEveryStatusSetCookies(_ status: HTTPStatus) async throws {
            server.on("/status", .status(status, headers: ["Set-Cookie": "a=1; Path=/", "Location": "/ok"]))
            _ = try await transport.exchange(server.request("/status"), context)
            _ = try await transport.exchange(server.request("/ok"), context)
            #expect(sent() == [["a=1"]])
        }

        @Test func informationalResponsesSetNoCookies() async throws {
            server.on("/hints", .informational(103, headers: ["Set-Cookie": "a=1; Path=/"], then: .text("ok")))
            _ = try await transport.exchange(server.request("/hints"), context)
            #expect(await jar.cookies.isEmpty)
        }

        @Test func cookiesOf417AreSentWithTheSecondAttempt() async throws {
            let heads = Locked<[String]>([])
            let listener = try TestListener { descriptor in
                while let head = TestListener.readHead(descriptor) {
                    let isFirst = heads.withLock { heads in
                        heads.append(head)
                        return heads.count == 1
                    }
                    if isFirst {
                        TestListener.write(
                            "HTTP/1.1 417 No\r\nSet-Cookie: a=1; Path=/\r\nContent-Length: 0\r\n\r\n",
                            to: descriptor
                        )
                        return
                    }
                    var byte: UInt8 = 0
                    guard recv(descriptor, &byte, 1, 0) == 1 else { return }
                    TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", to: descriptor)
                }
            }
            let request = listener.request(
                method: .put,
                headers: ["Expect": "100-continue"],
                body: .data(Data("x".utf8))
            )
            #expect(try await transport.exchange(request, context).status == .ok)
            let seen = heads.withLock { $0 }
            #expect(seen.map { $0.contains("\r\nCookie: a=1\r\n") } == [false, true])
        }

        @Test func retryAfterALostConnectionHasTheCookieField() async throws {
            server.on("/again", .drop, .text("again"))
            _ = try await transport.exchange(server.request("/set"), context)
            #expect(try await transport.exchange(server.request("/again"), context).text == "again")
            #expect(sent("/again") == [["a=1"], ["a=1"]])
        }

        @Test func requestWithItsOwnCookieFieldBypassesTheJar() async throws {
            try await jar.set(Cookie(name: "jar", value: "1", domain: "127.0.0.1"))
            for own in ["own=1", ""] {
                _ = try await transport.exchange(server.request("/set", headers: ["cookie": own]), context)
            }
            #expect(sent("/set") == [["own=1"], [""]])
            #expect(await jar.cookies.map(\.name) == ["jar"])
        }

        @Test func bytesThatAreNotUTF8AreSentUnchanged() async throws {
            let head = Data("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: n".utf8)
            let bytes: [UInt8] = [0xE4, 0x3D, 0xFF, 0x09, 0x80]
            server.on("/bytes", .raw(head + bytes + Data("; Path=/\r\n\r\n".utf8), thenClose: false))
            _ = try await transport.exchange(server.request("/bytes"), context)
            _ = try await transport.exchange(server.request("/ok"), context)
            let fields = server.requests(to: "/ok").flatMap { $0.headers.fieldValues(for: .cookie) }
            #expect(fields.map(\.bytes) == [Array("n".utf8) + bytes])
        }

        @Test func loopbackHostGetsSecureCookiesOverHTTP() async throws {
            server.on("/secure", .text("", headers: ["Set-Cookie": "__Host-s=1; Secure; Path=/"]))
            _ = try await transport.exchange(server.request("/secure"), context)
            _ = try await transport.exchange(server.request("/ok"), context)
            #expect(sent() == [["__Host-s=1"]])
        }

        /// The proxy may be on another computer, so the path to it is not secure.
        @Test func loopbackHostBehindAProxyGetsNoSecureCookiesOverHTTP() async throws {
            let heads = Locked<[String]>([])
            let fields = "Set-Cookie: __Host-s=2; Secure; Path=/\r\nSet-Cookie: a=1\r\nContent-Length: 0"
            let proxy = try TestProxy { client in
                while let head = client.readHead() {
                    heads.withLock { $0.append(head) }
                    client.write("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n")
                }
            }
            var context = context
            context.connection.proxy = .always(.http(proxy.address))
            server.on("/secure", .text("", headers: ["Set-Cookie": "__Host-s=1; Secure; Path=/"]))
            _ = try await transport.exchange(server.request("/secure"), self.context)
            for _ in 0..<2 { _ = try await transport.exchange(server.request("/ok"), context) }
            #expect(heads.withLock { $0.map { $0.contains("__Host-s") } } == [false, false])
            #expect(heads.withLock { $0.last?.contains("Cookie: a=1\r\n") } == true)
            _ = try await transport.exchange(server.request("/ok"), self.context)
            #expect(sent().last?.first?.contains("__Host-s=1") == true)
        }

        @Test func twoTransportsShareAJar() async throws {
            _ = try await SocketTransport().exchange(server.request("/set"), context)
            _ = try await transport.exchange(server.request("/ok"), context)
            #expect(sent() == [["B=2; a=1"]])
        }

        /// Tested with an async request, and with one that uses a callback.
        @Test(arguments: [false, true])
        func cookieFileIsLoadedBeforeTheFirstRequest(_ usesCallback: Bool) async throws {
            let path = FileManager.default.temporaryDirectory.appending(path: "sluice-cookies-\(UUID().uuidString)")
                .path
            defer { try? FileManager.default.removeItem(atPath: path) }
            try Data("127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n".utf8).write(to: URL(filePath: path))
            let context = TransferContext(cookies: CookieJar(file: path))
            let request = server.request("/ok")
            if usesCallback {
                let response = await withUnsafeContinuation { continuation in
                    _ = transport.begin(request, context: context) { continuation.resume(returning: $0) }
                }
                #expect(try response.get().head.status == .ok)
            } else {
                _ = try await transport.exchange(request, context)
            }
            #expect(sent() == [["a=1"]])
        }

        @Test func requestsSucceedAfterTenThousandCookies() async throws {
            server.on("/many") { request in
                let first = Int(request.query ?? "") ?? 0
                let fields = (first..<first + 50).map { (HTTPHeaderName.setCookie, "n\($0)=1; Path=/") }
                return .text("", headers: HTTPHeaders(fields))
            }
            for first in stride(from: 0, to: 10_000, by: 50) {
                _ = try await transport.exchange(server.request("/many?\(first)"), context)
            }
            let names = await jar.cookies.map(\.name)
            #expect(names.count == CookieTable.Limits().domain)
            #expect(names.contains("n9999"))
            #expect(transport.isQuiet)
        }
    }
}
#endif
