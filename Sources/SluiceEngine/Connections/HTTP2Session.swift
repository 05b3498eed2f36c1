#if os(Linux)
import CNghttp2
import SluiceHTTP

/// The functions of libnghttp2. The first use loads the library. If it is missing, they return failures.
var nghttp2: sluice_nghttp2 { sluice_nghttp2().pointee }

/// The HTTP/2 protocol state of one connection, implemented by libnghttp2: frames, header compression, flow control and streams.
///
/// It performs no I/O. The connection, which holds the lock, passes in received bytes and writes the output. Streams that have received
/// something are collected until the connection takes them with ``takeTouched()``.
final class HTTP2Session {
    /// The assumed maximum number of concurrent requests before the server's settings arrive.
    static let initialStreams = 100
    /// The maximum number of concurrent requests on one connection, regardless of the server's limit.
    private static let maximumStreams = 1000
    /// The stream identifier from which a connection takes no more requests. The largest identifier is 2³¹ - 1.
    private static let lastIdentifier: UInt32 = 0x7fff_ff00
    /// The limit on the measured round trip. A server that answers late would otherwise make slow readers count as fast.
    private static let longestRoundTrip = Duration.seconds(1)

    private let raw: OpaquePointer
    private var streams: [Int32: HTTP2Stream] = [:]
    private var touched: [HTTP2Stream] = []
    /// Streams with received bytes that a turn could not decode.
    private(set) var undecoded: [HTTP2Stream] = []
    private var floodGuard: FloodGuard
    /// The number of reset streams whose heads may still arrive.
    private var unansweredResets = 0
    /// The number of body bytes that may still arrive for reset streams, because their windows allow them.
    private var discardedBytes = 0
    private var scanner = FrameScanner()
    /// The time of the call in progress.
    private var now: MonotonicTime
    /// The number of decoded bytes that the turn may still produce.
    private var outputBudget = 0
    /// The time at which the PING or the settings that measure the round-trip time were sent. Nil after the answer.
    private var roundTripStart: MonotonicTime?
    private var awaitsPingAnswer = false

    /// The measured round-trip time, from the settings or the last PING.
    private(set) var roundTrip = Duration.milliseconds(100)
    /// The maximum number of concurrent requests on the connection.
    var capacity: Int { min(announcedCapacity, accepted?.count ?? .max) }
    private var announcedCapacity = HTTP2Session.initialStreams
    /// The number of streams that the server accepts at once, learned from its refusals; nil for a server that has not refused any.
    private var accepted: AcceptedStreams?

    /// True if the capacity is smaller than the server has announced.
    var hasLearnedCapacity: Bool { capacity < announcedCapacity }
    /// The time at which the learned number of streams no longer applies.
    var learnedEnd: MonotonicTime { accepted?.end ?? .distantFuture }

    /// Forgets the learned number of streams once its time has passed. Returns true if it has.
    func forgetLearned(at now: MonotonicTime) -> Bool {
        guard learnedEnd <= now else { return false }
        accepted = nil
        return true
    }

    /// True if the server processes requests of the connection, also if it refuses one.
    var processesRequests: Bool {
        hasProcessedRequests || hasAnswered || streams.values.contains { !$0.isClosed }
    }
    /// True if a response has ended in the bytes that were received last.
    private var hasAnswered = false

    /// True once the server accepts no more requests.
    private(set) var isGoingAway = false
    /// The error that ends the connection.
    private(set) var failure: SluiceError?
    /// The problem of the current frame in nghttp2's words.
    private var lastErrorMessage: String?
    /// Frames that were taken from nghttp2 before the output had room.
    private var pendingOutput: [UInt8] = []
    /// The number of bytes that were taken from nghttp2.
    private var outputCount = 0
    /// The reason that the server gave with GOAWAY, if it was an error.
    private(set) var goAwayReason: String?
    /// True if the last GOAWAY names a request of this connection that the server may have processed.
    private(set) var hasProcessedRequests = false

