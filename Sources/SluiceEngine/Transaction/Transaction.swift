#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

/// One request on one connection: what is sent of it, what has come back, and when it is late.
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
final class Transaction {
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

    let call: Call
    let isReused: Bool
    private unowned let connection: Connection
    private(set) var sending = Sending.body
    private(set) var head: HTTPResponse?
    private(set) var parser: ResponseParser
    /// True once a byte of the request has been given to the socket.
    var hasWritten = false
    /// True while the reader holds the body back.
    private(set) var isPaused = false
    /// True while the body that is sent has no bytes ready.
    private(set) var awaitsBody = false
    var lastActivity: MonotonicTime

    private let began: MonotonicTime
    private let timings: ConnectionTimings
    private var body: UploadBody
    private var isChunked = false
    private var sent: Int64 = 0
    private var firstByte: MonotonicTime?
    private var decoder: ContentDecoder?
    /// Encoded bytes that were read and could not be decoded in their turn.
    private var encoded: [UInt8] = []
    private var encodedPosition = 0
    private var pending = Data()
    private var received: Int64 = 0
    private var receivedEncoded: Int64 = 0
    private var pipe: ResponsePipe?
    private var run: TransferMeter.Run?
    /// True if the server has refused the Expect field (417), and the request is to be sent again without it.
    private(set) var isContradicted = false
    private(set) var isComplete = false

    /// Prepares a request for its connection.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - connection: The connection, which owns this.
    ///   - isReused: True if another request went by the connection before.
    ///   - began: The moment at which the request had its slot.
    ///   - timings: What making the connection took; zero where it was there.
    ///   - now: The time.
    init(
        _ call: Call,
        on connection: Connection,
        isReused: Bool,
        began: MonotonicTime,
        timings: ConnectionTimings,
        now: MonotonicTime
    ) {
        self.call = call
        self.connection = connection
        self.isReused = isReused
        self.began = began
        self.timings = timings
        lastActivity = now
        parser = ResponseParser(for: call.request.method, headLimit: call.context.limits.headers)
        run = call.context.meter?.begin(uploading: call.upload.length)
        body = .none
    }

    // MARK: Sending

    /// Puts the head, and a body that lies in memory, into the output.
    func start(_ output: inout OutputQueue, now: MonotonicTime) {
        let request = call.request
        let (opened, omitsExpect) = call.withAttempt { ($0.body.take(), $0.omitsExpect) }
        let expects = !omitsExpect && request.headers.expectsContinue && call.upload.mayHaveContent
        let framing: RequestWriter.Framing
        switch call.upload {
        case .none: framing = .none
        case .data(let data): framing = .length(Int64(data.count))
        case .stream(_, let length?, _): framing = .length(length)
        case .stream: framing = .chunked
        }
        if let opened {
            body = opened
        } else if framing != .none {
            body = UploadBody(call.upload, onData: { [call] in call.bodyHasMore() })
        }
        isChunked = framing == .chunked
        output.append { buffer in
            RequestWriter.appendHead(
                of: request,
                framing: framing,
                decodes: call.pool.configuration.decompressesResponses ? ContentDecoder.acceptEncoding : nil,
                omitsExpect: !expects,
                to: &buffer
            )
        }
        if expects {
            sending = .waitsForContinue(until: now + call.context.timeouts.continueWait)
        } else {
            fill(&output, now: now)
        }
    }

    /// Puts more of the body into the output, if it has run dry.
    func fill(_ output: inout OutputQueue, now: MonotonicTime) {
        guard sending == .body, output.count < Transaction.inlineBody else { return }
        awaitsBody = false
        while output.count < Transaction.inlineBody {
            let (chunk, piece) = body.takeChunk(upTo: 256 << 10)
            switch piece {
            case .bytes(let count):
                guard let chunk else { return }
                if isChunked { output.append { RequestWriter.appendChunkHead(count, to: &$0) } }
                output.append(chunk)
                if isChunked { output.append { $0.append(contentsOf: "\r\n".utf8) } }
                sent += Int64(count)
                run?.sent(sent)
            case .wait:
                awaitsBody = true
                lastActivity = now
                return
            case .end:
                if isChunked { output.append { $0.append(contentsOf: "0\r\n\r\n".utf8) } }
                sending = .sent
                return
            case .failed:
                hasBodyFailed = true
                return
            }
        }
    }

    /// True once the source of the body has failed, and all that it gave before has been put into the output.
    private(set) var hasBodyFailed = false

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

    /// True if the body can be read into buffers of its own, past the parser's input.
    var largeRead: Int? {
        guard head != nil, decoder == nil, !isContradicted, let left = parser.bytesLeft, left >= 64 << 10 else {
            return nil
        }
        return Int(clamping: left)
    }

