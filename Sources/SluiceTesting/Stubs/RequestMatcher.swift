import Sluice
import SluiceFoundation
import SluiceHTTP

/// The conditions that a request must meet, for a rule of a ``StubTransport`` or for a query of its recorded requests.
///
/// ```swift
/// stubs.on(.post("/gists").header("Authorization").body(json: #"{"public":true}"#), .status(.created))
/// #expect(stubs.count(of: .get("/users/{id}").query("page", "2")) == 1)
/// ```
///
/// A request matches if it meets all conditions.
public struct RequestMatcher: Sendable, CustomStringConvertible {
    private struct Criterion: Sendable {
        let description: String
        /// Returns the reason why a request does not meet the condition, or nil if it does.
        let mismatch: @Sendable (RecordedRequest) -> String?
    }

    private let method: HTTPMethod?
    private let path: PathPattern?
    private var criteria: [Criterion] = []

    /// Creates a matcher for a method and a path.
    ///
    /// - Parameters:
    ///   - method: The method. Nil matches any method.
    ///   - path: The percent-encoded path without the query. `{name}` matches one or more characters of one
    ///     segment, `*` matches anything. Nil matches any path.
    public init(_ method: HTTPMethod? = nil, _ path: String? = nil) {
        self.method = method
        self.path = path.map(PathPattern.init)
    }

    /// Matches every request.
    public static let any = RequestMatcher()
    /// Matches a GET request for a path.
    public static func get(_ path: String) -> RequestMatcher { RequestMatcher(.get, path) }
    /// Matches a HEAD request for a path.
    public static func head(_ path: String) -> RequestMatcher { RequestMatcher(.head, path) }
    /// Matches a POST request to a path.
    public static func post(_ path: String) -> RequestMatcher { RequestMatcher(.post, path) }
    /// Matches a PUT request to a path.
    public static func put(_ path: String) -> RequestMatcher { RequestMatcher(.put, path) }
    /// Matches a PATCH request to a path.
    public static func patch(_ path: String) -> RequestMatcher { RequestMatcher(.patch, path) }
    /// Matches a DELETE request to a path.
    public static func delete(_ path: String) -> RequestMatcher { RequestMatcher(.delete, path) }
    /// Matches a path with any method.
    public static func path(_ path: String) -> RequestMatcher { RequestMatcher(nil, path) }

    /// Requires a host. Include the port if the URL has one.
    public func host(_ authority: String) -> RequestMatcher {
        adding("host \(authority)") { request in
            request.authority.lowercased() == authority.lowercased() ? nil : "the host is \(request.authority)"
        }
    }

    /// Requires a query item, with any value if `value` is nil. Other query items are allowed.
    public func query(_ name: String, _ value: String? = nil) -> RequestMatcher {
        adding("query \(name)\(value.map { "=\($0)" } ?? "")") { request in
            let values = request.queryItems.filter { $0.name == name }.map { $0.value ?? "" }
            if values.isEmpty { return "the query has no \(name)" }
            guard let value, !values.contains(value) else { return nil }
            return "the query has \(values.map { "\(name)=\($0)" }.joined(separator: " and "))"
        }
    }

    /// Requires a header field, with any value if `value` is nil.
    public func header(_ name: HTTPHeaderName, _ value: String? = nil) -> RequestMatcher {
        adding("header \(name)\(value.map { ": \($0)" } ?? "")") { request in
            let values = request.headers.values(for: name)
            if values.isEmpty { return "there is no header \(name)" }
            guard let value, !values.contains(value) else { return nil }
            return "the header is \(values.map { "\(name): \($0)" }.joined(separator: " and "))"
        }
    }

    /// Requires a body with exactly these bytes.
    public func body(_ bytes: Data) -> RequestMatcher {
        adding("body of \(bytes.count) bytes") { request in
            request.body == bytes ? nil : "the body of \(request.body.count) bytes is different"
        }
    }

    /// Requires a body with exactly this text.
    public func body(_ text: String) -> RequestMatcher {
        adding("body “\(text)”") { request in
            request.body == Data(text.utf8) ? nil : "the body is \(request.briefBody)"
        }
    }

    /// Requires a body that is equal to a JSON text. The order of members and white space are ignored.
    ///
    /// If `text` is not valid JSON, no request matches.
    public func body(json text: String) -> RequestMatcher {
        let wanted = Result { () throws(JSONSyntaxError) in try JSON(parsing: text) }
        return adding("JSON body \(text)") { request in
            switch wanted {
            case .failure(let failure): return "the matcher's JSON cannot be parsed: \(failure.reason)"
            case .success(let wanted):
                guard let body = try? JSON(parsing: request.body) else {
                    return "the body is not JSON but \(request.briefBody)"
                }
                return body == wanted ? nil : "the body is \(request.briefBody)"
            }
        }
    }

