import SluiceFoundation
import SluiceHTTP

// Names that people try first in observers. None can be called: each says what to write.

extension RequestEvent.Kinds {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".began\".")
    public static var started: Self { .began }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".sending\".")
    public static var sent: Self { .sending }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".retrying\".")
    public static var retried: Self { .retrying }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".retrying\".")
    public static var hedging: Self { .retrying }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".finished\", which has both outcomes.")
    public static var succeeded: Self { .finished }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".finished\", which has both outcomes.")
    public static var failed: Self { .finished }
}

extension ObservedRequest {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"elapsed\".")
    public var duration: Duration { elapsed }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Events have the request: \"if case .sending(let request) = event\".")
    public var request: HTTPRequest { HTTPRequest(scheme: "https", authority: "", path: "/") }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"route\", or read the URL of an event: \"case .sending(let request)\".")
    public var url: String { "" }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Read the URL of an event: \"if case .sending(let request) = event\".")
    public var host: String { "" }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"route\", or read the URL of an event: \"case .sending(let request)\".")
    public var path: String { "" }
}

extension HARRecorder {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"write(to: url)\".")
    public func save(to url: URL) async throws(SluiceError) {}
}

extension Array where Element == HTTPHeaderName {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"append(\"X-Key\")\".")
    public mutating func insert(_ name: HTTPHeaderName) {}
}

extension RequestMetrics.Route {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"phases.gates\".")
    public var gates: LatencyHistogram { phases.gates }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"phases.gates\".")
    public var gateTime: LatencyHistogram { phases.gates }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"phases.gates\".")
    public var gateWait: LatencyHistogram { phases.gates }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"phases.gates\".")
    public var waiting: LatencyHistogram { phases.gates }
}

extension LatencyHistogram {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"maximum\".")
    public var max: Duration? { maximum }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"minimum\".")
    public var min: Duration? { minimum }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"sum\".")
    public var total: Duration { sum }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"mean\".")
    public var average: Duration? { mean }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"percentile(50)\".")
    public var p50: Duration? { nil }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"percentile(95)\".")
    public var p95: Duration? { nil }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"percentile(99)\".")
    public var p99: Duration? { nil }
}
