#if os(Linux)
import CNghttp2
import SluiceHTTP

/// One request on a connection of HTTP/2.
///
/// ```
/// open ──▶ head ──▶ body ──▶ ended ──▶ closed
///   └────────┴────────┴──────────────▶ closed early, by a reset or with its connection
/// ```
final class HTTP2Stream: Transaction {
    /// The maximum total number of fields in all heads and the trailer section.
    private static let fieldLimit = 1000
    /// The size in bytes up to which a head over its limit is skipped. Beyond it, and beyond twice the limit, the connection fails.
    private static let skipLimit = 256 << 10

    var id: Int32 = 0
    var window = FlowWindow()
    /// The time at which the request was submitted to the session.
    private(set) var submitted = MonotonicTime.distantFuture
    /// True once the head, or a part of it, is in the output.
    var isBeingWritten = false
    /// The position of the head, or of its last part, in the connection's output.
    var headPosition = 0
    /// The size of the initial window in the client's budget of large windows; 0 if the stream takes nothing from it.
    private var largeWindow = 0
    /// True while the stream is in the session's collection of touched streams.
    var isTouched = false
    /// True while sending is suspended because the body has nothing to send.
    var isDeferred = false
    /// True once the server has ended its side of the stream.
    var hasEnded = false
    /// True once the stream is closed on both sides, or reset.
    var isClosed = false
    /// True once the server has reset the stream.
    var wasReset = false
    /// True until the server has ended the request. Its first reset is an answer, and not a frame without content.
    var mayBeReset: Bool { !wasReset && !isClosed }
    /// The number of body bytes in all frames without padding, including those of a frame that has begun.
    var dataLength: Int64 = 0
    /// The error code with which the stream was closed.
    var closeCode: UInt32 = 0
    /// The wait for the acknowledgement of the last written bytes of the body.
    private var bodyWait = AcknowledgementWait()
    /// The error that ends the stream.
    var failure: SluiceError?
    /// True once the fields far exceed a limit, so that the connection is closed instead of skipping them.
    private(set) var exceedsSkipLimit = false

    private var fields = HTTP2ResponseHead()
    private var fieldBytes = 0
    private var fieldCount = 0
    private var informationalCount = 0
    private var trailerFields = HTTPHeaders()
    /// The number of received body bytes for which no flow-control credit has been returned to the server.
    private(set) var withheldCredit = 0

    override var trailers: HTTPHeaders { trailerFields }

    /// Returns the error if the server accepts no stream for the request, with the reason from GOAWAY if there is one.
    func refusal(goAway reason: String?) -> SluiceError {
        let reason = reason.map { ": \($0)" } ?? ""
        return SluiceError(.connectionLost, "The server at \(call.serverName) refused the request's stream\(reason).")
    }

    deinit {
        guard largeWindow > 0 else { return }
        let share = WindowBudget.Share(of: call.pool.windowBudget, bytes: largeWindow)
        // Until it is read, the body occupies the bytes that the window permitted.
        pipe?.keepUntilRead(share)
    }

    // MARK: Sending

    /// Gives the stream a large initial window if the client's budget allows it. Called before the request is sent.
    func enlargeWindow() {
        largeWindow = call.pool.windowBudget.take()
        if largeWindow > 0 { window = FlowWindow(size: largeWindow) }
    }

    /// Opens the body and returns the head. Waits for a 100 response if the request expects one.
    func start(now: MonotonicTime) -> (head: HTTP2RequestHead, hasBody: Bool) {
        submitted = now
        let expects = openBody()
        if expects { sending = .waitsForContinue(until: now + call.context.timeouts.continueWait) }
        let length = upload.length
        // A stream is read even if it was declared to be empty, so that a wrong length is found.
        let hasBody = if case .stream = upload { true } else { length != 0 }
        if !hasBody { sending = .sent }
        var head = HTTP2RequestHead(
            of: call.request,
            length: length,
            codings: acceptedCodings,
            omitsExpect: !expects
        )
        head.add(call.addedFields())
        if call.context.recordsRequest { sentHead = (head.headers, nil) }
        return (head, hasBody)
    }

    /// Ends the wait for more of the request body. The idle time-out applies from now on.
    func stopWaitingForBody(now: MonotonicTime) {
        guard awaitsBody else { return }
        awaitsBody = false
        lastActivity = now
    }

