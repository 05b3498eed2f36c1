#if os(Linux)
import SluiceFoundation
import SluiceHTTP

/// One request on a connection of HTTP/1.1: the framing of the request and the parser of the response.
final class HTTP1Transaction: Transaction {
    @exclusivity(unchecked) private(set) var parser: ResponseParser
    private var isChunked = false
    /// The time at which a discarded response is no longer read; nil if no response is discarded.
    private var drainEnd: MonotonicTime?

    /// Creates the transaction of a request. See ``Transaction``.
    override init(
        _ call: Call,
        on carrier: any RequestCarrier,
        isReused: Bool,
        began: MonotonicTime,
        timings: ConnectionTimings,
        hasServedOtherCalls: Bool = true,
        now: MonotonicTime
    ) {
        parser = ResponseParser(for: call.request.method, headLimit: call.context.limits.headers)
        super.init(
            call,
            on: carrier,
            isReused: isReused,
            began: began,
            timings: timings,
            hasServedOtherCalls: hasServedOtherCalls,
            now: now
        )
    }

    override var trailers: HTTPHeaders { parser.trailers }

    // MARK: Sending

    /// Appends the head, and a body in memory, to the output.
    func start(_ output: inout OutputQueue, now: MonotonicTime) {
        let expects = openBody()
        let framing: RequestWriter.Framing
        switch upload {
        case .none: framing = .none
        case .data(let data): framing = .length(Int64(data.count))
        case .stream(_, let length?, _, _): framing = .length(length)
        case .stream: framing = .chunked
        }
        isChunked = framing == .chunked
        output.append { buffer in
            let start = buffer.count
            RequestWriter.appendHead(
                of: call.request,
                target: call.target,
                framing: framing,
                codings: acceptedCodings,
                omitsExpect: !expects,
                adding: call.addedFields(),
                to: &buffer
            )
            if call.context.recordsRequest {
                sentHead = (RequestWriter.fields(ofHead: buffer[start...]), buffer.count - start)
            }
        }
        if expects {
            sending = .waitsForContinue(until: now + call.context.timeouts.continueWait)
        } else {
            fill(&output, now: now)
        }
    }

    /// Appends more of the body to the output while the output holds less than ``Transaction/inlineBody`` bytes.
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
                if isChunked { output.append { $0.append(ascii: RequestWriter.chunkEnd) } }
                countSent(count)
            case .wait:
                awaitsBody = true
                lastActivity = now
                return
            case .end:
                if isChunked { output.append { $0.append(ascii: RequestWriter.lastChunk) } }
                sending = .sent
                return
            case .failed:
                hasBodyFailed = true
                return
            }
        }
    }

    // MARK: Receiving

    /// The number of remaining body bytes, if they can be read into buffers that are delivered without a copy. Nil otherwise.
    var largeRead: Int? {
        guard head != nil, decoder == nil, resendReason == nil, let left = parser.bytesLeft, left >= 64 << 10 else {
            return nil
        }
        return Int(clamping: left)
    }

    /// Processes a piece of the body that was read into a separate buffer.
    func take(_ piece: Data) -> Status {
        var position = 0
        let status = piece.withUnsafeBytes { input -> Status in
            switch parser.next(in: input, from: &position) {
            case .body(let range) where range.count == piece.count: .needsInput
            case .failed(let error): .failed(error)
            default: .failed(ResponseSyntaxError.malformedField.error)
            }
        }
        guard case .needsInput = status else { return status }
        receivedEncoded += Int64(piece.count)
        if let error = count(piece.count) { return .failed(error) }
        writePiece(piece)
        guard parser.bytesLeft == 0 else { return .needsInput }
        return piece.withUnsafeBytes { input in
            var end = input.count
            guard case .end = parser.next(in: input, from: &end) else { return .needsInput }
            return complete()
        }
    }

    /// Processes received bytes.
    ///
    /// - Parameters:
    ///   - input: The bytes.
    ///   - position: The first unprocessed byte, advanced past the processed bytes.
    ///   - budget: The number of output bytes that the turn may still produce.
    ///   - now: The current time.
    /// - Returns: The status of the response.
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
            case .informational(let head): processInformational(head)
            case .head(let head):
                if firstByte == nil { firstByte = now }
                if let error = take(head, hasBody: parser.length != .none) { return .failed(error) }
                if resendReason != nil {
                    if !isWorthDraining(head) { return .complete }
                    drainEnd = now + .seconds(1)
                }
            case .body(let range):
                if let status = processBody(UnsafeRawBufferPointer(rebasing: input[range]), budget: &budget) {
                    return status
                }
            case .end: return complete(endsWithConnection: parser.length == .untilClose)
            case .failed(let error): return .failed(error)
            }
        }
    }

    override func deadline(hasOutput: Bool) -> MonotonicTime {
        let deadline = super.deadline(hasOutput: hasOutput)
        return drainEnd.map { min(deadline, $0) } ?? deadline
    }

    /// Returns true if the body of a discarded response should be read, to reuse the connection. It is read for a second.
    private func isWorthDraining(_ head: HTTPResponse) -> Bool {
        let length = head.bodyLength(of: call.request.method) ?? 0
        return sending == .sent && length <= Transaction.drainedBody && parser.length != .untilClose
    }

    /// Ends the response because the server has closed the connection, and returns the result.
    func end() -> Status {
        switch parser.finish() {
        case .end: complete(endsWithConnection: parser.length == .untilClose)
        case .failed(let error): .failed(error)
        default: .failed(ResponseSyntaxError.closedInHead.error)
        }
    }
}
#endif
