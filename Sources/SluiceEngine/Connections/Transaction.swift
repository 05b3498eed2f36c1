#if os(Linux)
import SluiceFoundation
import SluiceHTTP

/// One request on one connection, for any version of HTTP: the parts that were sent and received, and the deadlines.
///
/// It performs no I/O. The connection, which holds the lock, writes the output queue and passes in received bytes.
///
/// ```
///           ┌─ waits for 100 ─┐
/// head ─────┴─────────────────┴──▶ body ──▶ sent          sending
///                                   └──▶ stopped           (an early answer, a failed write)
/// 1xx* ──▶ head ──▶ body ──▶ complete                      receiving
/// ```
class Transaction {
    enum Sending: Equatable {
        case waitsForContinue(until: MonotonicTime)
        case body
        case sent
        /// The rest of the body is not sent, because the response came first or the socket accepts no more.
        case stopped
    }

    enum Status {
        case needsInput
        /// The turn has produced enough output, or the reader exerts back-pressure.
        case blocked
        case complete
        case failed(SluiceError)
    }

    /// The maximum size of a body that is sent together with the head.
    static let inlineBody = 64 << 10

    /// The maximum number of bytes to read of a discarded response. For a longer body, a new connection is cheaper.
    static let drainedBody = 64 << 10

    /// The reason why a response is discarded and the request sent again.
    enum ResendReason {
        /// The server has refused the Expect field (417).
        case withoutExpect
        /// The server or a proxy has sent a challenge, or has accepted the request without the body that was held back.
        case withCredentials
        /// The server has closed the idle connection with a 408 before it received the request (RFC 9110 §15.5.9).
        case onNewConnection
    }

    // The runtime does not check the marked properties for overlapping accesses, because a check costs as much as an access. The lock of
    // the connection excludes other threads, and none of the properties is used during a change of the same one.

    let call: Call
    let isReused: Bool
    private unowned let carrier: any RequestCarrier
    @exclusivity(unchecked) final var sending = Sending.body
    /// True if the request has an `Expect` field.
    private final var expects = false
    @exclusivity(unchecked) private(set) final var head: HTTPResponse?
    /// True once a byte of the request has been written to the socket.
    @exclusivity(unchecked) var hasWritten = false
    /// True while the reader exerts back-pressure.
    @exclusivity(unchecked) private(set) var isPaused = false
    /// True while the request body has no bytes available.
    @exclusivity(unchecked) var awaitsBody = false
    @exclusivity(unchecked) var lastActivity: MonotonicTime

    /// The time at which the request received a connection, or began to wait for its own.
    final let began: MonotonicTime
    private let timings: ConnectionTimings
    @exclusivity(unchecked) final var body: UploadBody
    @exclusivity(unchecked) private var sent: Int64 = 0
    @exclusivity(unchecked) final var firstByte: MonotonicTime?
    /// The head as it was sent; nil unless the request is recorded.
    final var sentHead: (fields: HTTPHeaders, length: Int?)?
    /// The time at which the last byte of the request was written; nil before, and unless the request is recorded.
    private var sendEnd: MonotonicTime?
    @exclusivity(unchecked) private(set) final var decoder: ContentDecoder?
    /// Encoded bytes that were received but not decoded in their turn.
    @exclusivity(unchecked) private var encoded: [UInt8] = []
    private var encodedPosition = 0
    /// Body bytes that have not been delivered.
    @exclusivity(unchecked) private var pending = Data()
    /// True if a drain was requested before `pending` was delivered. The request is repeated after the delivery.
    private var awaitsDrain = false
    /// The number of body bytes after decoding.
    @exclusivity(unchecked) private var received: Int64 = 0
    /// The number of body bytes before decoding.
    @exclusivity(unchecked) final var receivedEncoded: Int64 = 0
    @exclusivity(unchecked) private(set) final var pipe: ResponsePipe?
    @exclusivity(unchecked) private var reporter: TransferMeter.Reporter?
    /// The reason why the request must be sent again, or nil if the response is for the caller.
    @exclusivity(unchecked) private(set) final var resendReason: ResendReason?
    /// The number of body bytes of a discarded response.
    private var drained = 0
    @exclusivity(unchecked) private(set) final var isComplete = false
    /// True if the connection has carried requests of other calls before.
    private let hasServedOtherCalls: Bool
    /// True if the body is not sent before a challenge has been received.
    @exclusivity(unchecked) private(set) final var holdsBodyBack = false

