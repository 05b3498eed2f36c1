import SluiceFoundation
import SluiceHTTP

/// The response of a ``LoopbackServer``: a script of bytes to write, pauses, and ways to break the connection.
public struct LoopbackResponse: Sendable {
    /// A step for the thread of the connection.
    enum Action: Sendable {
        case head(ResponseHead)
        /// Writes body bytes, already framed. Writes nothing in a response to HEAD.
        case body(Data)
        /// Writes bytes for any request method.
        case bytes(Data)
        /// Performs the actions of the response that a closure returns for the request.
        case answer(@Sendable (LoopbackRequest) -> LoopbackResponse)
        case pause(Duration)
        case wait(LoopbackSignal)
        /// Performs actions that write a part of the body again and again: a number of times, or with nil until the client disconnects.
        case repeated([Action], times: Int?)
        case hang
        case close
        case reset
    }

    var actions: [Action]

    init(_ actions: Action...) {
        self.actions = actions
    }

    init(actions: [Action]) {
        self.actions = actions
    }
}

// MARK: - Regular responses

extension LoopbackResponse {
    /// Sends a JSON text without checking it.
    public static func json(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        .data(Data(text.utf8), contentType: "application/json", status: status, headers: headers)
    }

    /// Sends a value as JSON. If encoding fails, sends a 500 response with the reason. Without an encoder, keys are sorted and slashes are
    /// not escaped.
    public static func json(
        encoding value: some Encodable,
        encoder: JSONEncoder? = nil,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) -> LoopbackResponse {
        let standard = JSONEncoder()
        standard.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let data = try (encoder ?? standard).encode(value)
            return .data(data, contentType: "application/json", status: status, headers: headers)
        } catch {
            return .text("The response cannot be encoded: \(error)", status: .internalServerError)
        }
    }

    /// Sends text in UTF-8.
    public static func text(
        _ text: String,
        contentType: String = "text/plain; charset=utf-8",
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) -> LoopbackResponse {
        .data(Data(text.utf8), contentType: contentType, status: status, headers: headers)
    }

    /// Sends bytes with a `Content-Length`.
    ///
    /// - Parameters:
    ///   - data: The body. It is omitted for informational statuses, 204 and 304.
    ///   - contentType: The `Content-Type`, unless `headers` contains one.
    ///   - status: The status.
    ///   - headers: Additional header fields. A `Content-Length` among them is sent unchanged, even if it is wrong.
    /// - Returns: A response.
    public static func data(
        _ data: Data,
        contentType: String = "application/octet-stream",
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) -> LoopbackResponse {
        // Bytes after such a head would be read as the next response.
        if status.hasNoBody {
            return LoopbackResponse(.head(ResponseHead(status, headers, contentType: contentType, framing: .none)))
        }
        let head = ResponseHead(status, headers, contentType: contentType, framing: .length(data.count))
        return LoopbackResponse(.head(head), .body(data))
    }

    /// Sends a status without a body.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(status, headers, framing: status.hasNoBody ? .none : .length(0))))
    }

    /// Sends the request back as JSON: see ``LoopbackEcho``.
    public static var echo: LoopbackResponse {
        LoopbackResponse(.answer { .json(encoding: LoopbackEcho($0)) })
    }

    /// Sends a redirect.
    ///
    /// - Parameters:
    ///   - location: The value of the `Location` field, absolute or relative.
    ///   - status: The status. 302 by default.
    /// - Returns: A response without a body.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> LoopbackResponse {
        .status(status, headers: [.location: location])
    }

    /// Sends a chunked body (RFC 9112 §7.1), each piece at once. Empty pieces are skipped, because they would end the body.
    ///
    /// - Parameters:
    ///   - chunks: The pieces.
    ///   - headers: Additional header fields.
    ///   - trailers: The trailer section (RFC 9112 §7.1.2).
    /// - Returns: A response.
    public static func chunked(
        _ chunks: [Data],
        headers: HTTPHeaders = [:],
        trailers: HTTPHeaders = [:]
    ) -> LoopbackResponse {
        let head = ResponseHead(.ok, headers, framing: .chunked)
        let pieces = chunks.filter { !$0.isEmpty }.flatMap { [Action.body($0.framedAsChunk), .pause(.zero)] }
        var end = Data("0\r\n".utf8)
        for index in trailers.indices { end.append(trailers.lineBytes(at: index)) }
        end.append(contentsOf: [13, 10])
        return LoopbackResponse(actions: [.head(head)] + pieces + [.body(end)])
    }

    /// Sends a body without a length, which ends when the connection closes (RFC 9112 §6.3).
    public static func untilClose(_ data: Data, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(.ok, headers, framing: .none)), .body(data)).closingConnection()
    }

    /// Sends an informational response, for example 103 (RFC 8297), before another response.
    public static func informational(
        _ status: HTTPStatus,
        headers: HTTPHeaders = [:],
        then response: LoopbackResponse
    ) -> LoopbackResponse {
        LoopbackResponse(actions: LoopbackResponse.status(status, headers: headers).actions + response.actions)
    }

    /// Returns the response with `Connection: close`. The connection closes after it.
    public func closingConnection() -> LoopbackResponse {
        let closing = actions.map { action -> Action in
            switch action {
            case .head(let head) where head.status.class != .informational:
                .head(head.adding(.connection, "close"))
            case .answer(let respond): .answer { respond($0).closingConnection() }
            default: action
            }
        }
        return LoopbackResponse(actions: closing + [.close])
    }
}

