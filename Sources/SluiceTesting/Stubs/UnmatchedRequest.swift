import SluiceFoundation
import SluiceHTTP

/// A request that matched no rule of a ``StubTransport``, with the rules and the reasons why each did not match.
///
/// The `description` may contain the query, headers and body of the request. Values with secret names are replaced by
/// `REDACTED`. This error is the `underlyingError` of the error with the code `requestUnmatched`.
public struct UnmatchedRequest: LocalizedError, Sendable, CustomStringConvertible {
    /// A rule that did not match the request.
    package struct Miss: Sendable {
        /// The conditions of the rule.
        package let rule: String
        /// The reasons why the rule did not match.
        package let reasons: [String]
    }

    /// The request.
    public let request: RecordedRequest
    /// All rules. The rule with the fewest reasons comes first.
    package let misses: [Miss]

    init(_ request: RecordedRequest, _ misses: [Miss]) {
        self.request = request
        // A stable sort.
        self.misses = misses.enumerated()
            .sorted { ($0.element.reasons.count, $0.offset) < ($1.element.reasons.count, $1.offset) }
            .map(\.element)
    }

    /// The request and a line for each rule, the closest rule first, without secrets.
    public var description: String {
        let secrets = SecretRules.usual
        let summary = "No stub matches \(request.method) \(secrets.url(request.url))"
        if misses.isEmpty { return "\(summary): there are no rules." }
        let lines = misses.map { miss in
            "  - \(secrets.text(miss.rule)): \(miss.reasons.map(secrets.text).joined(separator: "; "))"
        }
        return (["\(summary). The rules, closest first:"] + lines).joined(separator: "\n")
    }

    /// The ``description``, as `localizedDescription`.
    public var errorDescription: String? { description }

    /// Returns the error for the request. Its message contains neither query, headers nor body.
    func error(of request: HTTPRequest) -> SluiceError {
        let rules = misses.count == 1 ? "the only rule" : "none of the \(misses.count) rules"
        let reason =
            misses.isEmpty
            ? "The stub transport has no rules, so it cannot respond."
            : "No stub matches this request: \(rules) \(misses.count == 1 ? "does not match" : "matches") it. See the underlying error."
        return SluiceError(.requestUnmatched, reason, request: request, underlyingError: self)
    }
}

extension UnmatchedRequest: CustomReflectable {
    /// A mirror with the request and the description.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": request, "description": description], displayStyle: .struct)
    }
}

extension SluiceError.Code {
    /// The request matched no rule of a ``StubTransport``.
    public static let requestUnmatched = SluiceError.Code("requestUnmatched")
}
