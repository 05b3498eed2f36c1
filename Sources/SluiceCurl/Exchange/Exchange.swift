#if os(Linux)
import CCurl
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Glibc
import SluiceEngine
import SluiceHTTP

/// One transfer as libcurl sees it: a handle, the response as it comes in, and the body as it goes out.
///
/// Lives on the engine's thread only and is used for one transfer of its transport after another. libcurl's callbacks find it through the
/// pointer they were given; the engine keeps it alive while its handle is in the multi handle.
final class Exchange {
    var handle: EasyHandle
    let headers = HeaderList()
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// Whether the last transfer was anything but a GET without a body, and left options that have to be unset.
    var hasMethodOptions = false
    var waitsForConnection = false
    /// The one the handle has, in milliseconds.
    var connectTimeout = -1
    /// The one the handle has.
    var streamWeight = RequestPriority.normal.streamWeight
    /// What has come of asking for the server's word before the body is sent.
    var expectation = Expectation.none
    /// Whether it was contradicted: libcurl does not ask again by a handle for which it was.
    var wasContradicted = false
    /// Whether libcurl has sent a request a second time: it counts those of a handle's whole life, and at the sixth gives up.
    private var wasSentAgain = false
    /// Whether the last transfer kept its connection from being used again.
    var forbidsReuse = false
    /// How the handle is set up to reach servers.
    var plan: ConnectionPlan?
    /// Whether it cannot speak TLS to the server as planned.
    var lacksTLS = false
    /// What has been found of the certificates of the connection that was made for the transfer.
    var handshake: Handshake?
    /// Whether the missing of pins has been reported for the transfer.
    var hasReportedPins = false
    /// The last address that the plan allowed to connect to.
    var allowedAddress = ""
    /// An address that the transfer was not allowed to connect to.
    var refusedAddress: IPAddress?
    /// Whether there was one that it was.
    var hasOpenedSocket = false
    /// Whether it was set not to trust the system's authorities, and cannot be set to trust them again.
    var hasLostDefaults = false
    /// The cookies the handle is attached to.
    var cookies: CookieShare?
    /// What the handle knows of passwords and challenges would go with further transfers, so there are none.
    var hasCredentials = false

    /// What the handle was told of addresses; libcurl keeps pointers into it.
    var addressOverride: AddressOverride?

    /// Whether a request had a `Host` field of its own, by which libcurl goes on choosing the handle's cookies.
    var hadOwnHost = false

    /// What the transfer needs of its connection.
    var need = ConnectionNeed.fit
    /// How often what libcurl found for it was not that.
    var misses = 0
    /// The version that the handle is to speak, as libcurl has it.
    var version = Int(CURL_HTTP_VERSION_NONE)
    /// Whether the handle is to use no connection that is there.
    var connectsAnew = false

    /// Whether an option could not be set, so that it is not known what the handle has of this transfer and what of the one before.
    private(set) var isHalfSetUp = false

    /// Whether the handle is as good for another transfer as a new one.
    var isReusable: Bool {
        !hasCredentials && !hadOwnHost && !wasContradicted && !wasSentAgain && !hasLostDefaults && !isHalfSetUp
    }

    /// Whether it is for this one: what a handle knows of a proxy's credentials, challenges and authorities is for that proxy alone.
    func isFit(for transfer: Transfer) -> Bool {
        guard let proxy = plan?.proxy, proxy.credentials != nil || proxy.trust != .system else { return true }
        return transfer.plan.proxy == proxy
    }

    /// Whether the response has come by HTTP/1, so that nothing more can come by its connection until there is another request.
    var isOverByHTTP1: Bool {
        guard !isReceivingPaused, !isSendingPaused, let head = parser.head else { return false }
        return head.version.major == 1
    }

    /// The port on this side of the connection that the request goes by; nil before, 0 where there are none.
    private(set) var localPort: UInt16?
    /// The port on the other side.
    private(set) var remotePort: UInt16 = 0
    private(set) var transfer: Transfer?
    /// Whether it has come to the request itself: to the server, or to a proxy that passes it on.
    private(set) var hasRequested = false
    var lastActivity = MonotonicTime.now
    private var began = MonotonicTime.now
    private var parser = ResponseHeadParser()
    private var challenge = Challenge.none
    private var pipe: ResponsePipe?
    private var chunk = Data()
    private var received: Int64 = 0
    /// Bytes of the body that libcurl fetched by callback; its own count includes the framing of chunks.
    private(set) var sent: Int64 = 0
    private(set) var hasSentAll = false
    /// Where the transfer tells how far it is.
    private var run: TransferMeter.Run?
    /// Whether the request has gone out and nothing has come back.
    private var isUnanswered = false
    /// Whether the response's body comes compressed.
    private var isCompressed = false
    private var isReceivingPaused = false
    private var isSendingPaused = false
    /// Why a callback stopped the transfer: libcurl itself only knows that one did.
    private var failure: SluiceError?
    private var body = UploadBody.none
    /// The end of the body as it travels, where libcurl does not look at it.
    var gzipEnd: GzipEnd?
    /// Whether the handle shows what travels.
    var showsTraffic = false

