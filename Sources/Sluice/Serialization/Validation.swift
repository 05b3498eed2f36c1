import SluiceFoundation
import SluiceHTTP

/// The rules by which a response is accepted.
public struct Validation: Sendable {
    /// A custom rule for head and body. An error it throws fails the request. For streams and downloads, the body is
    /// empty.
    public typealias Rule = @Sendable (HTTPResponse, Data) throws -> Void

    /// The accepted statuses; 200..<300 by default.
    public var statuses: [Range<Int>] { didSet { isClients = false } }
    /// The accepted content types, such as `application/json` or `text/*`; nil, the default, accepts any.
    public var contentTypes: [String]? { didSet { isClients = false } }
    /// Custom rules, applied in order after the checks of status and content type.
    public var rules: [Rule] { didSet { isClients = false } }
    /// True if the client's rules apply in place of these.
    private(set) var isClients = false

    /// Creates validation rules.
    public init(statuses: [Range<Int>] = [200..<300], contentTypes: [String]? = nil, rules: [Rule] = []) {
        self.statuses = statuses
        self.contentTypes = contentTypes
        self.rules = rules
    }

    /// Creates rules with one or more ranges of statuses: `Validation(statuses: 200..<300, 404..<405)`.
    public init(
        statuses first: Range<Int>,
        _ others: Range<Int>...,
        contentTypes: [String]? = nil,
        rules: [Rule] = []
    ) {
        self.init(statuses: [first] + others, contentTypes: contentTypes, rules: rules)
    }

    /// Creates rules with one or more closed ranges of statuses: `Validation(statuses: 200...299, 404...404)`.
    public init(
        statuses first: ClosedRange<Int>,
        _ others: ClosedRange<Int>...,
        contentTypes: [String]? = nil,
        rules: [Rule] = []
    ) {
        let ranges = ([first] + others).map(Range.init(statuses:))
        self.init(statuses: ranges, contentTypes: contentTypes, rules: rules)
    }

    /// Accepts every response.
    public static let none = Validation(statuses: [Int.min..<Int.max])
    /// The client's rules. In a client's configuration, the default rules.
    public static let client: Validation = {
        var validation = Validation()
        validation.isClients = true
        return validation
    }()

    func check(_ response: ServerResponse) throws(SluiceError) {
        // Most responses are accepted by their status alone. Neither head nor body is copied for it.
        if contentTypes == nil, rules.isEmpty, accepts(response.status) { return }
        try check(response.head, response.body, hasBody: response.bodyCount > 0)
    }

    private func accepts(_ status: HTTPStatus) -> Bool { statuses.contains { $0.contains(status.rawValue) } }

    /// Returns the error for a response whose body is not in memory, or nil if the response is accepted. Custom rules
    /// receive an empty body.
    func failure(of head: HTTPResponse) -> SluiceError? {
        let hasBody = head.status != .noContent && head.headers[.contentLength] != "0"
        do throws(SluiceError) {
            try check(head, Data(), hasBody: hasBody)
            return nil
        } catch {
            return error
        }
    }

    private func check(_ head: HTTPResponse, _ body: Data, hasBody: Bool) throws(SluiceError) {
        guard accepts(head.status) else { throw .unacceptableStatus(head) }
        if let contentTypes, hasBody {
            let type = head.headers[.contentType] ?? ""
            guard contentTypes.contains(where: { Validation.matches(type, $0) }) else {
                throw SluiceError(
                    .unacceptableContentType,
                    Validation.refusal(of: type, acceptable: contentTypes),
                    step: .validation
                )
            }
        }
        do {
            for rule in rules { try rule(head, body) }
        } catch {
            throw SluiceError(
                .validationFailed,
                "The response was rejected by a validation rule.",
                step: .validation,
                underlyingError: error
            )
        }
    }

    /// Returns a sentence that names the content type of a response, on one line, and those that are accepted.
    private static func refusal(of type: String, acceptable types: [String]) -> String {
        let accepted = types.isEmpty ? "No type is accepted." : "Accepted: \(types.joined(separator: ", "))."
        if type.isEmpty { return "The response has no content type. \(accepted)" }
        return "The response's content type “\(type.printable)” is not accepted. \(accepted)"
    }

    /// Compares media types case-insensitively and without their parameters (RFC 9110 §8.3.1).
    private static func matches(_ type: String, _ pattern: String) -> Bool {
        let essence = ContentType.essence(of: type).lowercased()
        let pattern = ContentType.essence(of: pattern).lowercased()
        // Bytes, because the comparison of characters takes quadratic time for some texts of a server.
        if pattern == "*/*" || essence.utf8.elementsEqual(pattern.utf8) { return true }
        return pattern.hasSuffix("/*") && essence.utf8.starts(with: pattern.utf8.dropLast())
    }
}

extension Range<Int> {
    /// Creates the range of the statuses in a closed range. `Int.max`, which is no status, is left out.
    init(statuses: ClosedRange<Int>) {
        self = statuses.lowerBound..<(statuses.upperBound == .max ? .max : statuses.upperBound + 1)
    }
}
