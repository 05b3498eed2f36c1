#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

private let late = " could not be established within the connect time-out"

extension EngineTests {
    /// Connections to hosts with several addresses.
    @Suite struct ConnectingTests {
        @Test func secondOfTwoSimultaneousConnectionsIsClosed() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let engine = try Engine.withOneLoop()
                let first = try SilentPort(2)
                let second = try SilentPort(3, port: first.port)
                let (connected, served, left) = (Locked(0), Locked(0), Locked(0))
                let service: TestListener.Service = { descriptor in
                    connected.withLock { $0 += 1 }
                    guard TestListener.readHead(descriptor) != nil else { return left.withLock { $0 += 1 } }
                    served.withLock { $0 += 1 }
                    TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor)
                    TestListener.discardInput(descriptor)
                }
                var connection = ConnectionOptions()
                connection.proxy = .none
                connection.hostAddresses = ["*": [IPAddress(127, 0, 0, 2), IPAddress(127, 0, 0, 3)]]
                let context = TransferContext(timeouts: Timeouts(connect: .seconds(60)), connection: connection)
                let request = HTTPRequest(scheme: "http", authority: "two.test:\(first.port)", path: "/")
                let transport = SocketTransport()
                let task = Task { await transport.result(of: request, context) }
                try await waitUntil("both connection attempts are in progress") { engine.descriptors.count == 2 }
                let gate = LoopGate(engine)
                try await waitUntil("the loop is blocked") { gate.isClosed }
                first.serve(service)
                second.serve(service)
                try await waitUntil("both connections are accepted") { connected.withLock { $0 } == 2 }
                gate.open()
                let response = try await task.value.get()
                try #require(response.text == "ok")
                try await waitUntil("the other connection is closed") { left.withLock { $0 } == 1 }
                try #require(served.withLock { $0 } == 1)
                try #require(engine.descriptors.count == 1)
                withExtendedLifetime((first, second)) {}
                exit(7)
            }
        }

        /// No host answers at 127.0.0.2, and no server listens at 127.0.0.3.
        @Test(
            arguments: [
                ([3], .cannotConnect, " could not be established: connection refused."),
                ([2], .connectTimedOut, "\(late)."),
                ([2, 3], .connectTimedOut, "\(late); the last error was: connection refused."),
                ([3, 2], .connectTimedOut, "\(late); the last error was: connection refused."),
            ] as [([UInt8], SluiceError.Code, String)]
        )
        func errorNamesTheCauseOfTheFailure(_ addresses: [UInt8], _ code: SluiceError.Code, _ words: String)
            async throws
        {
            let silent = try SilentPort(2)
            var connection = ConnectionOptions()
            connection.proxy = .none
            connection.hostAddresses = ["*": addresses.map { IPAddress(127, 0, 0, $0) }]
            // The second attempt begins after a delay, and must fail before the time-out.
            let limit = addresses == [2, 3] ? Duration.seconds(4) : .seconds(1)
            let context = TransferContext(timeouts: Timeouts(connect: limit), connection: connection)
            let authority = "silent.test:\(silent.port)"
            let request = HTTPRequest(scheme: "http", authority: authority, path: "/")
            let transport = SocketTransport()
            let error = await transport.failure(of: request, context)
            #expect(error?.code == code)
            #expect(error?.reason == "The connection to \(authority)\(words)")
            let number: Int32? = addresses.contains(3) ? ECONNREFUSED : nil
            #expect((error?.underlyingError as? SystemError)?.number == number)
            #expect(transport.isQuiet)
            withExtendedLifetime(silent) {}
        }

        /// No connection to a multicast address is possible, as to one of IPv6 on a machine without it.
        @Test(arguments: [["127.0.0.3", "224.0.0.1"], ["224.0.0.1", "127.0.0.3"]])
        func errorNamesTheFailureThatConcernsTheServer(_ addresses: [String]) async throws {
            let silent = try SilentPort(2)
            var connection = ConnectionOptions()
            connection.proxy = .none
            connection.hostAddresses = ["*": try addresses.map { try #require(IPAddress($0)) }]
            let request = HTTPRequest(scheme: "http", authority: "two.test:\(silent.port)", path: "/")
            let error = await SocketTransport().failure(of: request, TransferContext(connection: connection))
            #expect((error?.underlyingError as? SystemError)?.number == ECONNREFUSED)
            withExtendedLifetime(silent) {}
        }

        /// The version of the server is unknown, so all requests wait for one dial. The last of them has to wait for a slot before.
        @Test(.timeLimit(.minutes(1))) func connectTimeoutBeginsWithTheSlotOfACancelledRequest() async throws {
            let silent = try SilentPort(2)
            var connection = ConnectionOptions()
            connection.proxy = .none
            connection.hostAddresses = ["*": [IPAddress(127, 0, 0, 2)]]
            let patient = TransferContext(timeouts: Timeouts(connect: nil), connection: connection)
            let context = TransferContext(timeouts: Timeouts(connect: .seconds(1)), connection: connection)
            let request = HTTPRequest(scheme: "https", authority: "silent.test:\(silent.port)", path: "/")
            let transport = SocketTransport { $0.maximumTransfersPerHost = 2 }
            let first = Task { await transport.failure(of: request, patient) }
            try await waitUntil("a dial is in progress") { transport.pool?.load.connecting == 1 }
            let second = Task { await transport.failure(of: request, patient) }
            try await waitUntil("two requests wait for the dial") { transport.pool?.load.connecting == 2 }
            let last = Task { await transport.failure(of: request, context) }
            try await waitUntil("the last request waits for a slot") { transport.queued == 1 }
            second.cancel()
            #expect(await second.value?.code == .cancelled)
            #expect(await last.value?.code == .connectTimedOut)
            first.cancel()
            #expect(await first.value?.code == .cancelled)
            withExtendedLifetime(silent) {}
        }

        /// A machine of a server that is about to stop accepts connections and ends them.
        @Test(arguments: [[2, 1], [2, 3, 1]] as [[UInt8]])
        func otherAddressesAreTriedAfterALostHandshake(_ addresses: [UInt8]) async throws {
            let certificates = try TestCertificates.shared.get()
            let tls = try TestTLSServer(certificates.right)
            let server = try TestListener { descriptor in
                tls.serve(descriptor) { connection in
                    while connection.isOpen, connection.read() != nil {
                        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    }
                }
            }
            let dying = try TestListener(2, port: server.port) { descriptor in
                var byte: UInt8 = 0
                recv(descriptor, &byte, 1, 0)
            }
            var connection = ConnectionOptions()
            connection.proxy = .none
            connection.hostAddresses = ["*": addresses.map { IPAddress(127, 0, 0, $0) }]
            connection.tls = TLSConfiguration(trust: .only(certificates.root.source))
            let request = HTTPRequest(scheme: "https", authority: "localhost:\(server.port)", path: "/")
            let transport = SocketTransport()
            let response = try await transport.exchange(request, TransferContext(connection: connection))
            #expect(response.text == "ok")
            // Without another address, the failure is that of the handshake.
            connection.hostAddresses = ["*": [IPAddress(127, 0, 0, 2), IPAddress(127, 0, 0, 3)]]
            let error = await SocketTransport().failure(of: request, TransferContext(connection: connection))
            #expect(error?.code == .connectionLost)
            #expect(error?.reason.contains("was lost during the TLS handshake") == true)
            // Later connections try the address last.
            let before = dying.connections
            let resolver = Resolver(lookUp: { _ in
                .success(addresses.map { ScopedAddress(IPAddress(127, 0, 0, $0)) })
            })
            connection.hostAddresses = [:]
            for _ in 0..<3 {
                let transport = SocketTransport(resolver: resolver)
                _ = try await transport.exchange(request, TransferContext(connection: connection))
            }
            #expect(dying.connections <= before + 1)
        }

        /// The server has moved. Its former address refuses connections, or no longer answers.
        @Test(arguments: [false, true])
        func outdatedAddressesAreLookedUpAgain(isSilent: Bool) async throws {
            let server = try TestListener { descriptor in
                while TestListener.readHead(descriptor) != nil {
                    TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor)
                }
            }
            let former = isSilent ? try SilentPort(2, port: server.port) : nil
            let lookUps = Locked(0)
            let resolver = Resolver(lookUp: { _ in
                let count = lookUps.withLock { count in
                    count += 1
                    return count
                }
                return .success([ScopedAddress(IPAddress(127, 0, 0, count == 1 ? 2 : 1))])
            })
            await withCheckedContinuation { continuation in
                let resolution = resolver.resolve("moved.test", port: 80) { _ in continuation.resume() }
                if case .answer = resolution { continuation.resume() }
            }
            var connection = ConnectionOptions()
            connection.proxy = .none
            let request = HTTPRequest(scheme: "http", authority: "moved.test:\(server.port)", path: "/")
            for _ in 0..<2 {
                let transport = SocketTransport(resolver: resolver)
                #expect(try await transport.exchange(request, TransferContext(connection: connection)).text == "ok")
            }
            #expect(lookUps.withLock { $0 } == 2)
            withExtendedLifetime(former) {}
        }

        private final class Witness: Sendable {
            private let hasEnded: Locked<Bool>

            init(_ hasEnded: Locked<Bool>) {
                self.hasEnded = hasEnded
            }

            deinit {
                hasEnded.withLock { $0 = true }
            }
        }

        @Test func closuresOfARequestThatIsCancelledWhileItConnectsEnd() async throws {
            let silent = try SilentPort(2)
            let transport = SocketTransport()
            let hasEnded = Locked(false)
            do {
                let witness = Witness(hasEnded)
                var connection = ConnectionOptions()
                connection.proxy = .none
                connection.hostAddresses = ["*": [IPAddress(127, 0, 0, 2)]]
                connection.tls.onReload = { _ in withExtendedLifetime(witness) {} }
                let request = HTTPRequest(scheme: "http", authority: "silent.test:\(silent.port)", path: "/")
                let context = TransferContext(connection: connection)
                let task = Task { await transport.result(of: request, context) }
                try await waitUntil("the request connects") { transport.pool?.load.connecting == 1 }
                task.cancel()
                #expect(await task.value.error?.code == .cancelled)
            }
            try await waitUntil("the closure has ended") { hasEnded.withLock { $0 } }
            withExtendedLifetime(silent) {}
        }

        /// The refused attempt reports an end, which is not that of the connection to the other address.
        @Test func connectionIsKeptAfterAnotherAddressWasRefused() async throws {
            let server = try TestListener { descriptor in
                while TestListener.readHead(descriptor) != nil {
                    TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor)
                }
            }
            var connection = ConnectionOptions()
            connection.proxy = .none
            connection.hostAddresses = ["*": [IPAddress(127, 0, 0, 3), IPAddress(127, 0, 0, 1)]]
            let request = HTTPRequest(scheme: "http", authority: "two.test:\(server.port)", path: "/")
            let transport = SocketTransport()
            for _ in 0..<3 {
                let response = try await transport.exchange(request, TransferContext(connection: connection))
                #expect(response.text == "ok")
            }
            #expect(server.connections == 1)
        }
    }
}
#endif
