import SluiceHTTP

/// A request that no rule of a ``StubTransport`` was for: what was asked, which rules there were, and why each did not take it.
///
/// Its `description` may hold the query, headers and body of the request, with `REDACTED` in the place of what has a secret's name. It is
/// the `underlyingError` of the error of code `requestUnmatched` that the request fails with.
public struct UnmatchedRequest: Error, Sendable, CustomStringConvertible {
    /// A rule that did not take the request.
    public struct Miss: Sendable {
        /// What the rule asks for.
        public let rule: String
        /// Why it did not take the request, a reason each.
        public let reasons: [String]
    }

    /// The request.
    public let request: RecordedRequest
    /// All rules, the nearest first.
    public let misses: [Miss]

    init(_ request: RecordedRequest, _ misses: [Miss]) {
        self.request = request
        // A sort that keeps the order of equals.
        self.misses = misses.enumerated()
            .sorted { ($0.element.reasons.count, $0.offset) < ($1.element.reasons.count, $1.offset) }
            .map(\.element)
    }

    /// The request, and a line for each rule, the nearest first, without secrets.
    public var description: String {
        let secrets = SecretRules.usual
        let asked = "No stub is for \(request.method) \(secrets.url(request.url))"
        if misses.isEmpty { return "\(asked): there are no rules." }
        let lines = misses.map { miss in
            "  - \(secrets.text(miss.rule)): \(miss.reasons.map(secrets.text).joined(separator: "; "))"
        }
        return (["\(asked). The rules, the nearest first:"] + lines).joined(separator: "\n")
    }

    /// The error of the request, whose sentence holds neither query, headers nor body.
    func error(of request: HTTPRequest) -> SluiceError {
        let rules = misses.count == 1 ? "the one rule" : "none of the \(misses.count) rules"
        let reason =
            misses.isEmpty
            ? "The stub transport has no rules, and answers nothing."
            : "No stub is for this request: \(rules) \(misses.count == 1 ? "does not take" : "takes") it. See the underlying error."
        return SluiceError(.requestUnmatched, reason, request: request, underlyingError: self)
    }
}

extension UnmatchedRequest: CustomReflectable {
    /// What the description says.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": request, "description": description], displayStyle: .struct)
    }
}

extension SluiceError.Code {
    /// No rule of a ``StubTransport`` is for the request.
    public static let requestUnmatched = SluiceError.Code("requestUnmatched")
}