    /// Creates the transaction of a request on a connection.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - carrier: The connection, which owns the transaction.
    ///   - isReused: True if the connection has carried another request before.
    ///   - began: The time at which the request had its slot.
    ///   - timings: The durations of the connection setup. Zero for an existing connection.
    ///   - hasServedOtherCalls: True if the earlier requests belonged to other calls.
    ///   - now: The current time.
    init(
        _ call: Call,
        on carrier: any RequestCarrier,
        isReused: Bool,
        began: MonotonicTime,
        timings: ConnectionTimings,
        hasServedOtherCalls: Bool = true,
        now: MonotonicTime
    ) {
        self.call = call
        self.carrier = carrier
        self.isReused = isReused
        self.hasServedOtherCalls = isReused && hasServedOtherCalls
        self.began = began
        self.timings = timings
        lastActivity = now
        reporter = call.context.meter?.begin(uploading: call.upload.length)
        body = .none
    }

    /// Creates the transaction of a request that is sent again on the connection that received the challenge.
    convenience init(repeating previous: Transaction, now: MonotonicTime) {
        self.init(
            previous.call,
            on: previous.carrier,
            isReused: true,
            began: previous.began,
            timings: previous.timings,
            hasServedOtherCalls: previous.hasServedOtherCalls,
            now: now
        )
    }

    // MARK: Sending

    /// Opens the body, or continues with the body of an earlier attempt.
    ///
    /// - Returns: True if the body must wait for a 100 (Continue) response.
    final func openBody() -> Bool {
        holdsBodyBack = call.holdsBodyBack
        let (opened, omitsExpect) = call.withAttempt { attempt in
            (holdsBodyBack ? nil : attempt.body.take(), attempt.omitsExpect)
        }
        if let opened {
            body = opened
        } else if case .none = upload {
            body = .none
        } else {
            body = UploadBody(upload, onData: { [call] in call.bodyHasMore() })
        }
        expects = !omitsExpect && call.request.headers.expectsContinue && upload.mayHaveContent
        return expects
    }

    /// The value for `Accept-Encoding`.
    ///
    /// A range selects bytes of the encoded body (RFC 9110 §14.2), so a request for one accepts no coding.
    final var acceptedCodings: StaticString? {
        guard call.pool.configuration.decompressesResponses else { return nil }
        return call.request.headers.contains(.range) ? "identity" : ContentDecoder.acceptEncoding
    }

    /// The body that this attempt sends.
    final var upload: UploadSource { holdsBodyBack ? .none : call.upload }

    /// The number of body bytes sent.
    final var sentBytes: Int64 { sent }

    /// Counts sent body bytes.
    final func countSent(_ bytes: Int) {
        sent += Int64(bytes)
        reporter?.sent(sent)
    }

    /// True once the source of the body has failed, and its earlier bytes have been added to the output.
    final var hasBodyFailed = false

    /// The error of the body's source.
    var bodyFailure: SluiceError? { body.failure }

    /// True if the kernel may go on sending for long after the last write.
    final var hasLargeBody: Bool { sent >= 64 << 10 }

    /// Records that the last byte of the request has been written.
    final func recordSendEnd() {
        if sentHead != nil, sendEnd == nil { sendEnd = .now }
    }

    /// Stops sending the body. Before the final head it stays open, because it may be sent again on another connection.
    final func stopSending() {
        if sending == .sent { return }
        sending = .stopped
        awaitsBody = false
        if head != nil { body.close() }
    }

    // MARK: Receiving

    final func processInformational(_ head: HTTPResponse) {
        if case .waitsForContinue = sending, head.status == 100 { sending = .body }
        call.context.onInformational?(head)
    }

    /// Starts to send the body without a 100 (Continue) response.
    func stopWaitingForContinue() {
        if case .waitsForContinue = sending { sending = .body }
    }