extension HTTPStatus {
    /// True if responses with this status have no body (RFC 9112 §6.3).
    fileprivate var hasNoBody: Bool { self.class == .informational || self == .noContent || self == .notModified }
}

// MARK: - Slow and endless responses

extension LoopbackResponse {
    /// Begins the response after a signal fires. The connection closes if the client disconnects first.
    public static func after(_ signal: LoopbackSignal, _ response: LoopbackResponse) -> LoopbackResponse {
        LoopbackResponse(actions: [.wait(signal)] + response.actions)
    }

    /// Begins the response after a delay.
    public static func delayed(by duration: Duration, _ response: LoopbackResponse) -> LoopbackResponse {
        response.delayed(by: duration)
    }

    /// Begins the response after a delay, in real time. The delay of a ``Stub`` follows the client's clock.
    public func delayed(by duration: Duration) -> LoopbackResponse {
        LoopbackResponse(actions: [.pause(duration)] + actions)
    }

    /// Sends an endless chunked body, as fast as the client reads, until the client disconnects.
    public static func endless(chunk: Data, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        let head = ResponseHead(.ok, headers, contentType: "application/octet-stream", framing: .chunked)
        let bytes = chunk.isEmpty ? Data([0]).framedAsChunk : chunk.framedAsChunk
        return LoopbackResponse(.head(head), .repeated([.body(bytes), .pause(.zero)], times: nil))
    }

    /// Sends nothing until the client disconnects or the server stops.
    public static var hang: LoopbackResponse { LoopbackResponse(.hang) }

    /// Sends the head of a chunked response, then nothing more until the client disconnects or the server stops.
    public static func headersThenHang(status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(status, headers, framing: .chunked)), .hang)
    }

    /// Sends a head and the beginning of the body, then nothing more until the client disconnects or the server stops.
    public static func partial(_ data: Data, announced: Int, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(.ok, headers, framing: .length(announced))), .body(data), .hang)
    }
}

// MARK: - Faults and scripts

extension LoopbackResponse {
    /// Closes the connection without a response.
    public static var drop: LoopbackResponse { LoopbackResponse(.close) }

    /// Resets the connection (RST) without a response.
    public static var reset: LoopbackResponse { LoopbackResponse(.reset) }

