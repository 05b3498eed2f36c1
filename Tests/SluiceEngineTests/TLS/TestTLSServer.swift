#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP

@testable import SluiceEngine

/// An OpenSSL server that serves each connection on a separate thread.
final class TestTLSServer: Sendable {
    struct Options {
        var certificate: TestCertificate
        var chain: [TestCertificate] = []
        var versions = TLS1_2_VERSION...TLS1_3_VERSION
        /// The issuer of accepted client certificates; nil to request none.
        var clientAuthority: TestCertificate?
        /// True to request the client certificate after the handshake of TLS 1.3.
        var requestsCertificateLater = false
        var tickets = 2
        var receiveBuffer: Int32?
        var prefersHTTP2 = false
        /// Refuses handshakes in which the client offers only other protocols than HTTP/1.1.
        var requiresHTTP1 = false

        init(_ certificate: TestCertificate) {
            self.certificate = certificate
        }
    }

    typealias Script = @Sendable (TestTLSConnection) -> Void

    /// An SSL_CTX.
    private let address: UInt
    private let receiveBuffer: Int32?

    convenience init(_ certificate: TestCertificate) throws { try self.init(Options(certificate)) }

    init(_ options: Options) throws {
        guard let context = SSL_CTX_new(TLS_server_method()) else {
            throw TestCertificate.Failure(reason: "no context")
        }
        address = UInt(bitPattern: context)
        receiveBuffer = options.receiveBuffer
        let certificate = try options.certificate.parsed()
        defer { X509_free(certificate) }
        let key = try options.certificate.parsedKey()
        defer { EVP_PKEY_free(key) }
        SSL_CTX_use_certificate(context, certificate)
        SSL_CTX_use_PrivateKey(context, key)
        for authority in options.chain {
            let certificate = try authority.parsed()
            sluice_tls_add_chain_certificate(context, certificate)
            X509_free(certificate)
        }
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(options.versions.lowerBound), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(options.versions.upperBound), nil)
        if options.versions.upperBound < TLS1_2_VERSION { SSL_CTX_set_cipher_list(context, "DEFAULT@SECLEVEL=0") }
        SSL_CTX_set_num_tickets(context, options.tickets)
        SSL_CTX_set_session_id_context(context, [1], 1)
        if let authority = options.clientAuthority {
            let certificate = try authority.parsed()
            X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate)
            X509_free(certificate)
            let later = options.requestsCertificateLater ? SSL_VERIFY_POST_HANDSHAKE : 0
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT | later, nil)
        }
        let newest: SSL_CTX_alpn_select_cb_func = { _, selected, count, offered, offeredCount, _ in
            TestTLSServer.select(from: "\u{02}h2\u{08}http/1.1", selected, count, offered, offeredCount)
        }
        let oldest: SSL_CTX_alpn_select_cb_func = { _, selected, count, offered, offeredCount, _ in
            TestTLSServer.select(from: "\u{08}http/1.1\u{02}h2", selected, count, offered, offeredCount)
        }
        let only: SSL_CTX_alpn_select_cb_func = { _, selected, count, offered, offeredCount, _ in
            let result = TestTLSServer.select(from: "\u{08}http/1.1", selected, count, offered, offeredCount)
            return result == SSL_TLSEXT_ERR_OK ? result : SSL_TLSEXT_ERR_ALERT_FATAL
        }
        let callback = options.prefersHTTP2 ? newest : options.requiresHTTP1 ? only : oldest
        SSL_CTX_set_alpn_select_cb(context, callback, nil)
    }

    /// Selects the first protocol of the server that the client offers.
    private static func select(
        from own: StaticString,
        _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
        _ count: UnsafeMutablePointer<UInt8>?,
        _ offered: UnsafePointer<UInt8>?,
        _ offeredCount: UInt32
    ) -> Int32 {
        var start: UnsafeMutablePointer<UInt8>?
        let result = SSL_select_next_proto(
            &start,
            count,
            own.utf8Start,
            UInt32(own.utf8CodeUnitCount),
            offered,
            offeredCount
        )
        selected?.pointee = UnsafePointer(start)
        return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK
    }

    deinit { SSL_CTX_free(OpaquePointer(bitPattern: address)) }

    /// Connects to the server. It runs a script after the handshake, also after a failed one.
    func connect(_ script: @escaping Script = { $0.echo() }) throws -> TestTLSSocket {
        try TestTLSSocket(receiveBuffer: receiveBuffer) { [self] descriptor in serve(descriptor, script) }
    }

    /// Serves a blocking socket on this thread: the handshake, and then a script.
    func serve(_ descriptor: Int32, _ script: Script) {
        guard let ssl = SSL_new(OpaquePointer(bitPattern: address)) else { return }
        SSL_set_fd(ssl, descriptor)
        let connection = TestTLSConnection(ssl, descriptor, isOpen: SSL_accept(ssl) == 1)
        script(connection)
        SSL_free(ssl)
    }

    /// Serves a client inside a connection of another server: the handshake, and then a script.
    func serve(within outer: TestTLSConnection, _ script: Script) {
        guard let ssl = SSL_new(OpaquePointer(bitPattern: address)), let bio = BIO_new(BIO_f_ssl()) else { return }
        BIO_ctrl(bio, BIO_C_SET_SSL, Int(BIO_NOCLOSE), UnsafeMutableRawPointer(outer.ssl))
        SSL_set_bio(ssl, bio, bio)
        let isOpen = SSL_accept(ssl) == 1
        script(TestTLSConnection(ssl, outer.descriptor, isOpen: isOpen, outer: outer.ssl))
        SSL_free(ssl)
    }
}

