#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct TLSTransferTests {
    private let certificates: TestCertificates
    private let context: TLSContext

    init() throws {
        certificates = try TestCertificates.shared.get()
        let tls = TLSConfiguration(trust: .only(certificates.root.source))
        context = try TLSContext.context(for: tls, offering: [])
    }

    private func client(
        _ options: TestTLSServer.Options? = nil,
        _ script: @escaping TestTLSServer.Script = { $0.echo() }
    ) throws -> TestTLSClient {
        let server = try TestTLSServer(options ?? TestTLSServer.Options(certificates.right))
        let client = try TestTLSClient(context, server.connect(script))
        #expect(client.handshake() == nil)
        return client
    }

    @Test(arguments: [true, false])
    func endIsCleanOnlyWithCloseNotify(_ isClean: Bool) throws {
        let client = try client { connection in
            connection.write("hello")
            if isClean { connection.shutdown() }
        }
        client.socket.waitForServer()
        #expect(client.read().1 == Array("hello".utf8))
        for _ in 0..<2 { #expect(client.read().0 == .closed(isClean: isClean)) }
        client.stream.close()
    }

    @Test func endIsReportedAfterAllBytes() throws {
        let client = try client { connection in
            for _ in 0..<4 { connection.write([UInt8](repeating: 7, count: 16_384)) }
        }
        var count = 0
        while case (.bytes(let piece), _) = client.read(100_000) { count += piece }
        #expect(count == 65_536)
        #expect(client.stream.hasPendingInput)
        #expect(client.read().0 == .closed(isClean: false))
    }

    @Test func endDuringTheHandshakeIsALostConnection() throws {
        for bytes in [[], [0x16, 3, 3], Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)] as [[UInt8]] {
            let socket = try TestTLSSocket { descriptor in
                var room = [UInt8](repeating: 0, count: 4096)
                _ = read(descriptor, &room, room.count)
                _ = write(descriptor, bytes, bytes.count)
            }
            let error = try #require(TestTLSClient(context, socket).handshake())
            if bytes.count > 5 {
                let failure = try #require(error.underlyingError as? TLSFailure)
                #expect(error.code == .tlsFailed)
                #expect(failure.check == .handshake)
                #expect(failure.detail == "wrong version number")
            } else {
                #expect(error.code == .connectionLost, "\(error)")
            }
        }
    }

    @Test func writingToAClosedConnectionRaisesNoSignal() throws {
        var pipe = sigset_t()
        var before = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let client = try client { _ in }
        client.socket.waitForServer()
        var result = client.write("hello")
        if case .bytes = result { result = client.write("hello") }
        #expect(result == .failed(errno: EPIPE))
        client.stream.close()
        client.stream.close()
        var pending = sigset_t()
        sigpending(&pending)
        #expect(sigismember(&pending, SIGPIPE) == 0)
        // The end of the stream can still be read.
        #expect(client.read().0 == .closed(isClean: false))
    }

    @Test func responseCanBeReadAfterAFailedWrite() throws {
        let client = try client { connection in
            connection.write("too large")
            connection.shutdown()
        }
        client.socket.waitForServer()
        #expect(client.write("more") == .failed(errno: EPIPE))
        #expect(client.read().1 == Array("too large".utf8))
        #expect(client.read().0 == .closed(isClean: true))
    }

    @Test func closingSendsCloseNotify() throws {
        let isClean = Locked(false)
        let client = try client { connection in
            var byte: UInt8 = 0
            let result = SSL_read(connection.ssl, &byte, 1)
            let error = SSL_get_error(connection.ssl, result)
            isClean.withLock { $0 = error == SSL_ERROR_ZERO_RETURN }
        }
        client.stream.close()
        client.stream.close()
        client.socket.waitForServer()
        #expect(isClean.withLock { $0 })
    }

    @Test func failureOfOneConnectionDoesNotAffectAnother() throws {
        let intact = try client()
        let untrusted = try TestTLSServer(certificates.untrusted)
        let broken = try client { connection in
            // A record that is not encrypted.
            let record: [UInt8] = [0x17, 3, 3, 0, 32] + [UInt8](repeating: 1, count: 32)
            _ = write(connection.descriptor, record, record.count)
        }
        for _ in 0..<3 {
            #expect(try TestTLSClient(context, untrusted.connect()).handshake()?.code == .tlsFailed)
            // An unrelated error in the error queue of this thread.
            OpenSSLError.leave(SSL_R_UNEXPECTED_EOF_WHILE_READING)
            var bytes = [UInt8](repeating: 0, count: 16)
            #expect(bytes.withUnsafeMutableBytes { intact.stream.read(into: $0) } == .wantsRead)
            #expect(intact.answer(to: "hello") == "hello")
        }
        for _ in 0..<2 {
            #expect(broken.read().0 == .failed(errno: 0))
            #expect(broken.stream.failureDetail == "decryption failed or bad record mac")
            #expect(broken.stream.failure == nil)
            #expect(broken.write("a") == .failed(errno: 0))
            broken.stream.close()
            #expect(intact.answer(to: "hello") == "hello")
        }
    }

    @Test func writeCanContinueFromAnotherBuffer() throws {
        let size = 3_000_000
        var options = TestTLSServer.Options(certificates.right)
        options.receiveBuffer = 4096
        let received = Locked<[UInt8]>([])
        // The server reads once the client has had to wait. Otherwise, it could read as fast as the client writes.
        let mayRead = DispatchSemaphore(value: 0)
        defer { mayRead.signal() }
        let client = try client(options) { connection in
            mayRead.wait()
            var bytes: [UInt8] = []
            while bytes.count < size, let piece = connection.read() { bytes += piece }
            let all = bytes
            received.withLock { $0 = all }
        }
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        var sent = 0
        var waits = 0
        while sent < size {
            // A new array each time, so that the bytes have another address.
            let rest = Array(body[sent..<min(size, sent + 40_000)])
            switch rest.withUnsafeBytes({ client.stream.write($0) }) {
            case .bytes(let count): sent += count
            case .wantsWrite:
                waits += 1
                mayRead.signal()
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

    @Test(arguments: [1, 100, 16_384, 65_536, 1_000_000])
    func largeBodyIsReadInPiecesOfAnySize(_ room: Int) throws {
        let size = room == 1 ? 20_000 : 1_000_000
        let client = try client { connection in
            connection.write((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 17) })
            connection.shutdown()
        }
        var bytes: [UInt8] = []
        var end = TLSStream.Transfer.wantsRead
        while true {
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

    @Test func emptyBuffersTransferNothing() throws {
        let client = try client()
        #expect(client.stream.read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) == .bytes(0))
        #expect(client.stream.write(UnsafeRawBufferPointer(start: nil, count: 0)) == .bytes(0))
        #expect(client.answer(to: "hello") == "hello")
        #expect(!client.stream.hasPendingInput)
    }

    @Test func bytesThatWereReadAheadCanBeRead() throws {
        let written = DispatchSemaphore(value: 0)
        let client = try client { connection in
            for _ in 0..<10 { connection.write("0123456789") }
            written.signal()
            _ = connection.read()
        }
        written.wait()
        var received: [UInt8] = []
        while received.count < 100 {
            let (result, bytes) = client.read(19)
            guard case .bytes(1...) = result else {
                Issue.record("\(result) after \(received.count) bytes")
                return
            }
            received += bytes
            // The first read has emptied the socket.
            #expect(client.stream.hasPendingInput == (received.count < 100))
        }
        #expect(received == (0..<10).flatMap { _ in Array("0123456789".utf8) })
        client.stream.close()
    }

    @Test func endlessTicketsFailTheConnection() throws {
        let client = try client { connection in
            // OpenSSL does not report a closed connection while it writes tickets.
            for _ in 0..<1000 {
                guard SSL_new_session_ticket(connection.ssl) == 1, SSL_do_handshake(connection.ssl) == 1 else { return }
            }
        }
        #expect(client.read().0 == .failed(errno: 0))
        #expect(client.stream.failureDetail == "the server sent too many TLS messages")
        #expect(client.write("a") == .failed(errno: 0))
    }

    @Test func keyUpdatesBetweenBytesFailTheConnection() throws {
        let client = try client { connection in
            for _ in 0..<1000 {
                for _ in 0..<100 {
                    guard SSL_key_update(connection.ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1,
                        SSL_do_handshake(connection.ssl) == 1
                    else { return }
                }
                guard connection.write([0x61]) else { return }
            }
        }
        var received = 0
        while case (.bytes(let count), _) = client.read(), count > 0 { received += count }
        #expect(received < 100)
        #expect(client.read().0 == .failed(errno: 0))
        #expect(client.stream.failureDetail == "the server sent too many TLS messages")
    }

    /// OpenSSL answers a KeyUpdate (RFC 8446 §4.6.3) with the next write, so a read does not wait for output.
    @Test func keyUpdateIsReadWhileTheSocketAcceptsNoOutput() throws {
        let (mayUpdate, mayRead) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let body = [UInt8](repeating: 7, count: 100_000)
        let received = Locked(0)
        let client = try client { connection in
            mayUpdate.wait()
            _ = SSL_key_update(connection.ssl, SSL_KEY_UPDATE_REQUESTED)
            _ = SSL_do_handshake(connection.ssl)
            connection.write("after")
            mayRead.wait()
            while let piece = connection.read() { received.withLock { $0 += piece.count } }
        }
        #expect(body.withUnsafeBytes { client.stream.write($0) } == .bytes(body.count))
        // The socket holds more than this already.
        var least: Int32 = 1
        setsockopt(client.socket.descriptor, SOL_SOCKET, SO_SNDBUF, &least, socklen_t(MemoryLayout<Int32>.size))
        #expect(send(client.socket.descriptor, &least, 1, 0) == -1 && errno == EAGAIN)
        mayUpdate.signal()
        #expect(client.read().1 == Array("after".utf8))
        #expect(body.withUnsafeBytes { client.stream.write($0) } == .wantsWrite)
        mayRead.signal()
        var sent = 0
        while sent < body.count {
            switch body[sent...].withUnsafeBytes({ client.stream.write($0) }) {
            case .bytes(let count): sent += count
            case .wantsWrite: #expect(client.socket.wait(POLLOUT))
            case let other:
                Issue.record("\(other)")
                return
            }
        }
        client.stream.close()
        // The close_notify alert is not sent if the socket accepts no output now.
        shutdown(client.socket.descriptor, Int32(SHUT_WR))
        client.socket.waitForServer()
        #expect(received.withLock { $0 } == 2 * body.count)
    }

    @Test func recordsOfOneByteAreRead() throws {
        let client = try client { connection in
            for _ in 0..<5000 { guard connection.write([0x61]) else { return } }
        }
        var received = 0
        while received < 5000, case (.bytes(let count), _) = client.read() { received += count }
        #expect(received == 5000)
    }

    /// The server could choose a group that takes the client a second.
    @Test func noCipherUsesAGroupOfTheServer() throws {
        let client = try client()
        let ciphers = SSL_get_ciphers(client.stream.connection)
        var names: [String] = []
        for index in 0..<sluice_tls_cipher_count(ciphers) {
            names.append(String(cString: SSL_CIPHER_get_name(sluice_tls_cipher(ciphers, index))))
        }
        #expect(names.contains("ECDHE-RSA-AES256-GCM-SHA384"))
        #expect(names.contains("TLS_AES_256_GCM_SHA384"))
        #expect(!names.contains { $0.hasPrefix("DHE-") })
        client.stream.close()
    }

    @Test func contextCanBeUsedOnManyThreads() throws {
        let server = try TestTLSServer(certificates.right)
        let answers = Locked(0)
        let context = context
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<10 {
                guard let client = try? TestTLSClient(context, server.connect()), client.handshake() == nil,
                    client.answer(to: "hello") == "hello"
                else { return }
                answers.withLock { $0 += 1 }
            }
        }
        #expect(answers.withLock(\.self) == 80)
    }
}
#endif
