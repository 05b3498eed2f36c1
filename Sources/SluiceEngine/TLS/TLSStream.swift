#if os(Linux)
import CSSL
import Glibc
import SluiceHTTP

/// TLS over one socket, which it neither opens nor closes, or over another stream of TLS, as through an https proxy. No call blocks
/// or raises a signal.
///
/// Not thread-safe: the connection's lock guards it. Calls of different streams on one thread do not disturb each other, since each
/// call begins with an empty error queue.
package final class TLSStream {
    /// The state of a handshake after a call.
    package enum Step {
        case done
        /// To be called again once the socket can be read.
        case wantsRead
        /// To be called again once the socket can be written.
        case wantsWrite
        case failed(SluiceError)
    }

    /// The result of a read or a write.
    package enum Transfer: Equatable {
        /// That many bytes, fewer than there was room for or were given as the case may be.
        case bytes(Int)
        case wantsRead
        case wantsWrite
        /// The peer has ended the stream, by close_notify if that is clean.
        case closed(isClean: Bool)
        /// The connection is lost, or by errno 0 a TLS alert or a violation of the protocol.
        case failed(errno: Int32)
    }

    /// The number of bytes that may come in a handshake; OpenSSL takes 100 KiB of certificates.
    private static let handshakeAllowance = 192 << 10
    /// The number of bytes that may come without a byte for the reader among them. A record has 16 KiB; only a peer that sends
    /// messages of TLS itself without end comes near the limit.
    private static let allowance = 64 << 10
    /// The number of tickets that may come without a byte for the reader; servers send one or two.
    private static let maximumTickets = 32
    /// The number of tickets of one connection that are kept.
    private static let maximumKeptTickets = 4

    private static let index = sluice_tls_new_connection_index()
    /// The BIO_METHOD of sockets, as a bit pattern since pointers are not Sendable; it stays for the life of the process.
    private static let method = UInt(bitPattern: sluice_tls_socket_method())

    private let outer: TLSStream?
    private let context: TLSContext
    /// The SSL, which this object owns.
    private let connection: OpaquePointer
    /// The socket as the BIO sees it, which this object owns.
    private let socket: UnsafeMutablePointer<sluice_tls_socket>
    /// The host that certificates are checked for; nil where any certificate is accepted for a host that has no name.
    let identity: ServerIdentity?
    private let authority: String
    private let pins: PublicKeyPins?
    private let sessionKey: TLSSessionCache.Key
    private let offered: StoredSession?

    var verification = CertificateVerification()
    private var state = State.handshaking
    /// The end of the stream, found after bytes that had to be handed over first.
    private var end: Transfer?
    private var tickets = 0
    private var keptTickets = 0
    private var meetsPins = true
    private var verifiedUntil: Int64 = 0
    private var hasSentClose = false
    /// True after an error of the socket, which OpenSSL does not remember.
    private var hasLostSocket = false
    private var failureCheck: TLSFailure.Check?

    private enum State {
        case handshaking
        case open
        /// After an error that OpenSSL calls fatal, or a refusal of ours.
        case failed
    }

    /// In the report-only mode of pins: the failure, where none of them matched.
    package private(set) var pinFailure: TLSFailure?
    /// OpenSSL's words of the last fatal error.
    package private(set) var failureDetail: String?

    /// Prepares TLS over a connected socket.
    ///
    /// - Parameters:
    ///   - context: The policy.
    ///   - descriptor: The socket, which must stay open as long as the stream is used.
    ///   - host: The host of the URL; a name, or an address with or without brackets and zone.
    ///   - port: Its port, under which sessions are kept.
    ///   - pins: The pins that the chain must meet.
    /// - Throws: A ``TLSFailure`` for a host that no certificate can be for, and where OpenSSL cannot be set up.
    package convenience init(
        _ context: TLSContext,
        descriptor: Int32,
        host: String,
        port: Int,
        pins: PublicKeyPins?
    ) throws(TLSFailure) {
        try self.init(context, descriptor: descriptor, within: nil, host: host, port: port, pins: pins)
    }

    /// Prepares TLS over a socket or within another stream.
    ///
    /// - Parameters:
    ///   - context: The policy.
    ///   - descriptor: The socket, which must stay open as long as the stream is used.
    ///   - outer: The stream of TLS over that socket which carries this one; nil for none. Its handshake must be done, and from now on
    ///     only this stream uses it.
    ///   - host: The host of the URL; a name, or an address with or without brackets and zone.
    ///   - port: Its port, under which sessions are kept.
    ///   - pins: The pins that the chain must meet.
    /// - Throws: A ``TLSFailure`` for a host that no certificate can be for, and where OpenSSL cannot be set up.
    package init(
        _ context: TLSContext,
        descriptor: Int32,
        within outer: TLSStream?,
        host: String,
        port: Int,
        pins: PublicKeyPins?
    ) throws(TLSFailure) {
        ERR_clear_error()
        let identity = ServerIdentity(host: host)
        if identity == nil, context.verifies {
            throw TLSFailure(
                .hostName,
                detail: "the host is neither a name nor an address that a certificate can be for"
            )
        }
        let bits = outer == nil ? TLSStream.method : NestedTLS.method
        guard TLSStream.index >= 0, let method = OpaquePointer(bitPattern: bits),
            let connection = context.makeConnection()
        else { throw TLSStream.unprepared() }
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
                drained: 0,
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
            SSL_set_ex_data(connection, TLSStream.index, Unmanaged.passUnretained(self).toOpaque()) == 1
            && sluice_tls_attach(connection, method, socket) == 1
            && (!context.verifies || identity?.require(of: connection) == true)
            && identity?.announcedName.map { sluice_tls_server_name(connection, $0) == 1 } ?? true
            && offered?.offer(by: connection) ?? true
        // The properties are set, so that `deinit` frees them.
        guard isPrepared else { throw TLSStream.unprepared() }
        SSL_set_connect_state(connection)
    }

    deinit {
        SSL_free(connection)
        socket.deinitialize(count: 1)
        socket.deallocate()
        ERR_clear_error()
    }

    private static func unprepared() -> TLSFailure {
        TLSFailure(.handshake, detail: OpenSSLError.takeWords(or: "OpenSSL cannot be set up"))
    }

    /// The stream of an SSL, for the callbacks of OpenSSL that are made within the calls of that stream.
    static func of(_ connection: OpaquePointer?) -> TLSStream? {
        guard let connection, let stream = SSL_get_ex_data(connection, index) else { return nil }
        return Unmanaged<TLSStream>.fromOpaque(stream).takeUnretainedValue()
    }

    // MARK: Handshake

    /// Goes on with the handshake, which includes the verification of chain and host and the enforcement of pins.
    package func handshake() -> Step {
        switch state {
        case .open: return .done
        case .failed: return .failed(TLSFailure(.handshake, detail: failureDetail ?? "").error(host: authority))
        case .handshaking: break
        }
        beginCall()
        let result = SSL_do_handshake(connection)
        if result == 1 { return finishHandshake() }
        switch SSL_get_error(connection, result) {
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
                pins.map { CertificateVerification.meets($0, connection, hasVerified: context.verifies) } ?? true
        }
        if let pins, !meetsPins {
            let failure = TLSFailure(.pin, on: CertificateVerification.ownCertificate(of: connection))
            guard case .report = pins.mode else { return refuse(failure) }
            pinFailure = failure
        }
        state = .open
        socket.pointee.allowance = TLSStream.allowance
        // TLS 1.2 has made its session by now; that of TLS 1.3 comes as a ticket, if at all.
        if SSL_version(connection) == TLS1_2_VERSION, let session = SSL_get_session(connection) { store(session) }
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
        // A session that a server does not get on with must not meet it again.
        if offered != nil { TLSSessionCache.shared.remove(sessionKey) }
        let cause = OpenSSLError.take()
        guard error == SSL_ERROR_SSL, let cause, cause.reasonOfTLS != SSL_R_UNEXPECTED_EOF_WHILE_READING else {
            return lost(in: "the TLS handshake")
        }
        failureDetail = cause.words
        if cause.reasonOfTLS == SSL_R_CERTIFICATE_VERIFY_FAILED, let failure = verification.failure(for: identity) {
            return failure.error(host: authority)
        }
        let check = TLSFailure.Check(alert: cause.words, showsCertificate: context.showsCertificate)
        failureCheck = check
        let certificate = check == nil ? CertificateVerification.ownCertificate(of: connection) : nil
        return TLSFailure(check ?? .handshake, on: certificate, detail: cause.words).error(host: authority)
    }

    private func lost(in phase: String) -> SluiceError {
        let words =
            socket.pointee.error == 0
            ? "the server ended it" : String(cString: strerror(socket.pointee.error)).lowercased()
        failureDetail = words
        return SluiceError(.connectionLost, "The connection to \(authority) was lost in \(phase): \(words).")
    }

    // MARK: Sessions

    /// Stores a ticket (RFC 8446 §4.6.1), which comes by a read after the handshake.
    func receivedSession(_ session: OpaquePointer?) {
        guard state == .open, SSL_version(connection) == TLS1_3_VERSION, let session else { return }
        tickets += 1
        if tickets > TLSStream.maximumTickets { socket.pointee.allowance = 0 }
        guard keptTickets < TLSStream.maximumKeptTickets else { return }
        keptTickets += 1
        store(session)
    }

    private func store(_ session: OpaquePointer) {
        guard let stored = StoredSession(session, meetsPins: meetsPins, verifiedUntil: verifiedUntil) else { return }
        TLSSessionCache.shared.store(stored, under: sessionKey)
    }

    /// The session as OpenSSL has it, with the last ticket that came.
    var currentSession: OpaquePointer? { SSL_get_session(connection) }

    // MARK: Transfer

    /// Reads decrypted bytes: as many as have come, up to the room there is.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        if let end { return end }
        guard state == .open else { return .failed(errno: 0) }
        guard let start = buffer.baseAddress, !buffer.isEmpty else { return .bytes(0) }
        var filled = 0
        // A call of OpenSSL's gives one record at most.
        repeat {
            beginCall()
            let room = Int32(clamping: buffer.count - filled)
            let result = SSL_read(connection, start + filled, room)
            guard result > 0 else {
                let step = outcome(result)
                switch step {
                case .closed, .failed: end = step
                default: break
                }
                return filled > 0 ? .bytes(filled) : step
            }
            filled += Int(result)
            tickets = 0
            socket.pointee.allowance = TLSStream.allowance
        } while filled < buffer.count && SSL_has_pending(connection) == 1
        return .bytes(filled)
    }

    /// Writes bytes: as many as the socket takes.
    ///
    /// After `wantsWrite` or `wantsRead`, and after fewer bytes than were given, the next call must begin with the bytes that follow
    /// those that were reported, and have no fewer of them; they may have moved in memory.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        guard state == .open else { return .failed(errno: 0) }
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return .bytes(0) }
        var sent = 0
        repeat {
            beginCall()
            let result = SSL_write(connection, start + sent, Int32(clamping: bytes.count - sent))
            // An error shows itself again in the next call.
            guard result > 0 else { return sent > 0 ? .bytes(sent) : outcome(result) }
            sent += Int(result)
        } while sent < bytes.count
        return .bytes(sent)
    }

    /// Writes the alert of a stream within this one, whose error stays in the queue of OpenSSL for it to find.
    func writeAlert(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        guard state == .open, let start = bytes.baseAddress else { return .failed(errno: 0) }
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        socket.pointee.error = 0
        let result = SSL_write(connection, start, Int32(clamping: bytes.count))
        return result > 0 ? .bytes(Int(result)) : .wantsWrite
    }

    private func outcome(_ result: Int32) -> Transfer {
        switch SSL_get_error(connection, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .closed(isClean: true)
        case SSL_ERROR_SSL:
            let cause = OpenSSLError.take()
            state = .failed
            if cause?.reasonOfTLS == SSL_R_UNEXPECTED_EOF_WHILE_READING {
                failureDetail = cause?.words
                return .closed(isClean: false)
            }
            failureDetail = cause?.words ?? "an error of TLS"
            failureCheck = cause.flatMap { .init(alert: $0.words, showsCertificate: context.showsCertificate) }
            return .failed(errno: 0)
        default:
            ERR_clear_error()
            // A socket that cannot be written can still have an answer to read.
            hasLostSocket = true
            if socket.pointee.error == 0 { return .closed(isClean: false) }
            if socket.pointee.allowance <= 0 {
                state = .failed
                failureDetail = "the server sends messages of TLS without end"
                return .failed(errno: 0)
            }
            failureDetail = String(cString: strerror(socket.pointee.error)).lowercased()
            return .failed(errno: socket.pointee.error)
        }
    }

    private func beginCall() {
        ERR_clear_error()
        socket.pointee.error = 0
    }

    /// Sends close_notify if the socket takes it at once and no error has been fatal; an outer stream does so behind it.
    package func close() {
        defer { outer?.close() }
        guard state == .open, !hasLostSocket, !hasSentClose else { return }
        hasSentClose = true
        beginCall()
        _ = SSL_shutdown(connection)
        ERR_clear_error()
    }

    // MARK: State

    /// True if OpenSSL holds bytes, decrypted or not, that a read could give without the socket becoming readable.
    package var hasPendingInput: Bool {
        end != nil || SSL_has_pending(connection) == 1 || outer?.hasPendingInput == true
    }

    /// True if the last read from the socket left nothing behind and OpenSSL holds no bytes: another read would most likely find
    /// nothing, and can be left until the socket is readable.
    package var isDrained: Bool { socket.pointee.drained != 0 && !hasPendingInput && outer?.isDrained != false }

    /// The protocol that the server selected (RFC 7301); nil for none.
    package var negotiatedProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(connection, &start, &count)
        guard let start, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// True if the handshake resumed a session, whose certificates were verified when it was made.
    package var isResumed: Bool { SSL_session_reused(connection) == 1 }

    /// The failure of TLS that a read or write has failed by; nil where it is not about TLS.
    ///
    /// A server of TLS 1.3 refuses a client certificate, or the lack of one, only after the handshake.
    package var failure: TLSFailure? {
        guard state == .failed, let failureCheck else { return nil }
        return TLSFailure(failureCheck, detail: failureDetail ?? "")
    }
}
#endif