    /// Sends a body that is shorter than its `Content-Length`, then closes the connection.
    public static func truncated(_ data: Data, announced: Int, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(.ok, headers, framing: .length(announced))), .body(data), .close)
    }

    /// Sends a body that is longer than its `Content-Length`.
    ///
    /// The connection stays open, so a client that reuses it reads the excess bytes as the next response.
    package static func overlong(_ data: Data, announced: Int) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(.ok, framing: .length(announced))), .body(data))
    }

    /// Sends arbitrary bytes instead of a response, such as an invalid status line, invalid chunks or several responses.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - thenClose: True, the default, to close the connection after them.
    /// - Returns: The response.
    public static func raw(_ data: Data, thenClose: Bool = true) -> LoopbackResponse {
        thenClose ? LoopbackResponse(.bytes(data), .close) : LoopbackResponse(.bytes(data))
    }

    /// Sends arbitrary text instead of a response.
    public static func raw(_ text: String, thenClose: Bool = true) -> LoopbackResponse {
        .raw(Data(text.utf8), thenClose: thenClose)
    }

    /// Performs the steps of a response one by one.
    public static func script(_ steps: Step...) -> LoopbackResponse {
        .script(steps)
    }

    /// Performs the steps of a response one by one.
    package static func script(_ steps: [Step]) -> LoopbackResponse {
        LoopbackResponse(actions: steps.map(\.action))
    }

    /// A step of a ``script(_:)`` response.
    public struct Step: Sendable {
        let action: Action

        /// Writes bytes unchanged.
        public static func write(_ data: Data) -> Step { Step(action: .bytes(data)) }
        /// Writes text unchanged. Lines of a head must end in `\r\n`.
        public static func write(_ text: String) -> Step { .write(Data(text.utf8)) }
        /// Sends the written bytes and waits for a duration.
        public static func pause(_ duration: Duration) -> Step { Step(action: .pause(duration)) }
        /// Sends the written bytes and waits for a signal.
        public static func wait(for signal: LoopbackSignal) -> Step { Step(action: .wait(signal)) }
        /// Sends the written bytes, then nothing more until the client disconnects or the server stops.
        public static var hang: Step { Step(action: .hang) }
        /// Sends the written bytes and closes the connection.
        public static var close: Step { Step(action: .close) }
        /// Sends the written bytes and resets the connection (RST).
        public static var reset: Step { Step(action: .reset) }
    }
}

// MARK: - Interrupted responses

extension LoopbackResponse {
    /// A way to end a connection in the middle of a message.
    public enum Interruption: Sendable {
        /// Closes the connection.
        case close
        /// Resets the connection (RST). The client may lose bytes that it has not read.
        case reset
        /// Sends nothing more until the client disconnects or the server stops.
        case hang

        var action: Action {
            switch self {
            case .close: .close
            case .reset: .reset
            case .hang: .hang
            }
        }
    }

    /// Returns the response, interrupted after a number of body bytes.
    ///
    /// - Parameters:
    ///   - count: The number of body bytes to send, as encoded on the wire, including chunked framing.
    ///   - interruption: The way the connection ends. Closed by default.
    /// - Returns: The interrupted response. A response with a body of at most `count` bytes is unchanged.
    public func interrupted(after count: Int, by interruption: Interruption = .close) -> LoopbackResponse {
        inserting([interruption.action], after: count)
    }

    /// Returns the response, interrupted after a number of bytes, including the head.
    ///
    /// ```swift
    /// server.on("/", .text("hello").interrupted(afterBytesOnWire: 9, by: .reset))       // HTTP/1.1 and nothing more
    /// ```
    ///
    /// - Parameters:
    ///   - count: The number of bytes to send: informational responses, the head, and the body with its chunked framing.
    ///   - interruption: The way the connection ends. Closed by default.
    /// - Returns: The interrupted response. A response of at most `count` bytes is unchanged.
    public func interrupted(afterBytesOnWire count: Int, by interruption: Interruption = .close) -> LoopbackResponse {
        inserting([interruption.action], after: count, countingHeads: true)
    }