    /// Whether there is something to hand over at the end of the engine's round.
    var isDirty = false
    unowned let engine: EngineLoop

    init?(engine: EngineLoop, configuration: CurlTransport.Configuration) {
        guard let handle = EasyHandle() else { return nil }
        self.handle = handle
        self.engine = engine
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        setGeneralOptions(configuration)
        if self.handle.failure != CURLE_OK { return nil }
    }

    deinit {
        curl_easy_cleanup(handle.raw)
        errorText.deallocate()
    }

    /// Takes on a transfer and sets the handle up for it.
    func begin(_ transfer: Transfer, now: MonotonicTime) -> SluiceError? {
        self.transfer = transfer
        began = now
        lastActivity = now
        parser = ResponseHeadParser()
        received = 0
        sent = 0
        hasSentAll = false
        isUnanswered = false
        hasRequested = false
        isCompressed = false
        isReceivingPaused = false
        isSendingPaused = false
        expectation = .none
        challenge = .none
        gzipEnd = nil
        failure = nil
        run = transfer.context.meter?.begin(uploading: transfer.upload.length)
        body = UploadBody(transfer.upload, onData: { [transfer] in transfer.resumeSending() })
        handle.failure = CURLE_OK
        handshake = nil
        hasReportedPins = false
        forgetConnection()
        setOptions(for: transfer)
        if handle.failure == CURLE_OK { return nil }
        isHalfSetUp = true
        return error(handle.failure)
    }

    func forgetConnection() {
        // By the same handle libcurl then closes connections that have died meanwhile, and would say here how that went.
        handle.set(CURLOPT_ERRORBUFFER, pointer: nil)
        errorText[0] = 0
        localPort = nil
        refusedAddress = nil
        hasOpenedSocket = false
    }

    /// Lets go of the transfer once it has ended and its handle has left the multi handle.
    func end() {
        body.close()
        body = .none
        endNeed()
        transfer = nil
        run = nil
        setCookies(nil)
        pipe = nil
        chunk = Data()
        isDirty = false
    }

    // MARK: Receiving

    func receive(header line: UnsafeRawBufferPointer) -> Bool {
        guard let transfer else { return false }
        touch()
        isUnanswered = false
        // Those of challenges and trailers as well, which libcurl heeds.
        if cookies != nil, line.isSetCookie { transfer.context.cookies?.noteChange() }
        if challenge.isUnderWay, ResponseHeadParser.isStatusLine(line) {
            guard challenge.mayBeAnswered else { return fail(.bodyNotRewound) }
            challenge = .none
            parser = ResponseHeadParser()
        }
        if expectation == .contradicted, ResponseHeadParser.isStatusLine(line) {
            expectation = .none
            parser = ResponseHeadParser()
        }
        switch parser.parse(line, limit: transfer.context.limits.headers) {
        case .incomplete, .complete: break
        case .tooLarge: return fail(.headTooLarge(limit: transfer.context.limits.headers))
        case .malformed: return fail(.malformedHead)
        }
        guard let head = parser.head, !challenge.isUnderWay else { return true }
        guard head.hasOwnTransferCoding(for: transfer.request.method) else { return fail(.unaskedCoding) }
        isCompressed = head.headers.contains(.contentEncoding)
        if isChallenge(head.status) {
            // Whether libcurl has an answer shows by what comes next: another head, or this one's body or end.
            challenge = .underWay(owesRewind: sent > 0)
            return true
        }
        guard !isContradiction(head) else { return true }
        if let limit = transfer.context.limits.body, let length = head.bodyLength(of: transfer.request.method),
            length > limit
        {
            return fail(.bodyTooLarge(limit: limit))
        }
        watchEnd(of: head, to: transfer)
        markDirty()
        return true
    }