    /// Creates a session whose output starts with the settings. Returns nil if memory is short or libnghttp2 is missing.
    init?(at now: MonotonicTime) {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        guard nghttp2.nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2.nghttp2_option_new(&options) == 0,
            let callbacks
        else {
            return nil
        }
        defer {
            nghttp2.nghttp2_session_callbacks_del(callbacks)
            nghttp2.nghttp2_option_del(options)
        }
        HTTP2Session.install(callbacks)
        // Windows are updated when readers consume bytes. Closed streams are not retained.
        nghttp2.nghttp2_option_set_no_auto_window_update(options, 1)
        nghttp2.nghttp2_option_set_no_closed_streams(options, 1)
        nghttp2.nghttp2_option_set_peer_max_concurrent_streams(options, UInt32(HTTP2Session.initialStreams))
        // Frames of types that are not in RFC 9113 are counted, then ignored (RFC 9113 §5.5).
        for type in UInt8(10)...255 { nghttp2.nghttp2_option_set_user_recv_extension_type(options, type) }
        var session: OpaquePointer?
        guard nghttp2.nghttp2_session_client_new2(&session, callbacks, nil, options) == 0, let session else {
            return nil
        }
        raw = session
        self.now = now
        floodGuard = FloodGuard(at: now)
        roundTripStart = now
        nghttp2.nghttp2_session_set_user_data(raw, Unmanaged.passUnretained(self).toOpaque())
        let settings = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue),
                value: UInt32(FlowWindow.initialSize)
            ),
        ]
        guard nghttp2.nghttp2_submit_settings(raw, 0, settings, settings.count) == 0,
            nghttp2.nghttp2_session_set_local_window_size(raw, 0, 0, Int32(FlowWindow.connectionSize)) == 0
        else { return nil }
    }

    deinit {
        nghttp2.nghttp2_session_del(raw)
    }

    // MARK: Requests

    /// The number of active streams.
    var count: Int { streams.count }
    /// The streams whose requests have not ended.
    var activeStreams: [HTTP2Stream] { Array(streams.values) }

    func forEach(_ body: (HTTP2Stream) -> Void) {
        for stream in streams.values { body(stream) }
    }

    /// True if another request can be sent.
    var hasRoom: Bool {
        !isGoingAway && failure == nil && streams.count < capacity && !isExhausted
            && nghttp2.nghttp2_session_check_request_allowed(raw) != 0
    }

    /// True if all stream identifiers have been used.
    var isExhausted: Bool { nghttp2.nghttp2_session_get_next_stream_id(raw) >= HTTP2Session.lastIdentifier }

    /// Returns up to a number of streams that were submitted but not written, the latest first.
    func unwritten(_ count: Int) -> ArraySlice<HTTP2Stream> {
        guard count > 0 else { return [] }
        return streams.values.filter { !$0.isBeingWritten && !$0.isClosed }.sorted { $0.id > $1.id }.prefix(count)
    }

    func contains(_ stream: HTTP2Stream) -> Bool { streams[stream.id] === stream }

    func stream(of call: Call) -> HTTP2Stream? {
        streams.values.first { $0.call === call }
    }

    /// Submits a request. Returns false if the session has no room for it.
    func submit(_ stream: HTTP2Stream, _ head: inout HTTP2RequestHead, hasBody: Bool) -> Bool {
        let id = head.withFields { fields, count in
            guard hasBody else { return nghttp2.nghttp2_submit_request(raw, nil, fields, count, nil, nil) }
            var provider = nghttp2_data_provider()
            provider.read_callback = { _, id, buffer, length, flags, _, user in
                HTTP2Session.of(user)?.read(id, buffer, length, flags) ?? Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
            }
            return nghttp2.nghttp2_submit_request(raw, nil, fields, count, &provider, nil)
        }
        guard id > 0 else { return false }
        stream.id = id
        streams[id] = stream
        return true
    }

    /// Removes a stream, and resets it unless it is closed.
    func remove(_ stream: HTTP2Stream) {
        guard streams.removeValue(forKey: stream.id) != nil else { return }
        if stream.wasReset, stream.closeCode == NGHTTP2_REFUSED_STREAM.rawValue {
            if !streams.isEmpty { accepted = AcceptedStreams(count: streams.count, at: now) }
        } else if stream.hasEnded {
            accepted?.recordAnswer()
        }
        if !undecoded.isEmpty { undecoded.removeAll { $0 === stream } }
        if !stream.isClosed {
            if stream.hasWritten {
                unansweredResets += 1
                discardedBytes += stream.window.size
            }
            _ = nghttp2.nghttp2_submit_rst_stream(raw, 0, stream.id, NGHTTP2_CANCEL.rawValue)
        }
    }

    /// Resumes sending the body of a stream.
    func resume(_ stream: HTTP2Stream) {
        if stream.isDeferred {
            stream.isDeferred = false
            _ = nghttp2.nghttp2_session_resume_data(raw, stream.id)
        }
    }

    /// Returns flow-control credit for bytes that the reader of a stream has consumed.
    func returnCredit(_ count: Int, to stream: HTTP2Stream, at now: MonotonicTime) {
        guard !stream.isClosed, !stream.hasEnded else { return }
        if stream.window.recordDelivered(count, unread: stream.awaitDrain(), roundTrip: roundTrip, at: now) {
            _ = nghttp2.nghttp2_session_set_local_window_size(raw, 0, stream.id, Int32(stream.window.size))
        }
        // The received bytes include padding (RFC 9113 §6.1), which nobody reads.
        let received = Int(nghttp2.nghttp2_session_get_stream_effective_recv_data_length(raw, stream.id))
        let credit = received - stream.withheldCredit
        if stream.window.isEnough(credit) { _ = nghttp2.nghttp2_submit_window_update(raw, 0, stream.id, Int32(credit)) }
    }

    func ping(at now: MonotonicTime) {
        guard nghttp2.nghttp2_submit_ping(raw, 0, nil) == 0 else { return }
        awaitsPingAnswer = true
        roundTripStart = now
    }

    /// Submits a GOAWAY frame without an error.
    func close() {
        _ = nghttp2.nghttp2_session_terminate_session(raw, NGHTTP2_NO_ERROR.rawValue)
    }

    // MARK: Output

    /// Appends pending frames to the output, up to a number of bytes.
    func fill(_ output: inout OutputQueue, upTo limit: Int, at now: MonotonicTime) {
        self.now = now
        if !pendingOutput.isEmpty {
            output.append { $0.append(contentsOf: pendingOutput) }
            pendingOutput = []
        }
        while output.count < limit, let bytes = nextOutput() { output.append { $0.append(contentsOf: bytes) } }
    }

    /// Returns the next pending bytes, which are valid until the next call.
    private func nextOutput() -> UnsafeBufferPointer<UInt8>? {
        var data: UnsafePointer<UInt8>?
        let count = nghttp2.nghttp2_session_mem_send(raw, &data)
        if count < 0 { failure = failure ?? HTTP2Session.failure(Int32(count), lastErrorMessage) }
        guard count > 0, let data else { return nil }
        outputCount += count
        return UnsafeBufferPointer(start: data, count: count)
    }

    /// Records that the last bytes of the output will not be written. The server cannot process a request whose head is incomplete.
    func recordUnsent(_ count: Int) {
        let sent = outputCount - pendingOutput.count - count
        for stream in streams.values where stream.headPosition >= sent { stream.hasWritten = false }
    }

    private func read(
        _ id: Int32,
        _ buffer: UnsafeMutablePointer<UInt8>?,
        _ length: Int,
        _ flags: UnsafeMutablePointer<UInt32>?
    ) -> Int {
        guard let stream = streams[id] else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
        switch stream.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: length), now: now) {
        case .bytes(let count):
            floodGuard.rewardSent(count)
            if stream.sending == .sent { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
            return count
        case .end:
            flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
            return 0
        case .wait, .failed:
            stream.isDeferred = true
            if stream.hasBodyFailed { touch(stream) }
            return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        }
    }

    // MARK: Input

    /// Processes received bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - budget: The number of decoded bytes that the turn may still produce.
    ///   - now: The current time.
    func receive(_ bytes: UnsafeRawBufferPointer, budget: inout Int, at now: MonotonicTime) {
        guard failure == nil, let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
        self.now = now
        hasAnswered = false
        outputBudget = budget
        let count = nghttp2.nghttp2_session_mem_recv(raw, base, bytes.count)
        budget = outputBudget
        scanner.scan(bytes, countDiscarded)
        if count < 0 {
            failure = failure ?? HTTP2Session.failure(Int32(count), lastErrorMessage)
        } else if !isGoingAway, nghttp2.nghttp2_session_check_request_allowed(raw) == 0 {
            // The GOAWAY to the server names the reason.
            while failure == nil, let bytes = nextOutput() { pendingOutput.append(contentsOf: bytes) }
            recordProtocolError()
        }
    }

    /// Records a protocol error found by nghttp2, which must not receive any more input.
    ///
    /// - Parameter text: The text that nghttp2 sends to the server.
    private func recordProtocolError(_ text: String? = nil) {
        // nghttp2 fails the connection before some frames begin, so that the message may be about an earlier one.
        let reason = (text ?? lastErrorMessage).map { ": \($0)" } ?? ""
        failure = failure ?? SluiceError(.invalidResponse, "The response is not valid HTTP/2\(reason).")
    }

    /// Decodes received bytes of earlier turns, except for streams whose readers exert back-pressure.
    func decodeMore(budget: inout Int, at now: MonotonicTime) {
        guard !undecoded.isEmpty else { return }
        var decoded = 0
        for (index, stream) in undecoded.enumerated() where budget > 0 && !stream.isPaused {
            returnCredit(stream.decodeMore(budget: &budget), to: stream, at: now)
            touch(stream)
            decoded = index + 1
        }
        // The next turn continues with the other streams.
        undecoded = (undecoded[decoded...] + undecoded[..<decoded]).filter(\.hasUndecoded)
    }

    /// True if ``takeTouched()`` returns streams.
    var hasTouched: Bool { !touched.isEmpty }

    /// Takes the streams that have received something.
    func takeTouched() -> [HTTP2Stream] {
        guard !touched.isEmpty else { return [] }
        defer { touched.removeAll(keepingCapacity: true) }
        for stream in touched { stream.isTouched = false }
        return touched
    }

    /// Marks a stream for the connection to process.
    func touch(_ stream: HTTP2Stream) {
        if stream.isTouched { return }
        stream.isTouched = true
        touched.append(stream)
    }

    /// Returns the error of a stream that was closed before its response was complete.
    func error(ofClosed stream: HTTP2Stream) -> SluiceError {
        let (host, name) = (stream.call.serverName, HTTP2Session.name(of: stream.closeCode))
        let isEarly = stream.closeCode == NGHTTP2_NO_ERROR.rawValue && stream.head != nil
        if !stream.wasReset {
            // nghttp2 has reset the stream, because its response is malformed.
            let length = stream.head?.bodyLength(of: stream.call.request.method) ?? 0
            if stream.dataLength > length, stream.receivedEncoded < length {
                return SluiceError(.invalidResponse, "The response's body is longer than its Content-Length.")
            }
            if stream.receivedEncoded >= length {
                return HTTP2Session.failure(NGHTTP2_ERR_HTTP_MESSAGING.rawValue, nil)
            }
        }
        if isEarly || !stream.wasReset {
            let reason = "The server at \(host) ended the request's stream before the complete body was received."
            return SluiceError(.truncatedBody, reason)
        }
        return SluiceError(.connectionLost, "The server at \(host) ended the request's stream: \(name).")
    }

    private static func failure(_ code: Int32, _ message: String?) -> SluiceError {
        if code == NGHTTP2_ERR_NOMEM.rawValue { return Engine.unavailable }
        let reason = message ?? nghttp2.nghttp2_strerror(code).map { String(cString: $0) } ?? ""
        return SluiceError(.invalidResponse, "The response is not valid HTTP/2: \(reason).")
    }

    // MARK: Callbacks

    fileprivate static func of(_ user: UnsafeMutableRawPointer?) -> HTTP2Session? {
        user.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func install(_ callbacks: OpaquePointer) {
        nghttp2.nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, header, user in
            header.flatMap { HTTP2Session.of(user)?.beginFrame($0.pointee) } ?? 0
        }
        nghttp2.nghttp2_session_callbacks_set_unpack_extension_callback(callbacks) { _, _, _, _ in
            NGHTTP2_ERR_CANCEL.rawValue
        }
        nghttp2.nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            HTTP2Session.of($7)?.receivedField($1, .init(start: $2, count: $3), .init(start: $4, count: $5)) ?? 0
        }
        nghttp2.nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) {
            HTTP2Session.of($7)?.receivedInvalidField($1, .init(start: $2, count: $3), .init(start: $4, count: $5)) ?? 0
        }
        nghttp2.nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame, let session = HTTP2Session.of(user) else { return 0 }
            return session.receivedFrame(frame.pointee)
        }
        nghttp2.nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { raw, _, id, data, length, user in
            guard let session = HTTP2Session.of(user) else { return 0 }
            session.receivedData(id, UnsafeRawBufferPointer(start: data, count: length))
            return 0
        }
        nghttp2.nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, user in
            HTTP2Session.of(user)?.streamClosed(id, code)
            return 0
        }
        nghttp2.nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, code, user in
            guard let frame, let session = HTTP2Session.of(user) else { return 0 }
            session.receivedInvalidFrame(frame.pointee.hd.stream_id, code)
            return 0
        }
        nghttp2.nghttp2_session_callbacks_set_before_frame_send_callback(callbacks) { _, frame, user in
            guard let header = frame?.pointee.hd, header.type == NGHTTP2_HEADERS.rawValue else { return 0 }
            HTTP2Session.of(user)?.streams[header.stream_id]?.isBeingWritten = true
            return 0
        }
        nghttp2.nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
            guard let frame, let session = HTTP2Session.of(user) else { return 0 }
            let header = frame.pointee.hd
            switch UInt32(header.type) {
            case NGHTTP2_HEADERS.rawValue: session.recordSentHead(of: header.stream_id)
            case NGHTTP2_GOAWAY.rawValue where frame.pointee.goaway.error_code != NGHTTP2_NO_ERROR.rawValue:
                let (text, count) = (frame.pointee.goaway.opaque_data, frame.pointee.goaway.opaque_data_len)
                let reason = String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
                let name = HTTP2Session.name(of: frame.pointee.goaway.error_code)
                session.recordProtocolError(reason.isEmpty ? name : reason)
            default: break
            }
            let isRequest = header.type == NGHTTP2_HEADERS.rawValue || header.type == NGHTTP2_DATA.rawValue
            if isRequest, UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0 {
                session.streams[header.stream_id]?.recordSendEnd()
            }
            return 0
        }
        nghttp2.nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, code, user in
            guard let frame, frame.pointee.hd.type == NGHTTP2_HEADERS.rawValue else { return 0 }
            let (session, stream) = (HTTP2Session.of(user), frame.pointee.hd.stream_id)
            if code == NGHTTP2_ERR_FRAME_SIZE_ERROR.rawValue { session?.fail(stream, .requestHeadTooLarge) }
            session?.streamClosed(stream, NGHTTP2_REFUSED_STREAM.rawValue)
            return 0
        }
        nghttp2.nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, text, length, user in
            guard let text, let session = HTTP2Session.of(user) else { return 0 }
            let bytes = UnsafeRawBufferPointer(start: text, count: length)
            let message = String(decoding: bytes.filter { (32..<127).contains($0) }, as: UTF8.self)
            // The message about an invalid field ends with its value, which may be a secret.
            let value = message.utf8.firstRange(of: ", value: [".utf8)
            session.lastErrorMessage = value.map { String(message[..<$0.lowerBound]) } ?? message
            return 0
        }
    }

    private func recordSentHead(of id: Int32) {
        guard let stream = streams[id] else { return }
        stream.hasWritten = true
        // nghttp2 has not returned the last part of the head yet.
        stream.headPosition = outputCount
        let more = stream.window.size - FlowWindow.initialSize
        if more > 0 { _ = nghttp2.nghttp2_submit_window_update(raw, 0, id, Int32(more)) }
    }

    /// Counts frames without content. Fails the connection if there are too many.
    private func beginFrame(_ header: nghttp2_frame_hd) -> Int32 {
        lastErrorMessage = nil
        let ends = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        // The frame may contain only padding.
        let isPadded = header.flags & UInt8(NGHTTP2_FLAG_PADDED.rawValue) != 0
        if UInt32(header.type) == NGHTTP2_DATA.rawValue, !isPadded {
            streams[header.stream_id]?.dataLength += Int64(header.length)
        }
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue where streams[header.stream_id] != nil: floodGuard.reward()
        case NGHTTP2_HEADERS.rawValue where unansweredResets > 0: unansweredResets -= 1
        case NGHTTP2_DATA.rawValue where header.length > 0 && !isPadded || ends:
            floodGuard.reward()
        case NGHTTP2_RST_STREAM.rawValue where streams[header.stream_id]?.mayBeReset == true: break
        case NGHTTP2_WINDOW_UPDATE.rawValue:
            guard takeFloodToken({ $0.takeUpdate(at: now) }) else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
        default:
            guard takeFloodToken({ $0.takeToken(at: now) }) else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
        }
        return 0
    }

    /// Counts DATA frames of reset streams beyond what their windows allow, which nghttp2 ignores.
    private func countDiscarded(_ header: FrameScanner.Header) {
        guard UInt32(header.type) == NGHTTP2_DATA.rawValue, streams[header.stream] == nil else { return }
        if discardedBytes >= header.length {
            discardedBytes -= header.length
        } else {
            _ = takeFloodToken({ $0.takeToken(at: now) })
        }
    }

    /// Takes a token for a frame without content. Fails the connection if there is none.
    private func takeFloodToken(_ take: (inout FloodGuard) -> Bool) -> Bool {
        if take(&floodGuard) { return true }
        failure =
            failure ?? SluiceError(.invalidResponse, "The server sent too many HTTP/2 frames without content.")
        return false
    }

    private func receivedField(
        _ frame: UnsafePointer<nghttp2_frame>?,
        _ name: UnsafeRawBufferPointer,
        _ value: UnsafeRawBufferPointer
    ) -> Int32 {
        guard let id = frame?.pointee.hd.stream_id else { return 0 }
        guard let stream = streams[id] else {
            // Decoding the response of a removed stream also takes time.
            guard floodGuard.takeToken(at: now) else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
            return 0
        }
        guard let error = stream.appendField(name, value) else { return 0 }
        fail(id, error)
        guard stream.exceedsSkipLimit else { return 0 }
        failure = error
        return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
    }

    private func receivedInvalidField(
        _ frame: UnsafePointer<nghttp2_frame>?,
        _ name: UnsafeRawBufferPointer,
        _ value: UnsafeRawBufferPointer
    ) -> Int32 {
        if HTTP2Stream.hasOnlyBlanksToTrim(name, value) { return receivedField(frame, name, value) }
        if let frame { fail(frame.pointee.hd.stream_id, ResponseSyntaxError.malformedField.error) }
        return 0
    }

    private func receivedFrame(_ frame: nghttp2_frame) -> Int32 {
        let ends = frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        switch UInt32(frame.hd.type) {
        case NGHTTP2_HEADERS.rawValue:
            guard let stream = streams[frame.hd.stream_id] else { return 0 }
            touch(stream)
            stream.endFields(ends: ends, now: now)
            if stream.sending == .body { resume(stream) }
        case NGHTTP2_DATA.rawValue:
            guard ends, let stream = streams[frame.hd.stream_id] else { return 0 }
            touch(stream)
            stream.hasEnded = true
        case NGHTTP2_SETTINGS.rawValue:
            if frame.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 {
                measureRoundTrip()
            } else {
                let limit = nghttp2.nghttp2_session_get_remote_settings(raw, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
                announcedCapacity = min(Int(limit), HTTP2Session.maximumStreams)
            }
        case NGHTTP2_PING.rawValue:
            if frame.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0, awaitsPingAnswer {
                awaitsPingAnswer = false
                measureRoundTrip()
            }
        case NGHTTP2_RST_STREAM.rawValue: streams[frame.hd.stream_id]?.wasReset = true
        case NGHTTP2_GOAWAY.rawValue:
            isGoingAway = true
            // The greatest number announces another GOAWAY (RFC 9113 §6.8).
            hasProcessedRequests = (1..<Int32.max).contains(frame.goaway.last_stream_id)
            let code = frame.goaway.error_code
            if code != NGHTTP2_NO_ERROR.rawValue {
                goAwayReason = HTTP2Session.name(of: code)
            }
        default: break
        }
        return 0
    }

    private func measureRoundTrip() {
        if let asked = roundTripStart.take() { roundTrip = min(now.since(asked), HTTP2Session.longestRoundTrip) }
    }

    private func receivedData(_ id: Int32, _ bytes: UnsafeRawBufferPointer) {
        _ = nghttp2.nghttp2_session_consume_connection(raw, bytes.count)
        guard let stream = streams[id] else { return }
        floodGuard.reward()
        touch(stream)
        let credit = stream.receive(bytes, budget: &outputBudget, now: now)
        if stream.hasUndecoded, !undecoded.contains(where: { $0 === stream }) { undecoded.append(stream) }
        returnCredit(credit, to: stream, at: now)
    }

    private func streamClosed(_ id: Int32, _ code: UInt32) {
        guard let stream = streams[id] else { return }
        stream.isClosed = true
        stream.closeCode = code
        if stream.hasEnded { hasAnswered = true }
        touch(stream)
    }

    private func receivedInvalidFrame(_ id: Int32, _ code: Int32) {
        fail(id, HTTP2Session.failure(code, lastErrorMessage))
    }

    private func fail(_ id: Int32, _ error: SluiceError) {
        guard let stream = streams[id] else { return }
        if stream.failure == nil { stream.failure = error }
        touch(stream)
    }
}

extension HTTP2Session {
    /// The name of an error code (RFC 9113 §7).
    static func name(of code: UInt32) -> String {
        nghttp2.nghttp2_http2_strerror(code).map { String(cString: $0) } ?? ""
    }
}
#endif