    /// Processes the final head.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - hasBody: True if a body may follow.
    /// - Returns: The error that ends the request, or nil. If ``resendReason`` is set, the response is discarded.
    final func take(_ head: HTTPResponse, hasBody: Bool) -> SluiceError? {
        call.storeCookies(of: head)
        // The server may refuse the field after the wait for 100 (Continue) has ended.
        if head.status == 417, expects, body.isRewindable {
            resendReason = .withoutExpect
        } else if call.processChallenge(in: head) {
            resendReason = .withCredentials
        } else if head.status == .requestTimeout, hasServedOtherCalls, call.isIdempotent, body.isRewindable,
            head.headers.connectionOptions.contains("close"), MonotonicTime.now.since(began) < .seconds(1),
            call.withAttempt({ $0.countResend() == 1 })
        {
            resendReason = .onNewConnection
        }
        if resendReason != nil {
            if sending != .sent { sending = .stopped }
            awaitsBody = false
            return nil
        }
        call.recordAuthentication(of: head)
        if case .waitsForContinue = sending {
            sending = .stopped
            body.close()
        } else if sending == .stopped || sending == .body && head.status.rawValue >= 300 {
            stopSending()
            body.close()
        }
        self.head = head
        let method = call.request.method
        let limits = call.context.limits
        if let limit = limits.body, let length = head.bodyLength(of: method), length > limit {
            return .bodyTooLarge(limit: limit)
        }
        // A part of an encoded body cannot be decoded.
        guard call.pool.configuration.decompressesResponses, hasBody, head.status != 206,
            head.headers.contains(.contentEncoding), call.context.decodesRedirects || !head.isRedirect
        else { return nil }
        switch ContentDecoder.plan(for: head.headers) {
        case .identity, .unknown: return nil
        case .tooMany: return SluiceError(.invalidResponse, "The response has more than two content codings.")
        case .decode(let codings):
            decoder = ContentDecoder(codings)
            return decoder == nil ? Engine.unavailable(without: ContentDecoder.missingLibrary(for: codings)) : nil
        }
    }

    /// Processes a piece of the body. Returns nil if more may follow at once.
    final func processBody(_ bytes: UnsafeRawBufferPointer, budget: inout Int) -> Status? {
        if resendReason != nil {
            drained += bytes.count
            return drained > Transaction.drainedBody ? .complete : nil
        }
        if hasUndecoded {
            receivedEncoded += Int64(bytes.count)
            encoded.append(contentsOf: bytes)
            return .blocked
        }
        receivedEncoded += Int64(bytes.count)
        guard decoder != nil else {
            if let error = count(bytes.count) { return .failed(error) }
            if let base = bytes.bindMemory(to: UInt8.self).baseAddress { pending.append(base, count: bytes.count) }
            if pending.count >= call.pool.configuration.responseBufferSize { flushPending() }
            return nil
        }
        var position = 0
        switch decode(bytes, from: &position, budget: &budget) {
        case .needsInput: return nil
        case .blocked:
            encoded = Array(bytes[position...])
            encodedPosition = 0
            if encoded.isEmpty { encodedHasMore = true }
            return .blocked
        case let status: return status
        }
    }

    /// True if the decoder has more output although all input is consumed.
    private var encodedHasMore = false

    /// True if received bytes wait to be decoded.
    var hasUndecoded: Bool { !encoded.isEmpty || encodedHasMore }

    /// The maximum number of bytes in a row that a decoder may consume without output. Empty members and blocks, skippable frames
    /// and padding have none, and a server can send them without end.
    private static let maximumBarrenInput: Int64 = 1 << 20
    /// The number of bytes since the last output that the decoder has consumed, or that were between two codings.
    private var barrenInput: Int64 = 0

    /// Checks the number of encoded bytes since the last output, and in the whole body. Returns the error if there are too many.
    private func checkEncodedSize(_ decoder: ContentDecoder) -> SluiceError? {
        if barrenInput > Transaction.maximumBarrenInput { return .barrenEncoding }
        // A body that cannot be compressed becomes a little longer.
        let encoded = max(receivedEncoded, decoder.intermediate)
        guard let limit = call.context.limits.body, encoded > Transaction.maximumBarrenInput,
            (encoded - Transaction.maximumBarrenInput) / 9 * 8 > limit
        else { return nil }
        return .bodyTooLarge(limit: limit)
    }

    /// Decodes bytes from an earlier turn.
    final func decodeRest(budget: inout Int) -> Status {
        encodedHasMore = false
        let status = encoded.withUnsafeBytes { decode($0, from: &encodedPosition, budget: &budget) }
        switch status {
        case .blocked: encodedHasMore = encodedPosition == encoded.count
        default:
            encoded = []
            encodedPosition = 0
        }
        return status
    }

    private func decode(_ bytes: UnsafeRawBufferPointer, from position: inout Int, budget: inout Int) -> Status {
        guard let decoder else { return .needsInput }
        while true {
            if budget <= 0 || isPaused { return .blocked }
            let (start, between) = (position, decoder.intermediate)
            let step = decoder.next(from: bytes, at: &position)
            // A step with little output may take as long as one with much.
            budget -= decoder.cost
            barrenInput += max(Int64(position - start), decoder.intermediate - between)
            switch step {
            case .output(let data):
                barrenInput = 0
                if let error = count(data.count) ?? checkEncodedSize(decoder) { return .failed(error) }
                if pending.isEmpty { pending = data } else { pending.append(data) }
                if pending.count >= call.pool.configuration.responseBufferSize { flushPending() }
            case .again:
                if let error = checkEncodedSize(decoder) { return .failed(error) }
            case .needsInput: return checkEncodedSize(decoder).map { .failed($0) } ?? .needsInput
            case .failed: return .failed(.damagedEncoding)
            }
        }
    }

