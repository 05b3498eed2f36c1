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
    /// The fields that all heads and the trailer section may have together.
    private static let fieldLimit = 1000

    var id: Int32 = 0
    var window = FlowWindow()
    /// True while the session's collection of streams has this one.
    var isTouched = false
    /// True while the body has nothing to send, until it is resumed.
    var isDeferred = false
    /// True once the server has ended its side.
    var hasEnded = false
    /// True once the stream is closed on both sides, or was reset.
    var isClosed = false
    /// True once the server has reset it.
    var wasReset = false
    /// The error code with which it was closed.
    var closeCode: UInt32 = 0
    /// The error that ends it, found by what came.
    var failure: SluiceError?
    /// True once the fields are so many that skipping them costs too much.
    private(set) var isHopeless = false

    private var fields = HTTP2ResponseHead()
    private var fieldBytes = 0
    private var fieldCount = 0
    private var informational = 0
    private var trailerFields = HTTPHeaders()
    /// Bytes of the body that the server must not replace yet.
    private var held = 0

    override var trailers: HTTPHeaders { trailerFields }

    // MARK: Sending

    /// Opens the body and returns the head; waits for a 100 where the request asks for one.
    func start(now: MonotonicTime) -> (head: HTTP2RequestHead, hasBody: Bool) {
        let expects = openBody()
        if expects { sending = .waitsForContinue(until: now + call.context.timeouts.continueWait) }
        let length = upload.length
        let hasBody = length != 0
        if !hasBody { sending = .sent }
        var head = HTTP2RequestHead(
            of: call.request,
            length: length,
            decodes: call.pool.configuration.decompressesResponses ? ContentDecoder.acceptEncoding : nil,
            omitsExpect: !expects
        )
        head.add(call.addedFields())
        return (head, hasBody)
    }

    /// Reads the body that is sent.
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
            if case .data = upload, sentBytes == upload.length { sending = .sent }
        case .wait:
            awaitsBody = true
            lastActivity = now
        case .end: sending = .sent
        case .failed: hasBodyFailed = true
        }
        return piece
    }

    // MARK: Receiving

    /// Takes a field of a head or of the trailer section; returns the error of one that is too many.
    func takeField(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> SluiceError? {
        fieldBytes += name.count + value.count + 4
        fieldCount += 1
        let limit = call.context.limits.headers
        if fieldBytes > limit || fieldCount > HTTP2Stream.fieldLimit {
            isHopeless = fieldBytes > 2 * limit || fieldCount > 2 * HTTP2Stream.fieldLimit
            return fieldBytes > limit
                ? ResponseFlaw.headTooLarge(limit: limit).error : ResponseFlaw.tooManyFields.error
        }
        fields.take(name, value)
        return nil
    }

    /// Takes the end of a head or of the trailer section.
    func endFields(ends: Bool, now: MonotonicTime) {
        lastActivity = now
        if firstByte == nil { firstByte = now }
        if ends { hasEnded = true }
        guard failure == nil else { return }
        if head != nil {
            trailerFields = fields.takeTrailers()
            return
        }
        let response = fields.takeResponse()
        switch response.status.rawValue {
        case 101: failure = ResponseFlaw.unaskedSwitch.error
        case ..<200:
            informational += 1
            if informational > ResponseParser.informationalLimit {
                failure = ResponseFlaw.tooManyInformational.error
            } else {
                takeInformational(response)
            }
        default:
            let hasBody = !ends && call.request.method.rawValue != "HEAD"
            failure = take(response, hasBody: hasBody)
        }
    }

    /// Takes a piece of the body.
    ///
    /// - Returns: The bytes that the server may replace at once.
    func receive(_ bytes: UnsafeRawBufferPointer, budget: inout Int, now: MonotonicTime) -> Int {
        lastActivity = now
        held += bytes.count
        guard failure == nil else { return 0 }
        // RFC 9113 §8.1: there is no body before a head, which nghttp2 has seen to.
        if head == nil { return 0 }
        take(takeBody(bytes, budget: &budget))
        return takeCredit()
    }

    /// Decodes what could not be decoded in its turn.
    ///
    /// - Returns: The bytes that the server may replace.
    func decodeMore(budget: inout Int) -> Int {
        take(decodeRest(budget: &budget))
        return takeCredit()
    }

    private func take(_ status: Status?) {
        if case .failed(let error)? = status { failure = failure ?? error }
    }

    /// Takes the bytes that the reader has room for again.
    func takeCredit() -> Int {
        if isPaused || hasUndecoded { return 0 }
        defer { held = 0 }
        return held
    }

    /// The error of a stream whose connection the server has closed, for the reason that it gave with GOAWAY, if it did.
    func closedEarly(goAway reason: String?) -> SluiceError {
        let host = call.serverName
        if let reason {
            return SluiceError(.connectionLost, "The server at \(host) ended the connection: \(reason).")
        }
        if head != nil { return ResponseFlaw.closedInBody.error }
        return SluiceError(.connectionLost, "The server at \(host) closed the connection without an answer.")
    }

    /// The outcome once everything that the server sent is decoded; nil until then.
    func outcome() -> Status? {
        if let failure { return .failed(failure) }
        // The rest of the response is not the caller's.
        if repetition != nil { return .complete }
        guard hasEnded, !hasUndecoded else { return nil }
        guard head != nil else { return .failed(ResponseFlaw.closedInHead.error) }
        return complete()
    }
}
#endif
