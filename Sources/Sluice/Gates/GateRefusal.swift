import SluiceFoundation
import SluiceHTTP

/// The reason why a rate limit, a concurrency limit or a circuit breaker did not admit a request.
///
/// It is the underlying error of ``SluiceError/Code/rateLimited``, ``SluiceError/Code/queueFull`` and
/// ``SluiceError/Code/circuitOpen``.
///
/// ```swift
/// catch {
///     guard let refusal = error.underlyingError as? GateRefusal else { throw error }
///     print("Try again in \(refusal.retryAfter ?? .zero)")
/// }
/// ```
public struct GateRefusal: LocalizedError, Sendable, Equatable, CustomStringConvertible, DescribedError {
    /// The gate's name.
    public let gate: String
    /// The time after which the gate may admit a request; nil if it is not known.
    public let retryAfter: Duration?

    /// Creates a refusal.
    public init(gate: String, retryAfter: Duration? = nil) {
        self.gate = gate
        self.retryAfter = retryAfter
    }

    /// One sentence with the gate's name and the time to wait.
    public var description: String {
        let delay = retryAfter.map { " Try again in \($0.textRoundedUp)." } ?? ""
        return "The \(gate) did not admit the request.\(delay)"
    }
}

extension SluiceError.Code {
    /// The request would have waited longer at a rate limit than it may. See ``GateRefusal``.
    public static let rateLimited = Self("rateLimited")
    /// The circuit breaker is open because too many recent requests failed. See ``GateRefusal``.
    public static let circuitOpen = Self("circuitOpen")
}

extension SluiceError {
    /// Creates an error of step ``SluiceError/Step/gate`` with a ``GateRefusal`` as its underlying error.
    package static func refused(
        _ code: Code,
        by gate: String,
        after delay: Duration? = nil,
        _ reason: String
    ) -> SluiceError {
        SluiceError(code, reason, step: .gate, underlyingError: GateRefusal(gate: gate, retryAfter: delay))
    }

    package static func queueFull(at gate: String, waiting: Int) -> SluiceError {
        let reason =
            switch waiting {
            case 0: "The \(gate) cannot admit the request now, and no request may wait."
            case 1: "The queue of the \(gate) is full: one request is already waiting."
            default: "The queue of the \(gate) is full: \(waiting) requests are already waiting."
            }
        let advice = "Send fewer requests at once, or raise its maximumWaiting."
        return refused(.queueFull, by: gate, "\(reason) \(advice)")
    }

    /// Wraps an error that user code threw in a gate. A ``SluiceError`` is kept, and another cancellation becomes
    /// ``SluiceError/Code/cancelled``.
    static func gate(_ name: String, failedWith error: any Error) -> SluiceError {
        if let error = error as? SluiceError { return error.with(step: .gate) }
        if error.meansCancellation { return SluiceError(.cancelled, "The gate \(name) was cancelled.", step: .gate) }
        return SluiceError(
            .gateFailed,
            "The gate \(name) did not admit the request.",
            step: .gate,
            underlyingError: error
        )
    }

    static func gateTimedOut(_ name: String) -> SluiceError {
        SluiceError(.timedOut, "The constraint \(name) was not satisfied within its time limit.", step: .gate)
    }

    static func gateNeeds(_ name: String, missing need: String) -> SluiceError {
        SluiceError(
            .gateFailed,
            "The gate \(name) requires the gate \(need), which the client does not have.",
            step: .gate
        )
    }

    static func gatesNeedEachOther(_ names: [String]) -> SluiceError {
        SluiceError(
            .gateFailed,
            "The gates \(names.sorted().joined(separator: ", ")) depend on each other in a cycle, so none of them can be first.",
            step: .gate
        )
    }
}