    /// Takes a piece of the body that was read into a buffer of its own.
    func take(_ piece: Data) -> Status {
        var position = 0
        let status = piece.withUnsafeBytes { input -> Status in
            switch parser.next(in: input, from: &position) {
            case .body(let range) where range.count == piece.count: .needsInput
            case .failed(let error): .failed(error)
            default: .failed(ResponseFlaw.malformedField.error)
            }
        }
        guard case .needsInput = status else { return status }
        receivedEncoded += Int64(piece.count)
        if let error = count(piece.count) { return .failed(error) }
        if !pending.isEmpty { flushPending() }
        write(piece)
        guard parser.bytesLeft == 0 else { return .needsInput }
        return piece.withUnsafeBytes { input in
            var end = input.count
            guard case .end = parser.next(in: input, from: &end) else { return .needsInput }
            return complete()
        }
    }

    /// Takes what was read, as far as it can.
    ///
    /// - Parameters:
    ///   - input: The bytes.
    ///   - position: The first byte that has not been taken; moved behind what was.
    ///   - budget: The bytes of output that the turn may still make.
    ///   - now: The time.
    /// - Returns: What follows.
    func process(_ input: UnsafeRawBufferPointer, from position: inout Int, budget: inout Int, now: MonotonicTime)
        -> Status
    {
        if hasUndecoded {
            switch decodeRest(budget: &budget) {
            case .needsInput: break
            case let status: return status
            }
        }
        while true {
            if isComplete { return .complete }
            switch parser.next(in: input, from: &position) {
            case .needsMore:
                if firstByte == nil, parser.hasBegun { firstByte = now }
                return .needsInput
            case .informational(let head): takeInformational(head)
            case .head(let head):
                if firstByte == nil { firstByte = now }
                if let error = take(head) { return .failed(error) }
            case .body(let range):
                if let status = takeBody(UnsafeRawBufferPointer(rebasing: input[range]), budget: &budget) {
                    return status
                }
            case .end: return complete()
            case .failed(let error): return .failed(error)
            }
        }
    }

    /// The server has closed: returns how the response has ended by that.
    func end() -> Status {
        switch parser.finish() {
        case .end: complete()
        case .failed(let error): .failed(error)
        default: .failed(ResponseFlaw.closedInHead.error)
        }
    }

    private func takeInformational(_ head: HTTPResponse) {
        if case .waitsForContinue = sending, head.status == 100 { sending = .body }
        call.context.onInformational?(head)
    }

    /// Sends the body although the server has not asked for it.
    func waitNoLongerForContinue() {
        if case .waitsForContinue = sending { sending = .body }
    }

    private func take(_ head: HTTPResponse) -> SluiceError? {
        let method = call.request.method
        if case .waitsForContinue = sending {
            sending = .stopped
            if head.status == 417 {
                isContradicted = true
                return nil
            }
            body.close()
        } else if sending == .body, head.status.rawValue >= 300 {
            stopSending()
        }
        self.head = head
        let limits = call.context.limits
        if let limit = limits.body, let length = head.bodyLength(of: method), length > limit {
            return .bodyTooLarge(limit: limit)
        }
        guard call.pool.configuration.decompressesResponses, parser.length != .none,
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

    private func takeBody(_ bytes: UnsafeRawBufferPointer, budget: inout Int) -> Status? {
        if isContradicted { return nil }
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

    private func decodeRest(budget: inout Int) -> Status {
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
    private func count(_ bytes: Int) -> SluiceError? {
        received += Int64(bytes)
        let limits = call.context.limits
        if let limit = limits.body, received > limit { return .bodyTooLarge(limit: limit) }
        if decoder != nil, limits.isTooDense(received, of: receivedEncoded) { return .bodyTooDense }
        return nil
    }

    private func complete() -> Status {
        isComplete = true
        // A body that ends with its connection may have lost all of its bytes.
        if decoder != nil, receivedEncoded == 0, parser.length == .untilClose { return .failed(.encodingCutShort) }
        if let decoder, receivedEncoded > 0 {
            switch decoder.finish() {
            case nil: break
            case .truncated: return .failed(.encodingCutShort)
            default: return .failed(.damagedEncoding)
            }
        }
        return .complete
    }

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
        guard head != nil, !isContradicted else { return }
        if pipe == nil || !pending.isEmpty { flushPending() }
    }

    private func flushPending() {
        guard let head else { return }
        if pipe == nil {
            let pipe = connection.makePipe(for: call)
            self.pipe = pipe
            run?.expects(head.bodyLength(of: call.request.method))
            answer = .success(TransportResponse(head: head, body: ResponseBody(ResponsePipe.Reader(pipe))))
        }
        if pending.isEmpty { return }
        write(pending)
        pending = Data()
    }

    private func write(_ chunk: Data) {
        if pipe == nil { flushPending() }
        run?.received(received)
        if pipe?.write(chunk) == true { isPaused = true }
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
            bodyEnd = BodyEnd(pipe: pipe, result: .success(metrics), trailers: parser.trailers)
        } else {
            run?.expects(received)
            let body = ResponseBody(pending, metrics: metrics, trailers: parser.trailers)
            answer = .success(TransportResponse(head: head, body: body))
        }
        body.close()
    }

    /// Ends the request with an error; what came before it can still be read.
    func fail(_ error: SluiceError) {
        body.close()
        let error = error.with(request: call.request, response: head)
        if head != nil, pipe == nil, !pending.isEmpty { flushPending() }
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
        metrics.isConnectionReused = isReused
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
