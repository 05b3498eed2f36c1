/// The mode of a client's stubs: disabled, immediate or delayed.
///
/// ```swift
/// let preview = APIClient { $0.stubMode = .delayed(.seconds(1)) }
/// ```
public struct StubMode: Sendable, Hashable {
    private enum Kind: Sendable, Hashable {
        case never
        case after(Duration)
    }

    private let kind: Kind
    /// True if stubbed requests bypass gates and constraints. False by default; see ``skippingGates()``.
    package private(set) var skipsGates = false

    private init(kind: Kind) {
        self.kind = kind
    }

    /// Sends all requests and ignores stubs.
    public static let never = StubMode(kind: .never)
    /// Stubs respond immediately, or after their own delay.
    public static let immediate = StubMode(kind: .after(.zero))

    /// Stubs respond after a delay, added to their own.
    public static func delayed(_ delay: Duration) -> StubMode { StubMode(kind: .after(delay)) }

    /// Returns the mode with gates and constraints bypassed for stubbed requests. For example, no token is fetched for
    /// them.
    public func skippingGates() -> StubMode {
        var mode = self
        mode.skipsGates = true
        return mode
    }

    /// The delay of stubs; nil if stubs are disabled.
    package var delay: Duration? {
        if case .after(let delay) = kind { delay } else { nil }
    }
}