    /// Copies the next bytes of the request body into a buffer.
    func read(into buffer: UnsafeMutableRawBufferPointer, now: MonotonicTime) -> UploadPipe.Piece {
        switch sending {
        case .body: break
        case .sent: return .end
        case .waitsForContinue, .stopped: return .wait
        }
        awaitsBody = false
        let piece = body.read(into: buffer)
        switch piece {
        case .bytes(let count):
            countSent(count)
            lastActivity = now
            bodyWait = AcknowledgementWait()
            if case .data = upload, sentBytes == upload.length { sending = .sent }
        case .wait:
            awaitsBody = true
            lastActivity = now
        case .end: sending = .sent
        case .failed: hasBodyFailed = true
        }
        return piece
    }

    /// Moves the idle time-out to the last acknowledgement while the send buffer may contain bytes of a large body.
    func recordAcknowledgement(on socket: SocketStream) {
        guard hasLargeBody, let time = socket.progress(of: &bodyWait) else { return }
        lastActivity = max(lastActivity, time)
    }

    /// The time at which the request times out. The response of a closed stream only waits to be decoded, so that the idle time-out does
    /// not apply.
    var expiration: MonotonicTime { isClosed ? call.deadline : deadline(hasOutput: false) }

    // MARK: Receiving

    /// The fields whose values nghttp2 checks itself, and does not if it has found the field to be invalid.
    private static let checkedFields = [
        "connection", "content-length", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]

    /// Returns true for a field that is valid but for blanks around its value. They make the message malformed (RFC 9113 §8.2.1), but servers
    /// send them, and HTTP/1.1 allows them.
    static func hasOnlyBlanksToTrim(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        let trimmed = value.trimmed
        return trimmed.count < value.count && trimmed.allSatisfy(\.isFieldByte) && !name.isEmpty
            && name.allSatisfy { $0.isTokenCharacter && $0 == $0.asciiLowercased }
            && !checkedFields.contains { name.elementsEqual($0.utf8) }
    }