    /// Counts decoded bytes and checks the limits. Returns the error if one is exceeded.
    final func count(_ bytes: Int) -> SluiceError? {
        received += Int64(bytes)
        let limits = call.context.limits
        if let limit = limits.body, received > limit { return .bodyTooLarge(limit: limit) }
        guard let decoder else { return nil }
        let decoded = max(received, decoder.intermediate)
        return limits.exceedsDecompressionRatio(decoded, of: receivedEncoded) ? .bodyTooDense : nil
    }

    /// Ends the body.
    ///
    /// - Parameter endsWithConnection: True if only the end of the connection marks the end of the body.
    /// - Returns: `complete` or `failed`.
    final func complete(endsWithConnection: Bool = false) -> Status {
        isComplete = true
        // A body that ends with the connection may have lost all of its bytes.
        if decoder != nil, receivedEncoded == 0, endsWithConnection { return .failed(.truncatedEncoding) }
        if let decoder, receivedEncoded > 0 {
            switch decoder.finish() {
            case nil: break
            case .truncated: return .failed(.truncatedEncoding)
            default: return .failed(.damagedEncoding)
            }
        }
        return .complete
    }

    /// The trailer section. Valid once the response is complete.
    var trailers: HTTPHeaders { [:] }

    // MARK: Delivery

    @exclusivity(unchecked) private var answer: Result<TransportResponse, SluiceError>?

    /// The end of a body that is delivered through a pipe.
    struct BodyEnd {
        let pipe: ResponsePipe
        let result: Result<TransferMetrics, SluiceError>
        let trailers: HTTPHeaders
    }

    @exclusivity(unchecked) private var bodyEnd: BodyEnd?

    /// Takes the end of the body. Delivering it may cause the reader to send its next request at once.
    func takeBodyEnd() -> BodyEnd? { bodyEnd.take() }

    /// Takes the answer for the caller, or returns nil if there is none yet.
    func takeAnswer() -> Result<TransportResponse, SluiceError>? { answer.take() }

    /// Delivers the received bytes at the end of a turn.
    func flush() {
        guard head != nil else { return }
        if pipe == nil || !pending.isEmpty { flushPending() }
    }

    private func flushPending() {
        guard let head else { return }
        if pipe == nil {
            let pipe = carrier.makePipe(for: call)
            self.pipe = pipe
            reporter?.expected(head.bodyLength(of: call.request.method))
            answer = .success(TransportResponse(head: head, body: ResponseBody(ResponsePipe.Reader(pipe))))
        }
        if pending.isEmpty { return }
        write(pending)
        pending = Data()
        if awaitsDrain { _ = awaitDrain() }
    }

    /// Delivers a piece without a copy, after the pending bytes.
    final func writePiece(_ piece: Data) {
        if !pending.isEmpty { flushPending() }
        write(piece)
    }

    private func write(_ chunk: Data) {
        if pipe == nil { flushPending() }
        reporter?.received(received)
        if pipe?.write(chunk) == true { isPaused = true }
    }

    /// Returns the number of unread body bytes, and requests a resumption once all are read.
    func awaitDrain() -> Int {
        awaitsDrain = !pending.isEmpty
        return pending.count + (pipe?.awaitDrain() ?? 0)
    }

    /// Resumes after back-pressure.
    func resume(now: MonotonicTime) {
        isPaused = false
        lastActivity = now
    }

    /// Ends the response and delivers the rest of it.
    func finish(now: MonotonicTime, remoteAddress: String?) {
        guard let head else { return }
        let metrics = metrics(head, now: now, remoteAddress: remoteAddress)
        reporter?.received(received)
        if let pipe {
            if !pending.isEmpty { flushPending() }
            bodyEnd = BodyEnd(pipe: pipe, result: .success(metrics), trailers: trailers)
        } else {
            reporter?.expected(received)
            let body = ResponseBody(pending, metrics: metrics, trailers: trailers)
            answer = .success(TransportResponse(head: head, body: body))
        }
        body.close()
    }

