#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

/// One request on one connection, of any version of HTTP: what is sent of it, what has come back, and when it is late.
///
/// It does no input or output itself. Its connection, which holds the lock over it, writes what it puts into the output queue and
/// gives it what was read.
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
        /// The rest of the body is not sent any more: the response came first, or the socket takes nothing more.
        case stopped
    }

    enum Status {
        case needsInput
        /// The turn has made enough output, or the reader holds the body back.
        case blocked
        case complete
        case failed(SluiceError)
    }

    /// Bodies up to this size go out with the head.
    static let inlineBody = 64 << 10

    /// The most bytes that are read of a response that is not the caller's; with more of them a new connection costs less.
    static let drainedBody = 64 << 10

    /// The cause for which a response is not the caller's, and the request goes again.
    enum Repetition {
        /// The server has refused the Expect field (417).
        case withoutExpect
        /// The server or a proxy has asked for credentials, or has taken the request without the body that was held back.
        case withCredentials
    }

    let call: Call
    let isReused: Bool
    private unowned let carrier: any RequestCarrier
    final var sending = Sending.body
    private(set) final var head: HTTPResponse?
    /// True once a byte of the request has been given to the socket.
    var hasWritten = false
    /// True while the reader holds the body back.
    private(set) var isPaused = false
    /// True while the body that is sent has no bytes ready.
    var awaitsBody = false
    var lastActivity: MonotonicTime

    /// The moment at which it had a connection, or began to wait for one of its own.
    final let began: MonotonicTime
    private let timings: ConnectionTimings
    final var body: UploadBody
    private var sent: Int64 = 0
    final var firstByte: MonotonicTime?
    private(set) final var decoder: ContentDecoder?
    /// Encoded bytes that were read and could not be decoded in their turn.
    private var encoded: [UInt8] = []
    private var encodedPosition = 0
    private var pending = Data()
    /// True if the pipe is to tell when all is read, `pending` included.
    private var awaitsDrain = false
    private var received: Int64 = 0
    final var receivedEncoded: Int64 = 0
    private var pipe: ResponsePipe?
    private var run: TransferMeter.Run?
    /// The cause for which the request has to be sent again; nil if the response is the caller's.
    private(set) final var repetition: Repetition?
    private var drained = 0
    private(set) final var isComplete = false
    /// True if requests of other calls went by the connection before.
    private let isShared: Bool
    /// True if the body is not sent before somebody has asked for credentials.
    private(set) final var holdsBodyBack = false

    /// Prepares a request for its connection.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - carrier: The connection, which owns this.
    ///   - isReused: True if another request went by the connection before.
    ///   - began: The moment at which the request had its slot.
    ///   - timings: What making the connection took; zero where it was there.
    ///   - isShared: True if the other requests were those of other calls.
    ///   - now: The time.
    init(
        _ call: Call,
        on carrier: any RequestCarrier,
        isReused: Bool,
        began: MonotonicTime,
        timings: ConnectionTimings,
        isShared: Bool = true,
        now: MonotonicTime
    ) {
        self.call = call
        self.carrier = carrier
        self.isReused = isReused
        self.isShared = isReused && isShared
        self.began = began
        self.timings = timings
        lastActivity = now
        run = call.context.meter?.begin(uploading: call.upload.length)
        body = .none
    }

    /// Prepares a request that goes again by the connection on which it was challenged.
    convenience init(repeating previous: Transaction, now: MonotonicTime) {
        self.init(
            previous.call,
            on: previous.carrier,
            isReused: true,
            began: previous.began,
            timings: previous.timings,
            isShared: previous.isShared,
            now: now
        )
    }

    // MARK: Sending

    /// Opens the body, or takes over what an earlier attempt has opened.
    ///
    /// - Returns: True if the server is asked before the body is sent.
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
        return !omitsExpect && call.request.headers.expectsContinue && upload.mayHaveContent
    }

    /// The body that this attempt sends.
    final var upload: UploadSource { holdsBodyBack ? .none : call.upload }

    /// The bytes of the body that are on their way.
    final var sentBytes: Int64 { sent }

    /// Counts bytes of the body that are on their way.
    final func countSent(_ bytes: Int) {
        sent += Int64(bytes)
        run?.sent(sent)
    }

    /// True once the source of the body has failed, and all that it gave before has been put into the output.
    final var hasBodyFailed = false

    /// The error with which the source of the body has failed.
    var bodyFailure: SluiceError? { body.failure }

    /// Sends no more of the body.
    func stopSending() {
        if sending == .sent { return }
        sending = .stopped
        awaitsBody = false
        body.close()
    }

    // MARK: Receiving

    /// Takes a 1xx head.
    final func takeInformational(_ head: HTTPResponse) {
        if case .waitsForContinue = sending, head.status == 100 { sending = .body }
        call.context.onInformational?(head)
    }

    /// Sends the body although the server has not asked for it.
    func waitNoLongerForContinue() {
        if case .waitsForContinue = sending { sending = .body }
    }

    /// Takes the final head.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - hasBody: True if a body may follow.
    /// - Returns: The error that ends the request, if there is one. The response is not the caller's where ``repetition`` is set.
    final func take(_ head: HTTPResponse, hasBody: Bool) -> SluiceError? {
        call.takeCookies(of: head)
        if case .waitsForContinue = sending, head.status == 417 {
            sending = .stopped
            repetition = .withoutExpect
            return nil
        }
        if call.answer(challenge: head) {
            if sending != .sent { sending = .stopped }
            awaitsBody = false
            repetition = .withCredentials
            return nil
        }
        call.takeAuthenticationInfo(of: head)
        if case .waitsForContinue = sending {
            sending = .stopped
            body.close()
        } else if sending == .body, head.status.rawValue >= 300 {
            stopSending()
        }
        self.head = head
        let method = call.request.method
        let limits = call.context.limits
        if let limit = limits.body, let length = head.bodyLength(of: method), length > limit {
            return .bodyTooLarge(limit: limit)
        }
        guard call.pool.configuration.decompressesResponses, hasBody,
            head.headers.contains(.contentEncoding)
        else { return nil }
        switch ContentDecoder.plan(for: head.headers) {
        case .identity, .unknown: return nil
        case .tooMany: return SluiceError(.invalidResponse, "The response has more than two content codings.")
        case .decode(let codings):
            decoder = ContentDecoder(codings)
            return decoder == nil ? Engine.unavailable : nil
        }
    }

    /// Takes a piece of the body; returns nil if more may follow at once.
    final func takeBody(_ bytes: UnsafeRawBufferPointer, budget: inout Int) -> Status? {
        if repetition != nil {
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
            if pending.count >= call.pool.configuration.responseBuffer { flushPending() }
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

    /// True if the decoder has more output though all input is taken.
    private var encodedHasMore = false

    /// True if bytes that were read wait to be decoded.
    var hasUndecoded: Bool { !encoded.isEmpty || encodedHasMore }

    /// Decodes bytes that came in an earlier turn.
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
            switch decoder.next(from: bytes, at: &position) {
            case .output(let data):
                budget -= data.count
                if let error = count(data.count) { return .failed(error) }
                if pending.isEmpty { pending = data } else { pending.append(data) }
                if pending.count >= call.pool.configuration.responseBuffer { flushPending() }
            case .again: budget -= ContentDecoder.pieceSize
            case .needsInput: return .needsInput
            case .failed: return .failed(.damagedEncoding)
            }
        }
    }

    /// Counts bytes of the decoded body against the limits.
    final func count(_ bytes: Int) -> SluiceError? {
        received += Int64(bytes)
        let limits = call.context.limits
        if let limit = limits.body, received > limit { return .bodyTooLarge(limit: limit) }
        if decoder != nil, limits.isTooDense(received, of: receivedEncoded) { return .bodyTooDense }
        return nil
    }

    /// Ends the body.
    ///
    /// - Parameter endsWithConnection: True if nothing but the end of the connection says so.
    /// - Returns: `complete` or `failed`.
    final func complete(endsWithConnection: Bool = false) -> Status {
        isComplete = true
        // A body that ends with its connection may have lost all of its bytes.
        if decoder != nil, receivedEncoded == 0, endsWithConnection { return .failed(.encodingCutShort) }
        if let decoder, receivedEncoded > 0 {
            switch decoder.finish() {
            case nil: break
            case .truncated: return .failed(.encodingCutShort)
            default: return .failed(.damagedEncoding)
            }
        }
        return .complete
    }

    /// The trailer section, once the response is complete.
    var trailers: HTTPHeaders { [:] }

    // MARK: Handing over

    private var answer: Result<TransportResponse, SluiceError>?

    /// The end of a body that goes through a pipe.
    struct BodyEnd {
        let pipe: ResponsePipe
        let result: Result<TransferMetrics, SluiceError>
        let trailers: HTTPHeaders
    }

    private var bodyEnd: BodyEnd?

    /// Takes the end of the body for its reader, who may send the next request at once.
    func takeBodyEnd() -> BodyEnd? { bodyEnd.take() }

    /// Takes the answer for the caller, if there is one now.
    func takeAnswer() -> Result<TransportResponse, SluiceError>? { answer.take() }

    /// Hands over what has come so far, at the end of a turn.
    func flush() {
        guard head != nil else { return }
        if pipe == nil || !pending.isEmpty { flushPending() }
    }

    private func flushPending() {
        guard let head else { return }
        if pipe == nil {
            let pipe = carrier.makePipe(for: call)
            self.pipe = pipe
            run?.expects(head.bodyLength(of: call.request.method))
            answer = .success(TransportResponse(head: head, body: ResponseBody(ResponsePipe.Reader(pipe))))
        }
        if pending.isEmpty { return }
        write(pending)
        pending = Data()
        if awaitsDrain { _ = awaitDrain() }
    }

    /// Hands a piece over as it is, behind what waits.
    final func writeWhole(_ piece: Data) {
        if !pending.isEmpty { flushPending() }
        write(piece)
    }

    private func write(_ chunk: Data) {
        if pipe == nil { flushPending() }
        run?.received(received)
        if pipe?.write(chunk) == true { isPaused = true }
    }

    /// Returns the bytes of the body that wait to be read; asks to be resumed once all are read.
    func awaitDrain() -> Int {
        awaitsDrain = !pending.isEmpty
        return pending.count + (pipe?.awaitDrain() ?? 0)
    }

    /// The reader wants more.
    func resume(now: MonotonicTime) {
        isPaused = false
        lastActivity = now
    }

    /// Ends the response: the caller gets what is left of it.
    func finish(now: MonotonicTime, remoteAddress: String?) {
        guard let head else { return }
        let metrics = metrics(head, now: now, remoteAddress: remoteAddress)
        run?.received(received)
        if let pipe {
            if !pending.isEmpty { flushPending() }
            bodyEnd = BodyEnd(pipe: pipe, result: .success(metrics), trailers: trailers)
        } else {
            run?.expects(received)
            let body = ResponseBody(pending, metrics: metrics, trailers: trailers)
            answer = .success(TransportResponse(head: head, body: body))
        }
        body.close()
    }

    /// Ends the request with an error; what came before it can still be read.
    func fail(_ error: SluiceError) {
        body.close()
        let error = error.with(request: call.request, response: head)
        // A redirect is followed by its head, though its body is damaged.
        if let head, pipe == nil, !pending.isEmpty || head.status.class == .redirection { flushPending() }
        if let pipe {
            if !pending.isEmpty { flushPending() }
            bodyEnd = BodyEnd(pipe: pipe, result: .failure(error), trailers: [:])
        } else {
            run?.expects(head?.bodyLength(of: call.request.method))
            run?.received(received)
            answer = .failure(error)
        }
    }

    /// Takes the body back for another attempt.
    ///
    /// - Returns: False if bytes of it are gone that cannot be had again.
    func rewindBody() -> Bool {
        if repetition == .withCredentials { call.withAttempt { $0.began = began } }
        if holdsBodyBack { return true }
        guard body.rewind() else { return false }
        call.withAttempt { $0.body = body }
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
        metrics.isConnectionReused = isShared
        return metrics
    }

    // MARK: Deadlines

    /// The moment at which the request is late, unless something happens until then.
    func deadline(hasOutput: Bool) -> MonotonicTime {
        var deadline = call.deadline
        if case .waitsForContinue(let time) = sending { deadline = min(deadline, time) }
        // A caller that does not read, or has nothing to send yet, is not a server that is silent.
        guard let idle = call.context.timeouts.idle, !isPaused, !awaitsBody || hasOutput else { return deadline }
        return min(deadline, lastActivity + idle)
    }
}

