/// Whether stubs answer requests that have one, and when.
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
    /// Whether a stubbed request is answered without asking any gate or constraint; false unless ``skippingGates()`` says so.
    public private(set) var skipsGates = false

    private init(kind: Kind) {
        self.kind = kind
    }

    /// Requests are sent, stub or no stub.
    public static let never = StubMode(kind: .never)
    /// Stubs answer at once, or with the delay that they have of their own.
    public static let immediate = StubMode(kind: .after(.zero))

    /// Stubs answer after a delay, besides the one they may have of their own.
    public static func delayed(_ delay: Duration) -> StubMode { StubMode(kind: .after(delay)) }

    /// The same mode, in which a request that is stubbed passes all gates and constraints unasked: no token is fetched for it.
    public func skippingGates() -> StubMode {
        var mode = self
        mode.skipsGates = true
        return mode
    }

    /// How long stubs wait; nil where they do not answer.
    package var delay: Duration? {
        if case .after(let delay) = kind { delay } else { nil }
    }
}