    /// Requires a body that is equal to the JSON encoding of a value.
    public func body(json value: some Encodable & Sendable, encoder: JSONEncoder = JSONEncoder()) -> RequestMatcher {
        // A value that cannot be encoded yields an empty text, which matches no request and explains why in the mismatch.
        let text = (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return body(json: text)
    }

    /// Requires that a closure returns true.
    ///
    /// - Parameters:
    ///   - description: A description of the condition, for the message of an unmatched request.
    ///   - isMatch: Called on any thread. It must not block.
    /// - Returns: The matcher with the additional condition.
    public func matching(
        _ description: String = "a predicate",
        _ isMatch: @escaping @Sendable (RecordedRequest) -> Bool
    ) -> RequestMatcher {
        adding(description) { isMatch($0) ? nil : "it does not satisfy \(description)" }
    }

    /// The conditions, in one line.
    public var description: String {
        let target = "\(method?.rawValue ?? "any method") \(path?.text ?? "any path")"
        return ([target] + criteria.map(\.description)).joined(separator: ", ")
    }

    /// Returns true if a request meets all conditions.
    package func matches(_ request: RecordedRequest) -> Bool { mismatches(request).isEmpty }

    /// Returns the reasons why a request does not match. Empty if it does.
    func mismatches(_ request: RecordedRequest) -> [String] {
        var mismatches: [String] = []
        if let method, method != request.method { mismatches.append("the method is \(request.method)") }
        if let path, path.match(request.path) == nil {
            mismatches.append("the path is \(request.path)" + (path.mistake.map { " (\($0))" } ?? ""))
        }
        return mismatches + criteria.compactMap { $0.mismatch(request) }
    }

    func pathParameters(of request: RecordedRequest) -> [String: String] { path?.match(request.path) ?? [:] }

    private func adding(
        _ description: String,
        _ mismatch: @escaping @Sendable (RecordedRequest) -> String?
    ) -> RequestMatcher {
        var matcher = self
        matcher.criteria.append(Criterion(description: description, mismatch: mismatch))
        return matcher
    }
}

extension RecordedRequest {
    /// The first 200 characters of the body, for a failure message.
    fileprivate var briefBody: String {
        if body.isEmpty { return "empty" }
        guard let text else { return "\(body.count) bytes that are not text" }
        return text.count > 200 ? "\(text.prefix(200))…" : text
    }
}

/// A path pattern with placeholders: `/users/{id}`, `/files/*`.
///
/// A `{name}` matches one or more characters of one path segment. A `*` matches any characters, including slashes.
struct PathPattern: Sendable {
    private enum Part: Sendable {
        case literal([UInt8])
        case parameter(String)
        case anything
    }

    let text: String
    private let parts: [Part]

    init(_ text: String) {
        self.text = text
        var parts: [Part] = []
        var literal: [UInt8] = []
        var rest = text[...]
        func flush() {
            if !literal.isEmpty { parts.append(.literal(literal)) }
            literal = []
        }
        while let character = rest.first {
            if character == "*" {
                flush()
                parts.append(.anything)
                rest = rest.dropFirst()
            } else if character == "{", let end = rest.firstIndex(of: "}") {
                flush()
                parts.append(.parameter(String(rest[rest.index(after: rest.startIndex)..<end])))
                rest = rest[rest.index(after: end)...]
            } else {
                literal += character.utf8
                rest = rest.dropFirst()
            }
        }
        flush()
        self.parts = parts
    }

    /// The reason why no path can match; nil if one can.
    var mistake: String? {
        if text.contains("://") { return "write only the path, and the host as “.host(\"shop.example\")”" }
        if text.utf8.contains(UInt8(ascii: "?")) { return "write the query as “.query(\"page\", \"2\")”" }
        let first = text.utf8.first
        let canMatch = [UInt8(ascii: "/"), UInt8(ascii: "*"), UInt8(ascii: "{")].contains { $0 == first }
        return canMatch ? nil : "a path begins with “/”"
    }

    /// Returns the values of the named placeholders, or nil if the path does not match.
    func match(_ path: String) -> [String: String]? {
        match(Array(path.utf8)[...], parts[...])
    }

    private func match(_ path: ArraySlice<UInt8>, _ parts: ArraySlice<Part>) -> [String: String]? {
        guard let part = parts.first else { return path.isEmpty ? [:] : nil }
        let others = parts.dropFirst()
        switch part {
        case .literal(let bytes):
            return path.starts(with: bytes) ? match(path.dropFirst(bytes.count), others) : nil
        case .anything:
            // Try the rest of the pattern at each position.
            if others.isEmpty { return [:] }
            for index in path.startIndex...path.endIndex {
                if let match = match(path[index...], others) { return match }
            }
            return nil
        case .parameter(let name):
            let segment = path.prefix { $0 != UInt8(ascii: "/") }
            for end in segment.indices.reversed() {
                guard var match = match(path[(end + 1)...], others) else { continue }
                match[name] = FormItems.decoded(String(decoding: path[...end], as: UTF8.self), plusIsBlank: false)
                return match
            }
            return nil
        }
    }
}

// MARK: - Unmatched request

/// A request that matched no rule of a ``StubTransport``, with the rules and the reasons why each did not match.
///
/// The `description` may contain the query, headers and body of the request. Values with secret names are replaced by
/// `REDACTED`. This error is the `underlyingError` of the error with the code `requestUnmatched`.
public struct UnmatchedRequest: LocalizedError, Sendable, CustomStringConvertible, DescribedError {
    /// A rule that did not match the request.
    package struct Miss: Sendable {
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

    /// Returns the error for the request. Its message contains neither query, headers nor body.
    func error(of request: HTTPRequest) -> SluiceError {
        var reason = "The stub transport has no rules, so it cannot respond."
        if let closest = misses.first {
            let rule = SecretRules.usual.text(closest.rule)
            let rules =
                misses.count == 1
                ? "the only rule, “\(rule)”, does not match it"
                : "none of the \(misses.count) rules matches it, and the closest is “\(rule)”"
            reason = "No stub matches this request: \(rules). See the underlying error."
        }
        return SluiceError(.requestUnmatched, reason, request: request, underlyingError: self)
    }
}

extension UnmatchedRequest: CustomReflectable, RedactedMirror {
    package var shown: [Mirror.Child] { [("request", request)] }
}

extension SluiceError.Code {
    /// The request matched no rule of a ``StubTransport``.
    public static let requestUnmatched = SluiceError.Code("requestUnmatched")
}
