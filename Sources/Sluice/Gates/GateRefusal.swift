import SluiceHTTP

extension SluiceError.Code {
    /// A rate limit would have kept the request waiting for longer than it may; see ``GateRefusal``.
    public static let rateLimited = Self("rateLimited")
    /// Too many requests had failed lately, and the circuit breaker lets none through for now; see ``GateRefusal``.
    public static let circuitOpen = Self("circuitOpen")
}

/// Why a rate limit, a concurrency limit or a circuit breaker did not admit a request: the underlying error of
/// ``SluiceError/Code/rateLimited``, ``SluiceError/Code/queueFull`` and
/// ``SluiceError/Code/circuitOpen``.
///
/// ```swift
/// catch let error as SluiceError where error.code == .rateLimited {
///     let refusal = error.underlyingError as? GateRefusal
///     print("Try again in \(refusal?.retryAfter ?? .zero)")
/// }
/// ```
public struct GateRefusal: Error, Sendable, Hashable {
    /// The gate's name.
    public let gate: String
    /// After how long the gate would have admitted the request, or may admit another; nil where it cannot know.
    public let retryAfter: Duration?

    /// Makes a refusal.
    public init(gate: String, retryAfter: Duration? = nil) {
        self.gate = gate
        self.retryAfter = retryAfter
    }
}

extension SluiceError {
    /// A gate's refusal, of the step ``SluiceError/Step/gate``.
    static func refused(_ code: Code, by gate: String, after delay: Duration? = nil, _ reason: String) -> SluiceError {
        SluiceError(code, reason, step: .gate, underlyingError: GateRefusal(gate: gate, retryAfter: delay))
    }

    static func queueFull(at gate: String, waiting: Int) -> SluiceError {
        let many = waiting == 0 ? "None may wait" : "\(waiting) requests wait already, as many as may,"
        return refused(.queueFull, by: gate, "\(many) for the \(gate); send fewer at once or raise its maximumWaiting.")
    }
}

extension Duration {
    /// For a sentence: to the millisecond.
    var roundedUpToMilliseconds: Duration {
        let (seconds, attoseconds) = components
        return .seconds(seconds) + .milliseconds((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
