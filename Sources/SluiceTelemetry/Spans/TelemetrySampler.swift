import Sluice

/// Decides if the spans of a request are exported.
public struct TelemetrySampler: Sendable, Hashable {
    private enum Root: Sendable, Hashable {
        case always
        case never
        /// The share of traces whose last 63 bits are below a bound, as other SDKs decide, so that all agree about a trace.
        case below(UInt64)
    }

    private let root: Root
    private let followsParent: Bool

    /// All requests.
    public static let alwaysOn = TelemetrySampler(root: .always, followsParent: false)
    /// No request.
    public static let alwaysOff = TelemetrySampler(root: .never, followsParent: false)

    /// A share of the traces, chosen by their IDs.
    ///
    /// - Parameter ratio: From 0, none, to 1, all. Values outside are clamped.
    /// - Returns: A sampler.
    public static func traceIDRatio(_ ratio: Double) -> TelemetrySampler {
        if ratio >= 1 { return .alwaysOn }
        guard ratio > 0 else { return .alwaysOff }
        return TelemetrySampler(root: .below(UInt64(ratio * 0x1p63)), followsParent: false)
    }

    /// The decision of the trace that a request continues; for a request that begins a trace, that of another sampler.
    public static func parentBased(_ root: TelemetrySampler = .alwaysOn) -> TelemetrySampler {
        TelemetrySampler(root: root.root, followsParent: true)
    }

    /// Returns true if the spans of a request are exported.
    func samples(_ trace: TraceContext.TraceID, parent: TraceContext?) -> Bool {
        if followsParent, let parent { return parent.isSampled }
        switch root {
        case .always: return true
        case .never: return false
        case .below(let bound): return trace.low & (1 << 63 - 1) < bound
        }
    }
}