/// The client's end of a socket pair. A thread serves the other end.
final class TestTLSSocket {
    /// The descriptor, in non-blocking mode.
    let descriptor: Int32
    private let served: DispatchSemaphore

    init(receiveBuffer: Int32? = nil, _ serve: @escaping @Sendable (Int32) -> Void) throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw TestCertificate.Failure(reason: "no sockets")
        }
        let (own, other) = (ends[0], ends[1])
        descriptor = own
        _ = fcntl(own, F_SETFL, O_NONBLOCK)
        if var size = receiveBuffer {
            for end in ends {
                setsockopt(end, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
                setsockopt(end, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            }
        }
        let served = DispatchSemaphore(value: 0)
        self.served = served
        Thread.detachNewThread {
            var pipe = sigset_t()
            sigemptyset(&pipe)
            sigaddset(&pipe, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &pipe, nil)
            serve(other)
            Foundation.close(other)
            served.signal()
        }
    }

    /// Waits until the server's thread has closed its end.
    func waitForServer() {
        served.wait()
        served.signal()
    }

    /// Waits until the socket is ready; false after ten seconds.
    func wait(_ events: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return poll(&request, 1, 10_000) == 1
    }

    deinit {
        Foundation.close(descriptor)
        served.wait()
        served.signal()
    }
}

/// A connection on the server side, on its own thread.
struct TestTLSConnection {
    let ssl: OpaquePointer
    let descriptor: Int32
    let isOpen: Bool
    /// The TLS connection that carries this one; nil for none.
    let outer: OpaquePointer?

    init(_ ssl: OpaquePointer, _ descriptor: Int32, isOpen: Bool, outer: OpaquePointer? = nil) {
        self.ssl = ssl
        self.descriptor = descriptor
        self.isOpen = isOpen
        self.outer = outer
    }

    func read(_ count: Int = 16_384) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = SSL_read(ssl, &bytes, Int32(count))
        return result > 0 ? Array(bytes.prefix(Int(result))) : nil
    }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        bytes.isEmpty || SSL_write(ssl, bytes, Int32(bytes.count)) == bytes.count
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    /// True if both sides have negotiated HTTP/2.
    var usesHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        return UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual("h2".utf8)
    }

    /// Sends close_notify.
    func shutdown() { SSL_shutdown(ssl) }

    /// Writes the bytes that it reads, until the client closes.
    func echo() {
        guard isOpen else { return }
        while let bytes = read() { if !write(bytes) { return } }
        shutdown()
    }
}

extension OpenSSLError {
    /// Adds a TLS error to the error queue of this thread.
    static func leave(_ reason: Int32) {
        ERR_new()
        withVaList([]) { ERR_vset_error(ERR_LIB_SSL, reason, nil, $0) }
    }
}

/// A TLS stream with its socket. Its methods block until there is a result.
final class TestTLSClient {
    let socket: TestTLSSocket
    let stream: TLSStream

    init(
        _ context: TLSContext,
        _ socket: TestTLSSocket,
        host: String = "localhost",
        port: Int = 443,
        pins: PublicKeyPins? = nil
    ) throws {
        self.socket = socket
        stream = try TLSStream(context, descriptor: socket.descriptor, host: host, port: port, pins: pins)
    }

    init(_ socket: TestTLSSocket, _ stream: TLSStream) {
        self.socket = socket
        self.stream = stream
    }

    /// Performs the handshake and returns its error, or nil.
    func handshake() -> SluiceError? {
        while true {
            switch stream.handshake() {
            case .done: return nil
            case .failed(let error): return error
            case .wantsRead:
                if !socket.wait(POLLIN) { return SluiceError(.connectTimedOut, "The handshake does not finish.") }
            case .wantsWrite:
                if !socket.wait(POLLOUT) { return SluiceError(.connectTimedOut, "The handshake does not finish.") }
            }
        }
    }

    /// Reads, and waits for bytes.
    func read(_ count: Int = 16_384) -> (TLSStream.Transfer, [UInt8]) {
        var bytes = [UInt8](repeating: 0, count: count)
        while true {
            let result = bytes.withUnsafeMutableBytes { stream.read(into: $0) }
            switch result {
            case .bytes(let count): return (result, Array(bytes.prefix(count)))
            case .wantsRead: if !socket.wait(POLLIN) { return (result, []) }
            case .wantsWrite: if !socket.wait(POLLOUT) { return (result, []) }
            case .closed, .failed: return (result, [])
            }
        }
    }

    /// Writes a text without waiting.
    @discardableResult
    func write(_ text: String) -> TLSStream.Transfer {
        Array(text.utf8).withUnsafeBytes { stream.write($0) }
    }

    /// Returns the server's answer to a text; nil for anything but bytes.
    func answer(to text: String) -> String? {
        guard write(text) == .bytes(text.utf8.count) else { return nil }
        var answer: [UInt8] = []
        while answer.count < text.utf8.count {
            let (result, bytes) = read()
            guard case .bytes = result else { return nil }
            answer += bytes
        }
        return String(decoding: answer, as: UTF8.self)
    }
}
#endif