    /// Takes a piece of the body; nil asks libcurl to keep it and to pause.
    func receive(body bytes: UnsafeRawBufferPointer) -> Bool? {
        guard let transfer else { return false }
        guard parser.isComplete else { return fail(.bodyWithoutHead) }
        if isReceivingPaused { return nil }
        touch()
        challenge = .none
        if expectation == .contradicted { return true }
        received += Int64(bytes.count)
        if let limit = transfer.context.limits.body, received > limit { return fail(.bodyTooLarge(limit: limit)) }
        if received > 1 << 20, isCompressed, isTooDense(transfer.context.limits) { return fail(.bodyTooDense) }
        if let base = bytes.bindMemory(to: UInt8.self).baseAddress { chunk.append(base, count: bytes.count) }
        markDirty()
        if chunk.count >= transfer.lane.configuration.responseBuffer { flush() }
        return true
    }

    private func isTooDense(_ limits: ResponseLimits) -> Bool {
        let compressed = handle.offset(CURLINFO_SIZE_DOWNLOAD_T)
        // Of chunks libcurl counts those that it is decoding only once it has.
        let unseen = parser.head?.headers.contains(.contentLength) == true ? 0 : Int64(Exchange.receiveBuffer)
        return limits.isTooDense(received, of: compressed + unseen)
    }

    /// Hands over what has come so far: the head once it is whole, then the body in chunks.
    func flush() {
        isDirty = false
        guard let transfer, let head = parser.head else { return }
        if pipe == nil {
            let pipe = transfer.makePipe()
            self.pipe = pipe
            run?.expects(head.bodyLength(of: transfer.request.method))
            transfer.answer(
                .success(TransportResponse(head: head, body: ResponseBody(ResponsePipe.Reader(pipe))))
            )
        }
        guard !chunk.isEmpty, let pipe else { return }
        run?.received(received)
        if pipe.write(chunk) { isReceivingPaused = true }
        chunk = Data()
    }

    /// Answers for a transfer that libcurl has ended.
    func finish(_ code: CURLcode) {
        guard let transfer else { return }
        // The server asks on and on: the last challenge is the response.
        let isRefused = code == CURLE_TOO_MANY_REDIRECTS && challenge.isUnderWay
        guard code == CURLE_OK || isRefused, failure == nil else { return finish(throwing: failure ?? error(code)) }
        guard let head = parser.head else { return finish(throwing: .closedInHead) }
        guard !isCutShort(decoded: received) else { return finish(throwing: .encodingCutShort) }
        let metrics = metrics(version: head.version)
        run?.sent(metrics.bytesSent)
        if pipe == nil {
            run?.received(received)
            run?.expects(received)
            transfer.answer(.success(TransportResponse(head: head, body: ResponseBody(chunk, metrics: metrics))))
        } else {
            flush()
            pipe?.finish(.success(metrics))
        }
    }

    /// Answers for a transfer that ends early.
    func finish(throwing error: SluiceError) {
        guard let transfer else { return }
        // A challenge that was to be answered is not what the server had to say, nor is what libcurl sends again after.
        let head = challenge.isUnderWay || expectation == .contradicted ? nil : parser.head
        let error = error.with(request: transfer.request, response: head)
        // What came before it can still be read, though it has not been handed over yet.
        if head != nil, pipe == nil, !chunk.isEmpty { flush() }
        if let pipe {
            flush()
            pipe.finish(.failure(error))
        } else {
            run?.expects(head?.bodyLength(of: transfer.request.method))
            run?.received(received)
            transfer.answer(.failure(error))
        }
    }

    // MARK: Sending

    /// Whether libcurl may send the request.
    ///
    /// It does so by itself a second time where a connection that had been kept open closes without an answer. The server may have
    /// seen the first, so that is only for what may be sent twice (RFC 9110 §9.2.2).
    ///
    /// - Parameters:
    ///   - address: The other end of the connection, which may have been made for somebody else.
    ///   - remotePort: The port there.
    ///   - port: The port of its end here.
    /// - Returns: Whether it may.
    func mayRequest(at address: UnsafePointer<CChar>?, _ remotePort: Int32, from port: Int32) -> Bool {
        handle.set(CURLOPT_ERRORBUFFER, pointer: errorText)
        localPort = UInt16(clamping: port)
        self.remotePort = UInt16(clamping: remotePort)
        guard let transfer, isMade(transfer), mayConnect(to: address, transfer), meetsPins(transfer) else {
            return false
        }
        if isUnanswered {
            wasSentAgain = true
            guard transfer.request.method.isIdempotent else { return fail(.closedUnanswered) }
        }
        guard isFit(transfer, from: UInt16(clamping: port)) else { return false }
        isUnanswered = true
        hasRequested = true
        return true
    }

