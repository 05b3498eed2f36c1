#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// TLS inside TLS, as for an origin behind an https proxy.
@Suite struct NestedTLSTests {
    private let certificates: TestCertificates
    private let context: TLSContext

    init() throws {
        certificates = try TestCertificates.shared.get()
        let tls = TLSConfiguration(trust: .only(certificates.root.source))
        context = try TLSContext.context(for: tls, offering: [])
    }

    /// Returns a stream whose outer handshake is complete, to a server that runs a script inside.
    private func client(
        _ certificate: TestCertificate? = nil,
        receiveBuffer: Int32? = nil,
        _ script: @escaping TestTLSServer.Script = { $0.echo() }
    ) throws -> (TestTLSClient, TLSStream) {
        var options = TestTLSServer.Options(certificates.right)
        options.receiveBuffer = receiveBuffer
        let server = try TestTLSServer(options)
        let inner = try TestTLSServer(certificate ?? certificates.right)
        let outer = try TestTLSClient(
            context,
            server.connect { connection in
                if connection.isOpen { inner.serve(within: connection, script) }
            }
        )
        #expect(outer.handshake() == nil)
        let stream = try TLSStream(
            context,
            descriptor: outer.socket.descriptor,
            within: outer.stream,
            host: "localhost",
            port: 443,
            pins: nil
        )
        return (TestTLSClient(outer.socket, stream), outer.stream)
    }

    @Test func bytesAreSentAndReceived() throws {
        let (client, _) = try client()
        #expect(client.handshake() == nil)
        for text in ["a", "hello", String(repeating: "0123456789", count: 5000)] {
            #expect(client.answer(to: text) == text)
        }
        #expect(!client.stream.hasPendingInput)
        client.stream.close()
        #expect(client.read().0 == .closed(isClean: true))
    }

    @Test func innerServerIsVerified() throws {
        for (certificate, check) in [
            (certificates.untrusted, TLSFailure.Check.authority), (certificates.wrongName, .hostName),
        ] {
            let (client, _) = try client(certificate)
            let error = try #require(client.handshake())
            #expect(error.code == .tlsFailed)
            #expect((error.underlyingError as? TLSFailure)?.check == check)
        }
    }

    @Test(arguments: [1, 100, 16_384, 65_536, 1_000_000])
    func largeBodyIsReadInPiecesOfAnySize(_ room: Int) throws {
        let size = room == 1 ? 20_000 : 1_000_000
        let (client, _) = try client { connection in
            connection.write((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 17) })
            connection.shutdown()
        }
        #expect(client.handshake() == nil)
        var bytes: [UInt8] = []
        var end = TLSStream.Transfer.wantsRead
        while true {
            // Bytes in either stream are pending, even if the socket is empty.
            let (result, piece) = client.read(room)
            guard case .bytes = result else {
                end = result
                break
            }
            bytes += piece
        }
        #expect(end == .closed(isClean: true))
        #expect(bytes == (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 17) })
    }

    @Test func bytesOfTheOuterStreamArePending() throws {
        let written = DispatchSemaphore(value: 0)
        let (client, outer) = try client { connection in
            // More than the inner stream reads from the outer one at a time.
            for _ in 0..<10 { connection.write([UInt8](repeating: 1, count: 10_000)) }
            written.signal()
            _ = connection.read()
        }
        #expect(client.handshake() == nil)
        written.wait()
        var total = 0
        var pending = 0
        while total < 100_000 {
            let (result, bytes) = client.read(700)
            guard case .bytes(1...) = result else {
                Issue.record("\(result) after \(total) bytes")
                return
            }
            total += bytes.count
            guard outer.hasPendingInput else { continue }
            pending += 1
            #expect(client.stream.hasPendingInput)
        }
        #expect(pending > 0)
        client.stream.close()
    }

    @Test func writeCanContinueFromAnotherBuffer() throws {
        let size = 2_000_000
        let received = Locked<[UInt8]>([])
        let (client, _) = try client(receiveBuffer: 4096) { connection in
            var bytes: [UInt8] = []
            while bytes.count < size, let piece = connection.read() { bytes += piece }
            let all = bytes
            received.withLock { $0 = all }
        }
        #expect(client.handshake() == nil)
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        var sent = 0
        var waits = 0
        while sent < size {
            let rest = Array(body[sent..<min(size, sent + 40_000)])
            switch rest.withUnsafeBytes({ client.stream.write($0) }) {
            case .bytes(let count): sent += count
            case .wantsWrite:
                waits += 1
                guard client.socket.wait(POLLOUT) else {
                    Issue.record("The server reads no more after \(sent) bytes.")
                    return
                }
            case let other:
                Issue.record("\(other)")
                return
            }
        }
        client.socket.waitForServer()
        #expect(waits > 0)
        #expect(received.withLock { $0 == body })
    }

    /// The end of the outer stream does not end the inner one cleanly.
    @Test(arguments: [true, false])
    func endOfTheOuterStreamIsNotClean(_ isClean: Bool) throws {
        let (client, _) = try client { connection in
            connection.write("hello")
            // Only the outer stream ends with its alert.
            if isClean, let outer = connection.outer { SSL_shutdown(outer) }
        }
        #expect(client.handshake() == nil)
        #expect(client.read().1 == Array("hello".utf8))
        for _ in 0..<2 { #expect(client.read().0 == .closed(isClean: false)) }
        client.stream.close()
    }
}
#endif
