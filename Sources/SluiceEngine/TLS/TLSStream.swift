#if os(Linux)
import CSSL
import SluiceHTTP
import SluiceLibc

/// TLS over a socket that it neither opens nor closes, or over another TLS stream, for example through an https proxy. No call blocks or
/// raises a signal.
///
/// The type is not thread-safe: the lock of the connection guards it. Streams on the same thread do not affect each other, because each
/// call starts with an empty error queue.
package final class TLSStream {
    /// The state of a handshake after a call.
    package enum Step {
        case done
        /// Call again when the socket is readable.
        case wantsRead
        /// Call again when the socket is writable.
        case wantsWrite
        case failed(SluiceError)
    }

    /// The result of a read or a write.
    package enum Transfer: Equatable {
        /// The number of transferred bytes, which may be fewer than requested.
        case bytes(Int)
        case wantsRead
        case wantsWrite
        /// The peer has ended the stream. `isClean` is true if it sent close_notify.
        case closed(isClean: Bool)
        /// The connection is lost. With `errno` 0, the cause is a TLS alert or a protocol violation.
        case failed(errno: Int32)
    }

    /// The maximum number of bytes received in a handshake. OpenSSL accepts certificates of up to 100 KiB.
    private static let handshakeAllowance = 192 << 10
    /// The maximum number of bytes received without any application data. A record has at most 16 KiB, so only a peer that sends endless
    /// TLS messages reaches the limit.
    private static let allowance = 64 << 10
    /// The number of bytes on the wire that each byte of data allows. A record of one byte has at most 70.
    private static let allowancePerByte = 128
    /// The number of records that one read decrypts, so that many tiny ones do not keep the loop.
    private static let maximumRecords = 64
    /// The maximum number of tickets received without any application data. Servers send one or two.
    private static let maximumTickets = 32
    /// The maximum number of stored tickets of one connection.
    private static let maximumStoredTickets = 4

    private static let index = sluice_tls_new_connection_index()
    /// The BIO_METHOD of sockets as a bit pattern, because pointers are not Sendable. It is never freed.
    private static let method = UInt(bitPattern: sluice_tls_socket_method())

    let outer: TLSStream?
    let context: TLSContext
    /// The owned SSL object.
    let connection: OpaquePointer
    /// The owned state of the socket for the BIO.
    private let socket: UnsafeMutablePointer<sluice_tls_socket>
    /// The identity that certificates must match. Nil only if any certificate is accepted and the host cannot stand in a certificate.
    let identity: ServerIdentity?
    private let authority: String
    private let pins: PublicKeyPins?
    private let sessionKey: TLSSessionCache.Key
    private let offered: StoredSession?

    var verification = CertificateVerification()
    private var state = State.handshaking
    /// The end of the stream. A read that first returned bytes leaves it for the next read.
    private var end: Transfer?
    private var tickets = 0
    private var storedTickets = 0
    private var meetsPins = true
    private var verifiedUntil: Int64 = 0
    private var hasSentClose = false
    /// True after a socket error, which OpenSSL does not record.
    private var hasLostSocket = false
    private var failureCheck: TLSFailure.Check?

    private enum State {
        case handshaking
        case open
        /// A fatal error of OpenSSL, or a refusal by this class.
        case failed
    }

    /// The failure of the pins, in their report-only mode.
    package private(set) var pinFailure: TLSFailure?
    /// The message of OpenSSL for the last fatal error.
    package private(set) var failureDetail: String?

    /// Creates a TLS stream over a connected socket or within another stream.
    ///
    /// - Parameters:
    ///   - context: The context of the TLS policy.
    ///   - descriptor: The socket. It must stay open while the stream is in use.
    ///   - outer: The TLS stream over the socket that carries this one, or nil for none. Its handshake must be complete. From now on, only
    ///     this stream may use it.
    ///   - host: The host of the URL: a name, or an address with or without brackets and zone.
    ///   - port: The port, which is part of the key for sessions.
    ///   - pins: The pins that the chain must match.
    /// - Throws: A ``TLSFailure`` if no certificate can match the host, or if OpenSSL cannot be set up.
    package init(
        _ context: TLSContext,
        descriptor: Int32,
        within outer: TLSStream? = nil,
        host: String,
        port: Int,
        pins: PublicKeyPins?
    ) throws(TLSFailure) {
        openSSL.ERR_clear_error()
        let identity = ServerIdentity(host: host)
        if identity == nil, context.verifies {
            throw TLSFailure(
                .hostName,
                detail: "the host is neither a name nor an address that a certificate can contain"
            )
        }
        let bits = outer == nil ? TLSStream.method : NestedTLS.method
        guard TLSStream.index >= 0, let method = OpaquePointer(bitPattern: bits),
            let connection = context.makeConnection()
        else { throw TLSFailure.initialization() }
        self.outer = outer
        self.context = context
        self.connection = connection
        self.identity = identity
        self.pins = pins
        authority = host + (port == 443 ? "" : ":\(port)")
        socket = .allocate(capacity: 1)
        socket.initialize(
            to: sluice_tls_socket(
                descriptor: descriptor,
                error: 0,
                at_end: 0,
                allowance: TLSStream.handshakeAllowance,
                outer: outer.map { Unmanaged.passUnretained($0).toOpaque() },
                read: outer == nil ? nil : NestedTLS.read,
                write: outer == nil ? nil : NestedTLS.write
            )
        )
        var enforcesPins = false
        if case .enforce = pins?.mode { enforcesPins = true }
        sessionKey = TLSSessionCache.Key(
            context: context.serial,
            host: identity?.description ?? host,
            port: port,
            pins: pins?.pins ?? [],
            enforcesPins: enforcesPins
        )
        offered = TLSSessionCache.shared.take(sessionKey)
        let isPrepared =
            openSSL.SSL_set_ex_data(connection, TLSStream.index, Unmanaged.passUnretained(self).toOpaque()) == 1
            && sluice_tls_attach(connection, method, socket) == 1
            && (!context.verifies || identity?.configureVerification(of: connection) == true)
            && identity?.serverNameIndication.map { sluice_tls_server_name(connection, $0) == 1 } ?? true
            && offered?.offer(on: connection) ?? true
        // All properties are set, so throwing runs `deinit`, which frees them.
        guard isPrepared else { throw TLSFailure.initialization() }
        openSSL.SSL_set_connect_state(connection)
    }

    deinit {
        openSSL.SSL_free(connection)
        socket.deinitialize(count: 1)
        socket.deallocate()
        openSSL.ERR_clear_error()
    }

    /// Returns the stream of an SSL object, for callbacks of OpenSSL during calls of that stream.
    static func of(_ connection: OpaquePointer?) -> TLSStream? {
        guard let connection, let stream = openSSL.SSL_get_ex_data(connection, index) else { return nil }
        return Unmanaged<TLSStream>.fromOpaque(stream).takeUnretainedValue()
    }

    // MARK: Handshake

    /// Continues the handshake, which includes verifying the chain and the host and enforcing pins.
    package func handshake() -> Step {
        switch state {
        case .open: return .done
        case .failed: return .failed(TLSFailure(.handshake, detail: failureDetail ?? "").error(host: authority))
        case .handshaking: break
        }
        clearErrors()
        let result = openSSL.SSL_do_handshake(connection)
        if result == 1 { return finishHandshake() }
        switch openSSL.SSL_get_error(connection, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case let error: return .failed(handshakeFailure(error))
        }
    }

    private func finishHandshake() -> Step {
        if let selected = negotiatedProtocol, !context.protocols.contains(selected) {
            // RFC 7301 §3.2.
            return refuse(TLSFailure(.handshake, detail: "the server selected a protocol that was not offered"))
        }
        if isResumed, let offered {
            meetsPins = offered.meetsPins
            verifiedUntil = offered.verifiedUntil
        } else {
            verifiedUntil = CertificateVerification.end(for: connection, hasVerified: context.verifies)
            meetsPins =
                pins.map { CertificateVerification.satisfies($0, connection, hasVerified: context.verifies) } ?? true
        }
        if let pins, !meetsPins {
            let failure = TLSFailure(.pin, on: CertificateVerification.ownCertificate(of: connection))
            guard case .report = pins.mode else { return refuse(failure) }
            pinFailure = failure
        }
        state = .open
        socket.pointee.allowance = TLSStream.allowance
        // TLS 1.2 has created its session by now. A TLS 1.3 session arrives later as a ticket, if at all.
        if openSSL.SSL_version(connection) == TLS1_2_VERSION, let session = openSSL.SSL_get_session(connection) {
            store(session)
        }
        return .done
    }

    private func refuse(_ failure: TLSFailure) -> Step {
        state = .failed
        failureDetail = failure.detail
        TLSSessionCache.shared.remove(sessionKey)
        return .failed(failure.error(host: authority))
    }

    private func handshakeFailure(_ error: Int32) -> SluiceError {
        state = .failed
        // Do not offer the session again: it may have caused the failure.
        if offered != nil { TLSSessionCache.shared.remove(sessionKey) }
        let cause = OpenSSLError.take()
        guard error == SSL_ERROR_SSL, let cause, cause.tlsReason != SSL_R_UNEXPECTED_EOF_WHILE_READING else {
            return connectionLost(during: "the TLS handshake")
        }
        failureDetail = cause.message
        // The oldest error may be of a signature, and a failed check always ends the handshake.
        if let failure = verification.failure(for: identity) { return failure.error(host: authority) }
        let isOnlyHTTP2 = context.protocols == ["h2"]
        if isOnlyHTTP2, cause.message.contains("no application protocol") || cause.message.contains("bad extension") {
            return SluiceError(.unsupported, "The server at \(authority) did not negotiate HTTP/2.")
        }
        var check = TLSFailure.Check(alert: cause.message, hasClientCertificate: context.hasClientCertificate)
        // TLS 1.2 has no alert for a missing certificate. These are the ones that servers send.
        let alerts = ["handshake failure", "bad certificate", "certificate unknown", "access denied", "decode error"]
        if check == nil, alerts.contains(where: { cause.message.hasSuffix("alert \($0)") }),
            !context.hasClientCertificate, openSSL.SSL_get_client_CA_list(connection) != nil
        {
            check = .clientCertificateRequired
        }
        failureCheck = check
        let certificate = check == nil ? CertificateVerification.ownCertificate(of: connection) : nil
        return TLSFailure(check ?? .handshake, on: certificate, detail: cause.message).error(host: authority)
    }

    private func connectionLost(during phase: String) -> SluiceError {
        let message =
            socket.pointee.error == 0
            ? "the server closed it" : String(cString: strerror(socket.pointee.error)).lowercased()
        failureDetail = message
        return SluiceError(.connectionLost, "The connection to \(authority) was lost during \(phase): \(message).")
    }

    // MARK: Sessions

    /// Stores a ticket (RFC 8446 §4.6.1), which is received during a read after the handshake.
    func receivedSession(_ session: OpaquePointer?) {
        guard state == .open, openSSL.SSL_version(connection) == TLS1_3_VERSION, let session else { return }
        tickets += 1
        if tickets > TLSStream.maximumTickets { socket.pointee.allowance = 0 }
        guard storedTickets < TLSStream.maximumStoredTickets else { return }
        storedTickets += 1
        store(session)
    }

    private func store(_ session: OpaquePointer) {
        guard let stored = StoredSession(session, meetsPins: meetsPins, verifiedUntil: verifiedUntil) else { return }
        TLSSessionCache.shared.store(stored, under: sessionKey)
    }

    // MARK: Transfer

    /// Reads the available decrypted bytes, up to the size of the buffer.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        if let end { return end }
        guard state == .open else { return .failed(errno: 0) }
        guard let start = buffer.baseAddress, !buffer.isEmpty else { return .bytes(0) }
        var (filled, records) = (0, 0)
        // One call of SSL_read returns one record at most.
        repeat {
            clearErrors()
            let room = Int32(clamping: buffer.count - filled)
            let result = openSSL.SSL_read(connection, start + filled, room)
            guard result > 0 else {
                let step = outcome(result)
                switch step {
                case .closed, .failed: end = step
                default: break
                }
                return filled > 0 ? .bytes(filled) : step
            }
            filled += Int(result)
            records += 1
            tickets = 0
            let allowance = socket.pointee.allowance + Int(result) * TLSStream.allowancePerByte
            socket.pointee.allowance = min(TLSStream.allowance, allowance)
        } while filled < buffer.count && records < TLSStream.maximumRecords && openSSL.SSL_has_pending(connection) == 1
        return .bytes(filled)
    }

    /// Writes as many bytes as the socket accepts.
    ///
    /// After `wantsWrite`, `wantsRead` or a partial write, the next call must continue with the first unwritten byte and must not have
    /// fewer bytes. The bytes may have moved in memory.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        guard state == .open else { return .failed(errno: 0) }
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return .bytes(0) }
        var sent = 0
        repeat {
            clearErrors()
            let result = openSSL.SSL_write(connection, start + sent, Int32(clamping: bytes.count - sent))
            // The next call reports the error again.
            guard result > 0 else { return sent > 0 ? .bytes(sent) : outcome(result) }
            sent += Int(result)
        } while sent < bytes.count
        return .bytes(sent)
    }

    /// Writes the alert of an inner stream. Preserves the error queue of OpenSSL, which contains the error of the inner stream.
    func writeAlert(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        guard state == .open, let start = bytes.baseAddress else { return .failed(errno: 0) }
        _ = openSSL.ERR_set_mark()
        defer { _ = openSSL.ERR_pop_to_mark() }
        socket.pointee.error = 0
        let result = openSSL.SSL_write(connection, start, Int32(clamping: bytes.count))
        return result > 0 ? .bytes(Int(result)) : .wantsWrite
    }

    private func outcome(_ result: Int32) -> Transfer {
        switch openSSL.SSL_get_error(connection, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .closed(isClean: true)
        case SSL_ERROR_SSL:
            let cause = OpenSSLError.take()
            state = .failed
            if cause?.tlsReason == SSL_R_UNEXPECTED_EOF_WHILE_READING {
                failureDetail = cause?.message
                return .closed(isClean: false)
            }
            failureDetail = cause?.message ?? "a TLS error"
            // Servers answer the refusal with this alert. Often they ask for a client certificate that only some paths need.
            if openSSL.SSL_version(connection) == TLS1_2_VERSION,
                failureDetail?.hasSuffix("alert handshake failure") == true
            {
                failureDetail = "the server requested a TLS renegotiation, which is refused"
            }
            failureCheck = cause.flatMap {
                .init(alert: $0.message, hasClientCertificate: context.hasClientCertificate)
            }
            return .failed(errno: 0)
        default:
            openSSL.ERR_clear_error()
            // A socket that is not writable may still have input.
            hasLostSocket = true
            if socket.pointee.error == 0 { return .closed(isClean: false) }
            if socket.pointee.allowance <= 0 {
                state = .failed
                failureDetail = "the server sent too many TLS messages"
                return .failed(errno: 0)
            }
            failureDetail = String(cString: strerror(socket.pointee.error)).lowercased()
            return .failed(errno: socket.pointee.error)
        }
    }

    private func clearErrors() {
        openSSL.ERR_clear_error()
        socket.pointee.error = 0
    }

    /// Sends close_notify if the socket accepts it at once and there was no fatal error. Then closes an outer stream.
    package func close() {
        defer { outer?.close() }
        guard state == .open, !hasLostSocket, !hasSentClose else { return }
        hasSentClose = true
        clearErrors()
        _ = openSSL.SSL_shutdown(connection)
        openSSL.ERR_clear_error()
    }

    // MARK: State

    /// True if a read could return bytes that OpenSSL already holds, decrypted or not.
    package var hasPendingInput: Bool {
        end != nil || openSSL.SSL_has_pending(connection) == 1 || outer?.hasPendingInput == true
    }

    /// True if decrypted bytes have not been read.
    var hasDecryptedInput: Bool { openSSL.SSL_pending(connection) > 0 }

    /// The protocol that the server selected (RFC 7301), or nil for none.
    package var negotiatedProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        openSSL.SSL_get0_alpn_selected(connection, &start, &count)
        guard let start, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// True if the handshake resumed a session, whose certificates were verified earlier.
    package var isResumed: Bool { openSSL.SSL_session_reused(connection) == 1 }

    /// The TLS failure of a read or write, or nil if the error is not related to TLS.
    ///
    /// With TLS 1.3, a server refuses a missing or invalid client certificate only after the handshake.
    package var failure: TLSFailure? {
        guard state == .failed, let failureCheck else { return nil }
        return TLSFailure(failureCheck, detail: failureDetail ?? "")
    }
}