    func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        touch()
        switch body.read(into: buffer) {
        case .bytes(let count):
            sent += Int64(count)
            run?.sent(sent)
            return count
        case .end:
            hasSentAll = true
            return 0
        case .wait:
            isSendingPaused = true
            return sluice_read_pause
        case .failed:
            failure = body.failure
            return sluice_read_abort
        }
    }

    /// Goes back to the body's start, where libcurl must send it again on a fresh connection.
    func rewind() -> Bool {
        sent = 0
        hasSentAll = false
        run?.sent(0)
        isSendingPaused = false
        challenge.rewound()
        return body.rewind()
    }

    // MARK: Going on

    /// Takes in more of the response; false once that has failed the transfer.
    func resumeReceiving() -> Bool {
        guard isReceivingPaused else { return true }
        isReceivingPaused = false
        return resume()
    }

    /// Sends more of the body; false once that has failed the transfer.
    func resumeSending() -> Bool {
        guard isSendingPaused else { return true }
        isSendingPaused = false
        return resume()
    }

    /// libcurl hands over what it had kept back from within this call, which may stop the transfer.
    private func resume() -> Bool {
        touch()
        let mask = (isReceivingPaused ? CURLPAUSE_RECV : 0) | (isSendingPaused ? CURLPAUSE_SEND : 0)
        switch curl_easy_pause(handle.raw, mask) {
        // A transfer that has lost its connection is about to end, or to begin again on another.
        case CURLE_OK, CURLE_BAD_FUNCTION_ARGUMENT:
            return true
        case let code:
            finish(code)
            return false
        }
    }

    // MARK: Deadlines

    /// The moment at which the transfer will have taken too long, unless something happens until then.
    var deadline: MonotonicTime {
        guard let transfer else { return .distantFuture }
        let timeouts = transfer.context.timeouts
        let total = timeouts.total.map { transfer.started + $0 } ?? .distantFuture
        // A caller that does not read is not a server that does not send.
        guard let idle = timeouts.idle, !isReceivingPaused else { return total }
        return min(total, lastActivity + idle)
    }

    private func touch() {
        lastActivity = engine.now
    }

    private func markDirty() {
        guard !isDirty else { return }
        isDirty = true
        engine.markDirty(self)
    }

    func fail(_ error: SluiceError) -> Bool {
        failure = error
        return false
    }

    private func error(_ code: CURLcode) -> SluiceError {
        let message = String(cString: errorText)
        if let refusal, code == CURLE_COULDNT_CONNECT { return refusal }
        // So it calls a field's name that it cannot keep, too.
        let isMalformed = code == CURLE_BAD_FUNCTION_ARGUMENT && parser.hasBegun
        let tls = TLSFailure(
            code,
            words(of: code, message),
            finding: handshake?.failure,
            certificate: handshake?.certificate,
            showsCertificate: plan?.tls.clientCertificate != nil
        )
        let failure = CurlFailure(
            code: isMalformed ? CURLE_WEIRD_SERVER_REPLY : code,
            message: message,
            systemError: Int32(truncatingIfNeeded: handle.long(CURLINFO_OS_ERRNO))
        )
        if let error = failure.error(by: proxyPassage, tls) { return error }
        let authority = transfer?.request.authority ?? ""
        if let tls { return SluiceError(tls, host: authority) }
        let socket = plan?.unixSocket.map { "the socket “\($0)”" }
        return failure.error(host: socket ?? authority, hasHead: parser.isComplete)
    }

    /// OpenSSL's words, where libcurl's are about what it could not send at that moment.
    private func words(of code: CURLcode, _ message: String) -> String {
        guard let end = handshake?.end, code != CURLE_PEER_FAILED_VERIFICATION, !message.contains(end) else {
            return message
        }
        return end
    }

    private func metrics(version: HTTPVersion) -> TransferMetrics {
        var metrics = handle.metrics()
        metrics.version = version
        if sent > 0 { metrics.bytesSent = sent }
        if let path = plan?.unixSocket { metrics.remoteAddress = path }
        if let transfer { metrics.queued = began.since(transfer.queued) }
        return metrics
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var isSetCookie: Bool {
        let name: StaticString = "set-cookie:"
        return count > name.utf8CodeUnitCount
            && name.withUTF8Buffer { zip($0, self).allSatisfy { $0 == $1.asciiLowercased } }
    }
}
#endif