    /// Adds a field of a head or of the trailer section. Returns an error if it exceeds a limit.
    func appendField(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> SluiceError? {
        let value = value.trimmed
        fieldBytes += name.count + value.count + 4
        fieldCount += 1
        let limit = min(max(call.context.limits.headers, 0), Int(Int32.max))
        if fieldBytes > limit || fieldCount > HTTP2Stream.fieldLimit {
            exceedsSkipLimit =
                fieldBytes > max(2 * limit, HTTP2Stream.skipLimit) || fieldCount > 2 * HTTP2Stream.fieldLimit
            return fieldBytes > limit
                ? ResponseSyntaxError.headTooLarge(limit: limit).error : ResponseSyntaxError.tooManyFields.error
        }
        fields.append(name, value)
        return nil
    }

    /// Ends a head or the trailer section.
    func endFields(ends: Bool, now: MonotonicTime) {
        lastActivity = now
        if firstByte == nil { firstByte = now }
        if ends { hasEnded = true }
        guard failure == nil else { return }
        // A response with a reason to send the request again has no head here.
        if head != nil || resendReason != nil {
            trailerFields = fields.takeTrailers()
            return
        }
        let response = fields.takeResponse()
        switch response.status.rawValue {
        case ..<100: failure = ResponseSyntaxError.malformedStatusLine.error
        case 101: failure = ResponseSyntaxError.unexpectedUpgrade.error
        case ..<200:
            informationalCount += 1
            if informationalCount > ResponseParser.informationalLimit {
                failure = ResponseSyntaxError.tooManyInformational.error
            } else {
                processInformational(response)
            }
        default:
            let hasBody = !ends && call.request.method.rawValue != "HEAD"
            failure = take(response, hasBody: hasBody)
        }
    }

    /// Processes a piece of the body.
    ///
    /// - Returns: The number of bytes of credit to return to the server at once.
    func receive(_ bytes: UnsafeRawBufferPointer, budget: inout Int, now: MonotonicTime) -> Int {
        lastActivity = now
        withheldCredit += bytes.count
        guard failure == nil else { return 0 }
        // RFC 9113 §8.1: nghttp2 ensures that no body precedes the head.
        if head == nil { return 0 }
        recordFailure(of: processBody(bytes, budget: &budget))
        return takeCredit()
    }

    /// Decodes bytes that an earlier turn could not decode.
    ///
    /// - Returns: The number of bytes of credit to return to the server.
    func decodeMore(budget: inout Int) -> Int {
        recordFailure(of: decodeRest(budget: &budget))
        return takeCredit()
    }

    private func recordFailure(of status: Status?) {
        if case .failed(let error)? = status { failure = failure ?? error }
    }

    /// Takes the credit for bytes that the reader has room for.
    func takeCredit() -> Int {
        if isPaused || hasUndecoded { return 0 }
        defer { withheldCredit = 0 }
        return withheldCredit
    }

    /// Returns the error of a stream whose connection the server has closed, with the reason from GOAWAY if there is one.
    func earlyCloseError(goAway reason: String?) -> SluiceError {
        let host = call.serverName
        if let reason {
            return SluiceError(.connectionLost, "The server at \(host) ended the connection: \(reason).")
        }
        if head != nil { return ResponseSyntaxError.closedInBody.error }
        return SluiceError(.connectionLost, "The server at \(host) closed the connection without sending a response.")
    }

    /// Returns true if the request can be sent again after the loss of its connection, because the server has not processed it or may
    /// process it twice. After a protocol error, a request that was written is not sent again.
    func mayBeRepeated(afterProtocolError: Bool) -> Bool {
        guard firstByte == nil, failure == nil else { return false }
        return !hasWritten || isReused && call.isIdempotent && !afterProtocolError
    }

    /// Returns the outcome once all received bytes are decoded, or nil before that.
    func outcome() -> Status? {
        if let failure { return .failed(failure) }
        // The request is sent again, so the rest of this response is discarded.
        if resendReason != nil { return .complete }
        guard hasEnded, !hasUndecoded else { return nil }
        guard head != nil else { return .failed(ResponseSyntaxError.closedInHead.error) }
        return complete()
    }
}

// MARK: - Accepted streams

/// The number of streams that a server accepts at once, learned from a refusal. It grows by one when the server has answered as many
/// requests.
struct AcceptedStreams: Equatable {
    private(set) var count: Int
    private var answered = 0
    /// The time at which the number no longer applies. The server may have been busy for a short time.
    let end: MonotonicTime

    /// Learns the number from a refusal.
    ///
    /// - Parameters:
    ///   - count: The number of the other streams, at least one.
    ///   - now: The time of the refusal.
    init(count: Int, at now: MonotonicTime) {
        self.count = count
        end = now + .seconds(1)
    }

    mutating func recordAnswer() {
        answered += 1
        guard answered >= count else { return }
        count += 1
        answered = 0
    }
}

// MARK: - HTTP2 effects

/// The effects of a turn, which are performed after the lock of the connection is released.
struct HTTP2Effects {
    var answers: [(call: Call, result: Result<TransportResponse, SluiceError>)] = []
    var bodyEnds: [Transaction.BodyEnd] = []
    /// The requests whose callers have left. They are kept until the lock is released, because their end may release objects of the user.
    var abandoned: [Call] = []
    /// The number of released request slots.
    var released = 0
    var resends: [Call] = []
    /// Requests that must be sent with HTTP/1.1 (RFC 9113 §7).
    var downgrades: [Call] = []
    /// A changed maximum number of concurrent requests, to pass to the pool.
    var capacity: Int?
    /// True if the capacity was learned from refusals, and says nothing about other connections.
    var isLearned = false
    /// True if the capacity is zero because the server does not respond.
    var isSuspect = false
    /// True to remove the connection from the pool.
    var leavesPool = false
    /// True if the socket was closed in this turn.
    var isClosed = false
    /// True if the socket is closed and no stream is left, so that the connection needs no further turn and no timer.
    var leavesLoop = false
    var setsTimer = false
    var wantsTurn = false

    /// Reports the capacity of a session to the pool, and returns it.
    mutating func report(_ session: HTTP2Session) -> Int {
        capacity = session.capacity
        isLearned = session.hasLearnedCapacity
        isSuspect = false
        return session.capacity
    }
}
#endif
