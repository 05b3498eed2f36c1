import Sluice
import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Which requests a rule of a ``StubTransport`` is for, and which of its requests a test asks for.
///
/// ```swift
/// stubs.on(.post("/gists").header("Authorization").body(json: #"{"public":true}"#), .status(.created))
/// #expect(stubs.count(of: .get("/users/{id}").query("page", "2")) == 1)
/// ```
///
/// All that is said must hold.
public struct RequestMatcher: Sendable, CustomStringConvertible {
    /// One thing that must hold.
    private struct Criterion: Sendable {
        let description: String
        /// Why it does not; nil where it does.
        let mismatch: @Sendable (RecordedRequest) -> String?
    }

    private let method: HTTPMethod?
    private let path: PathPattern?
    private var criteria: [Criterion] = []

    /// Makes a matcher of a method and a path.
    ///
    /// - Parameters:
    ///   - method: The method; nil for any.
    ///   - path: The path as it travels, without query. `{name}` stands for a segment, `*` for anything. Nil for any.
    public init(_ method: HTTPMethod? = nil, _ path: String? = nil) {
        self.method = method
        self.path = path.map(PathPattern.init)
    }

    /// Every request.
    public static let any = RequestMatcher()
    /// A GET of a path.
    public static func get(_ path: String) -> RequestMatcher { RequestMatcher(.get, path) }
    /// A HEAD of a path.
    public static func head(_ path: String) -> RequestMatcher { RequestMatcher(.head, path) }
    /// A POST to a path.
    public static func post(_ path: String) -> RequestMatcher { RequestMatcher(.post, path) }
    /// A PUT to a path.
    public static func put(_ path: String) -> RequestMatcher { RequestMatcher(.put, path) }
    /// A PATCH of a path.
    public static func patch(_ path: String) -> RequestMatcher { RequestMatcher(.patch, path) }
    /// A DELETE of a path.
    public static func delete(_ path: String) -> RequestMatcher { RequestMatcher(.delete, path) }
    /// A path, whatever the method.
    public static func path(_ path: String) -> RequestMatcher { RequestMatcher(nil, path) }

    /// To this host; with a port where the URL has one.
    public func host(_ authority: String) -> RequestMatcher {
        adding("host \(authority)") { request in
            request.authority.lowercased() == authority.lowercased() ? nil : "the host is \(request.authority)"
        }
    }

    /// With this item in its query; with any value where none is given. Other items may be there.
    public func query(_ name: String, _ value: String? = nil) -> RequestMatcher {
        adding("query \(name)\(value.map { "=\($0)" } ?? "")") { request in
            let values = request.queryItems.filter { $0.name == name }.map { $0.value ?? "" }
            if values.isEmpty { return "the query has no \(name)" }
            guard let value, !values.contains(value) else { return nil }
            return "the query's \(name) is \(values.joined(separator: ", "))"
        }
    }

    /// With this header; with any value where none is given.
    public func header(_ name: HTTPHeaderName, _ value: String? = nil) -> RequestMatcher {
        adding("header \(name)\(value.map { ": \($0)" } ?? "")") { request in
            let values = request.headers.values(for: name)
            if values.isEmpty { return "there is no header \(name)" }
            guard let value, !values.contains(value) else { return nil }
            return "the header \(name) is \(values.joined(separator: ", "))"
        }
    }

    /// With a body of these bytes.
    public func body(_ bytes: Data) -> RequestMatcher {
        adding("body of \(bytes.count) bytes") { request in
            request.body == bytes ? nil : "the body is of \(request.body.count) bytes, or of others"
        }
    }

    /// With a body of this text.
    public func body(_ text: String) -> RequestMatcher {
        adding("body “\(text)”") { request in
            request.body == Data(text.utf8) ? nil : "the body is \(request.briefBody)"
        }
    }

    /// With a body that says the same as this JSON, whatever the order of members and the white space. A text that is no JSON matches
    /// nothing.
    public func body(json text: String) -> RequestMatcher {
        let wanted = Result { () throws(JSONSyntaxError) in try JSON(parsing: text) }
        return adding("JSON body \(text)") { request in
            switch wanted {
            case .failure(let failure): return "the JSON of the matcher cannot be read: \(failure.reason)"
            case .success(let wanted):
                guard let body = try? JSON(parsing: request.body) else {
                    return "the body is no JSON but \(request.briefBody)"
                }
                return body == wanted ? nil : "the body is \(request.briefBody)"
            }
        }
    }

    /// With a body that says the same as a value does as JSON.
    public func body(json value: some Encodable & Sendable, encoder: JSONEncoder = JSONEncoder()) -> RequestMatcher {
        // What cannot be encoded matches nothing, and says so as what cannot be read.
        let text = (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return body(json: text)
    }

    /// For which a closure says so.
    ///
    /// - Parameters:
    ///   - description: What it asks for, for the message where no rule matches.
    ///   - isMatch: Called on any thread; it must not block.
    /// - Returns: The matcher that asks it too.
    public func matching(
        _ description: String = "a predicate",
        _ isMatch: @escaping @Sendable (RecordedRequest) -> Bool
    ) -> RequestMatcher {
        adding(description) { isMatch($0) ? nil : "it does not meet \(description)" }
    }

    /// What it asks for, in a line.
    public var description: String {
        let target = "\(method?.rawValue ?? "any method") \(path?.text ?? "any path")"
        return ([target] + criteria.map(\.description)).joined(separator: ", ")
    }

    /// Whether it takes a request.
    public func matches(_ request: RecordedRequest) -> Bool { mismatches(request).isEmpty }

    /// Why it does not take a request; nothing where it does.
    func mismatches(_ request: RecordedRequest) -> [String] {
        var mismatches: [String] = []
        if let method, method != request.method { mismatches.append("the method is \(request.method)") }
        if let path, path.match(request.path) == nil { mismatches.append("the path is \(request.path)") }
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
    /// Enough of the body to see what is wrong with it.
    fileprivate var briefBody: String {
        if body.isEmpty { return "empty" }
        guard let text else { return "\(body.count) bytes that are no text" }
        return text.count > 200 ? "\(text.prefix(200))…" : text
    }
}