    /// Returns the response, paused after a number of body bytes until a signal fires.
    ///
    /// - Parameters:
    ///   - count: The number of body bytes to send first, as encoded on the wire, including chunked framing.
    ///   - signal: The signal that resumes the response.
    /// - Returns: The paused response. A response with a body of at most `count` bytes is unchanged.
    public func paused(after count: Int, until signal: LoopbackSignal) -> LoopbackResponse {
        inserting([.wait(signal)], after: count)
    }

    /// Returns the response with its body split into pieces, and a pause before each piece except the first.
    ///
    /// - Parameters:
    ///   - pieceSize: The number of bytes in a piece. At least 1.
    ///   - interval: The duration of each pause.
    /// - Returns: The response with the same body bytes.
    public func throttled(pieceSize: Int, every interval: Duration) -> LoopbackResponse {
        var needsPause = false
        var result: [Action] = []
        for action in actions {
            result += action.throttled(pieceSize: max(1, pieceSize), every: interval, needsPause: &needsPause)
        }
        return LoopbackResponse(actions: result)
    }

    /// Returns the response with other actions inserted after a number of bytes of the body, or of head and body.
    private func inserting(
        _ inserted: [Action],
        after count: Int,
        countingHeads: Bool = false
    ) -> LoopbackResponse {
        var left = max(0, count)
        var result: [Action] = []
        for (index, action) in actions.enumerated() {
            if let (before, after) = action.split(after: left, countingHeads: countingHeads) {
                return LoopbackResponse(
                    actions: result + [before] + inserted + [after] + actions.dropFirst(index + 1)
                )
            }
            switch action {
            case .repeated(let part, let times):
                let length = part.reduce(0) { $0 + $1.length(countingHeads: countingHeads) }
                let whole = min(left / max(1, length), times ?? .max)
                left -= whole * length
                if whole > 0 { result.append(.repeated(part, times: whole)) }
                if whole == times { continue }
                let next = LoopbackResponse(actions: part)
                    .inserting(inserted, after: left, countingHeads: countingHeads)
                result += next.actions + [.repeated(part, times: times.map { $0 - whole - 1 })]
                return LoopbackResponse(actions: result + actions.dropFirst(index + 1))
            case .answer(let respond):
                result.append(
                    .answer { [left] in
                        respond($0).inserting(inserted, after: left, countingHeads: countingHeads)
                    }
                )
            default:
                left -= action.length(countingHeads: countingHeads)
                result.append(action)
            }
        }
        return LoopbackResponse(actions: result)
    }
}

extension LoopbackResponse.Action {
    /// Returns the number of bytes that the action writes, with or without the bytes of heads.
    fileprivate func length(countingHeads: Bool) -> Int {
        switch self {
        case .body(let data): data.count
        case .bytes(let data) where countingHeads: data.count
        case .head(let head) where countingHeads: head.bytes.count
        default: 0
        }
    }

    /// Splits the action in two. Returns nil if it writes at most `count` bytes.
    fileprivate func split(after count: Int, countingHeads: Bool) -> (Self, Self)? {
        guard length(countingHeads: countingHeads) > count else { return nil }
        return switch self {
        case .body(let data): (.body(data.prefix(count)), .body(data.dropFirst(count)))
        case .bytes(let data): (.bytes(data.prefix(count)), .bytes(data.dropFirst(count)))
        case .head(let head): (.bytes(head.bytes.prefix(count)), .bytes(head.bytes.dropFirst(count)))
        default: nil
        }
    }
}