/// Offsets from the start of a dial to its stages; all zero for a connection that was there.
struct ConnectionTimings: Sendable {
    var nameLookup = Duration.zero
    var connect = Duration.zero
    var tls = Duration.zero
}

extension SluiceError {
    static var damagedEncoding: SluiceError {
        SluiceError(.invalidResponse, "The response's content encoding is damaged or not known.")
    }

    static var encodingCutShort: SluiceError {
        SluiceError(.truncatedBody, "The response's compressed body ended before all of it had come.")
    }

    static var bodyTooDense: SluiceError {
        SluiceError(
            .bodyTooLarge,
            "The response's body becomes too long by decompression; raise limits.decompressionRatio if that is meant."
        )
    }
}

extension HTTPHeaders {
    /// True if the server is asked before the body is sent (RFC 9110 §10.1.1).
    fileprivate var expectsContinue: Bool {
        self[.expect].map { $0.utf8.elementsEqual("100-continue".utf8) { $0.asciiLowercased == $1 } } ?? false
    }
}

extension UploadSource {
    /// True if there may be anything to hold back: a request without content must not ask.
    fileprivate var mayHaveContent: Bool {
        switch self {
        case .none: false
        case .data(let data): !data.isEmpty
        case .stream(_, let length, _): length != 0
        }
    }
}
#endif