// MARK: - TLS within TLS

/// The functions that OpenSSL uses to read and write one TLS stream through another instead of a socket.
///
/// OpenSSL calls them during calls of the inner stream, on the same thread and under the same lock. The outer stream leaves OpenSSL's
/// error queue empty, so that the inner stream finds only its own errors. While the inner stream sends an alert, its error is already in
/// the queue and is preserved.
enum NestedTLS {
    /// The BIO_METHOD as a bit pattern, because pointers are not Sendable. It is never freed.
    static let method = UInt(bitPattern: sluice_tls_nested_method())

    static let read:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int32, UnsafeMutablePointer<Int32>?
        ) -> Int32 = { outer, bytes, count, error in
            guard let stream = NestedTLS.stream(outer) else { return SLUICE_TLS_FAILED }
            return stream.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))).result(error)
        }

    static let write:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeRawPointer?, Int32, UnsafeMutablePointer<Int32>?
        ) -> Int32 = { outer, bytes, count, error in
            guard let stream = NestedTLS.stream(outer) else { return SLUICE_TLS_FAILED }
            let bytes = UnsafeRawBufferPointer(start: bytes, count: Int(count))
            return (openSSL.ERR_peek_error() == 0 ? stream.write(bytes) : stream.writeAlert(bytes)).result(error)
        }

    private static func stream(_ outer: UnsafeMutableRawPointer?) -> TLSStream? {
        outer.map { Unmanaged<TLSStream>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension TLSStream.Transfer {
    /// Returns the transfer in the form for the BIO.
    fileprivate func result(_ error: UnsafeMutablePointer<Int32>?) -> Int32 {
        switch self {
        case .bytes(let count): return Int32(clamping: count)
        case .wantsRead: return SLUICE_TLS_WANTS_READ
        case .wantsWrite: return SLUICE_TLS_WANTS_WRITE
        case .closed: return 0
        case .failed(let number):
            // An alert of the outer TLS has no error number of the system.
            error?.pointee = number == 0 ? EPROTO : number
            return SLUICE_TLS_FAILED
        }
    }
}
#endif