extension LoopbackResponse.Action {
    /// Returns actions that write the same bytes in pieces.
    ///
    /// - Parameters:
    ///   - pieceSize: The number of bytes in a piece.
    ///   - interval: The duration of the pause before each piece except the first of the response.
    ///   - needsPause: True if a piece precedes the action without a pause after it. Updated for the next action.
    /// - Returns: The actions.
    fileprivate func throttled(pieceSize: Int, every interval: Duration, needsPause: inout Bool) -> [Self] {
        switch self {
        case .answer(let respond):
            return [.answer { respond($0).throttled(pieceSize: pieceSize, every: interval) }]
        case .body(let data):
            var pieces: [Self] = []
            var rest = data
            while !rest.isEmpty {
                if needsPause { pieces.append(.pause(interval)) }
                pieces.append(.body(rest.prefix(pieceSize)))
                rest = rest.dropFirst(pieceSize)
                needsPause = true
            }
            return pieces
        case .repeated(let actions, let times):
            // The pause at the end of the part precedes its next repetition.
            let beginning: [Self] = needsPause ? [.pause(interval)] : []
            needsPause = false
            var part: [Self] = []
            for action in actions {
                part += action.throttled(pieceSize: pieceSize, every: interval, needsPause: &needsPause)
            }
            needsPause = false
            return beginning + [.repeated(part + [.pause(interval)], times: times)]
        default:
            return [self]
        }
    }
}

extension Data {
    var framedAsChunk: Data {
        var framed = Data(String(count, radix: 16).utf8)
        framed.append(contentsOf: [13, 10])
        framed.append(self)
        framed.append(contentsOf: [13, 10])
        return framed
    }
}

// MARK: - Response head

/// The head of a response, serialized once.
struct ResponseHead: Sendable {
    /// The message framing that the head announces.
    enum Framing: Sendable {
        case length(Int)
        case chunked
        case none
    }

    let status: HTTPStatus
    let headers: HTTPHeaders
    let bytes: Data

    /// Creates a head. Fields in `headers` take precedence over `contentType` and `framing`.
    init(_ status: HTTPStatus, _ headers: HTTPHeaders = [:], contentType: String? = nil, framing: Framing) {
        var headers = headers
        if let contentType, !headers.contains(.contentType) { headers.append(.contentType, contentType) }
        if !headers.contains(.contentLength), !headers.contains(.transferEncoding) {
            switch framing {
            case .length(let length): headers.append(.contentLength, "\(length)")
            case .chunked: headers.append(.transferEncoding, "chunked")
            case .none: break
            }
        }
        self.init(status: status, headers: headers)
    }

    private init(status: HTTPStatus, headers: HTTPHeaders) {
        self.status = status
        self.headers = headers
        let text = "HTTP/1.1 \(status) \(ResponseHead.reason(status))\r\n"
        var bytes = Data(text.utf8)
        for index in headers.indices { bytes.append(headers.lineBytes(at: index)) }
        bytes.append(contentsOf: [13, 10])
        self.bytes = bytes
    }

    func adding(_ name: HTTPHeaderName, _ value: String) -> ResponseHead {
        var headers = headers
        headers[name] = value
        return ResponseHead(status: status, headers: headers)
    }

    /// Returns the reason phrase. Clients ignore it (RFC 9112 §4), but it helps in packet captures.
    private static func reason(_ status: HTTPStatus) -> String {
        switch status {
        case .ok: "OK"
        case .created: "Created"
        case .noContent: "No Content"
        case .found: "Found"
        case .notModified: "Not Modified"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .tooManyRequests: "Too Many Requests"
        case .internalServerError: "Internal Server Error"
        case .serviceUnavailable: "Service Unavailable"
        default:
            switch status.class {
            case .informational: "Informational"
            case .success: "Success"
            case .redirection: "Redirection"
            case .clientError: "Client Error"
            case .serverError: "Server Error"
            case .unknown: "Unknown"
            }
        }
    }
}

extension HTTPHeaders {
    /// Returns the bytes of a field line, including the line ending.
    func lineBytes(at index: Int) -> Data {
        let line = line(at: index)
        return Data(bytes[line.offset..<line.end]) + [13, 10]
    }
}
