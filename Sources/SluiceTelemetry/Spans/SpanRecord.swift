import Sluice
import SluiceHTTP

/// The IDs of a request's trace, which are known when the request begins.
struct RequestTrace: Sendable, Equatable {
    var traceID: TraceContext.TraceID
    let spanID: TraceContext.SpanID
    let parent: TraceContext?
    let isSampled: Bool
    /// True if the ID in the header is that of another span, as a rule of the caller's, who has set the header.
    let hasCallersHeader: Bool
}

/// The parts of a request that spans and metrics name. It holds neither headers nor a body.
struct SentTarget: Sendable, Equatable {
    let method: HTTPMethod
    let scheme: String
    let authority: String
    let path: String

    init(_ request: HTTPRequest) {
        method = request.method
        scheme = request.scheme
        authority = request.authority
        path = request.path
    }
}

/// The end of a request or an attempt.
enum SpanOutcome: Sendable, Equatable {
    case response(HTTPStatus, HTTPVersion, peer: String?)
    case failure(SluiceError.Code, HTTPStatus?, String)

    /// Creates an outcome.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the request or of an attempt.
    ///   - isWhole: True for the request as a whole. An attempt whose stored response the server has confirmed has the status 304.
    init(_ outcome: TransportOutcome, isWhole: Bool = false) {
        switch outcome {
        case .success(let response):
            let head = isWhole ? response.head : response.serverHead ?? response.head
            self = .response(head.status, head.version, peer: response.metrics.remoteAddress)
        case .failure(let error): self = .failure(error.code, error.response?.status, error.description)
        }
    }
}

/// A moment within a span.
struct SpanEvent: Sendable, Equatable {
    let time: UInt64
    let name: String
    let attributes: [Attribute]
}

/// A span as it was recorded: what the pipeline's threads store, and the exporter describes later.
struct SpanRecord: Sendable, Equatable {
    var trace: RequestTrace
    let spanID: TraceContext.SpanID
    let parentID: TraceContext.SpanID?
    /// The number of the attempt; nil for the request as a whole.
    let attempt: Int?
    let method: HTTPMethod
    let template: String?
    var target: SentTarget?
    /// Nanoseconds since 1970.
    let start: UInt64
    var end: UInt64
    var events: [SpanEvent] = []
    var droppedEvents = 0
    var outcome: SpanOutcome?

    /// Adds an event, unless there are as many as the limit.
    mutating func add(_ event: SpanEvent, limit: Int) {
        if events.count < limit { events.append(event) } else { droppedEvents += 1 }
    }

    /// The approximate number of bytes in memory and in a batch.
    var size: Int {
        let texts = (target?.path.utf8.count ?? 0) + (target?.authority.utf8.count ?? 0) + (template?.utf8.count ?? 0)
        let state = trace.parent?.traceState?.utf8.count ?? 0
        let message = if case .failure(_, _, let text)? = outcome { text.utf8.count } else { 0 }
        return 400 + texts + state + 2 * message + events.reduce(0) { $0 + 80 + $1.size }
    }
}

extension SpanEvent {
    fileprivate var size: Int {
        attributes.reduce(0) { sum, attribute in
            guard case .string(let text) = attribute.value else { return sum + 40 }
            return sum + 40 + text.utf8.count
        }
    }
}

// MARK: - Attribute

/// An attribute of a span, an event, a point or the resource.
struct Attribute: Equatable, Hashable, Sendable {
    enum Value: Equatable, Hashable, Sendable {
        case string(String)
        case int(Int)
        case double(Double)
        case bool(Bool)
    }

    let key: String
    let value: Value

    init(_ key: String, _ value: Value) {
        self.key = key
        self.value = value
    }

    init(_ key: String, _ text: String) {
        self.init(key, .string(text))
    }

    init(_ key: String, _ integer: Int) {
        self.init(key, .int(integer))
    }

    /// The message `KeyValue`, with texts of at most this many Unicode scalars.
    func message(limit: Int?) -> ProtobufMessage {
        let value = ProtobufMessage {
            switch self.value {
            case .string(let text): $0.add(1, "stringValue", .string(text.truncated(to: limit)))
            case .bool(let flag): $0.add(2, "boolValue", .bool(flag))
            case .int(let integer): $0.add(3, "intValue", .int64(Int64(integer)))
            case .double(let double): $0.add(4, "doubleValue", .double(double))
            }
        }
        return ProtobufMessage {
            $0.add(1, "key", .string(key))
            $0.add(2, "value", .message(value))
        }
    }
}

extension [Attribute] {
    func messages(limit: Int?) -> ProtobufValue { .messages(map { $0.message(limit: limit) }) }
}

extension String {
    fileprivate func truncated(to limit: Int?) -> String {
        // Most texts are shorter in bytes, which need not be counted one by one.
        guard let limit, utf8.count > limit else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(Swift.max(0, limit))))
    }
}