    /// Ends the request with an error. Bytes received before remain readable.
    func fail(_ error: SluiceError) {
        body.close()
        let error = error.with(request: call.request, response: head)
        // A redirect needs only its head, so it is delivered even if its body is damaged.
        if let head, pipe == nil, !pending.isEmpty || head.status.class == .redirection { flushPending() }
        if let pipe {
            if !pending.isEmpty { flushPending() }
            bodyEnd = BodyEnd(pipe: pipe, result: .failure(error), trailers: [:])
        } else {
            reporter?.expected(head?.bodyLength(of: call.request.method))
            reporter?.received(received)
            answer = .failure(error)
        }
    }

    /// Rewinds the body for another attempt.
    ///
    /// - Returns: False if bytes of the body have been consumed and cannot be read again.
    func rewindBody() -> Bool {
        if resendReason == .withCredentials { call.withAttempt { $0.began = began } }
        if resendReason == .withoutExpect { call.withAttempt { $0.omitsExpect = true } }
        if holdsBodyBack { return true }
        guard body.rewind() else { return false }
        call.keepBody(body)
        body = .none
        return true
    }

    private func metrics(_ head: HTTPResponse, now: MonotonicTime, remoteAddress: String?) -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.queued = max(.zero, began.since(call.queued))
        metrics.nameLookup = timings.nameLookup
        metrics.connect = timings.connect
        metrics.tls = timings.tls
        metrics.firstByte = (firstByte ?? now).since(began)
        metrics.total = now.since(began)
        metrics.bytesSent = sent
        metrics.bytesReceived = receivedEncoded
        metrics.version = head.version
        metrics.remoteAddress = remoteAddress
        metrics.isConnectionReused = hasServedOtherCalls
        if let sentHead {
            metrics.sentRequest = SentRequest(
                headers: sentHead.fields,
                headLength: sentHead.length,
                end: sendEnd?.since(began)
            )
        }
        return metrics
    }

    // MARK: Deadlines

    /// Returns the time at which the request times out if nothing happens before.
    func deadline(hasOutput: Bool) -> MonotonicTime {
        var deadline = call.deadline
        if case .waitsForContinue(let time) = sending { deadline = min(deadline, time) }
        // The idle time-out does not apply while the caller does not read, or while the request body has nothing to send.
        guard let idle = call.context.timeouts.idle, !isPaused, !awaitsBody || hasOutput else { return deadline }
        return min(deadline, lastActivity + idle)
    }
}

/// The durations from the start of a dial to its stages. All zero for an existing connection.
struct ConnectionTimings: Sendable {
    var nameLookup = Duration.zero
    var connect = Duration.zero
    var tls = Duration.zero
}

extension SluiceError {
    static var closedBeforeResponse: SluiceError {
        SluiceError(
            .connectionLost,
            "The reused connection closed before a response arrived. The server may have received the request."
        )
    }

    static var bodyNotRewound: SluiceError {
        SluiceError(.bodyNotReplayable, "The body would have to be sent again, but it can be read only once.")
    }

    static var damagedEncoding: SluiceError {
        SluiceError(.invalidResponse, "The response's content encoding is damaged or unknown.")
    }

    static var barrenEncoding: SluiceError {
        SluiceError(
            .bodyTooLarge,
            "The response's body contains more than 1 MiB of compressed data in a row that decompresses to nothing."
        )
    }

    /// The head of a request that libnghttp2 refuses to send.
    static var requestHeadTooLarge: SluiceError {
        SluiceError(.headersTooLarge, "The request's header fields exceed the limit of 64 KiB for HTTP/2.")
    }

    static var truncatedEncoding: SluiceError {
        SluiceError(.truncatedBody, "The response's compressed body ended before it was complete.")
    }

    static var bodyTooDense: SluiceError {
        SluiceError(
            .bodyTooLarge,
            "The response's body expands too much when it is decompressed. If that is expected, raise limits.decompressionRatio."
        )
    }
}

extension HTTPHeaders {
    /// True if the request expects a 100 (Continue) response (RFC 9110 §10.1.1).
    fileprivate var expectsContinue: Bool {
        self[.expect].map { $0.utf8.elementsEqual("100-continue".utf8) { $0.asciiLowercased == $1 } } ?? false
    }
}

extension UploadSource {
    /// True if the body may have content. A request without content must not expect a 100 (Continue) response.
    fileprivate var mayHaveContent: Bool {
        switch self {
        case .none: false
        case .data(let data): !data.isEmpty
        case .stream(_, let length, _, _): length != 0
        }
    }
}
#endif
