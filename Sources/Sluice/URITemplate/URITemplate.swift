import SluiceFoundation
import SluiceHTTP

/// A template of a URL or a part of one, with variables (RFC 6570, up to level 4).
///
/// ```swift
/// let issues: URITemplate = "repos/{owner}/{name}/issues{?state,labels*}"
/// let path = try issues.expand(["owner": "apple", "name": "swift", "labels": ["bug", "good first issue"]])
/// // repos/apple/swift/issues?labels=bug&labels=good%20first%20issue
/// ```
///
/// A variable without a value is undefined and expands to nothing, without its name and separator.
public struct URITemplate: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The text of the template.
    public let description: String
    /// The parts, or the failure to parse them, so that a literal need not throw.
    private let parts: Result<[URITemplatePart], URITemplateFailure>

    /// Creates a template. If it is malformed, expanding it fails.
    public init(_ template: String) {
        description = template
        parts = URITemplateParser.parse(template)
    }

    /// Creates a template from a literal. If it is malformed, expanding it fails.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Creates a template that is checked.
    ///
    /// - Parameter template: The template.
    /// - Throws: A ``URITemplateFailure`` with the position and the reason, if the template is malformed.
    public init(parsing template: String) throws(URITemplateFailure) {
        self.init(template)
        _ = try parts.get()
    }

    /// Replaces the variables with values.
    ///
    /// Strings, numbers, booleans and enums become strings, arrays lists, and dictionaries associative arrays. A date is
    /// a number, as `JSONEncoder` writes it. Nil values, empty lists and empty dictionaries are undefined. The members of
    /// a dictionary are sorted by name; those of ``Parameters`` keep their order.
    ///
    /// Values are percent-encoded. The operators `+` and `#` keep reserved characters and existing triplets. The names
    /// in an associative array are encoded in the same way. RFC 6570 would keep reserved characters in names that
    /// become parameters, and the name `a&b` would become two parameters.
    ///
    /// - Parameter variables: The values by name. Names are case-sensitive. Names that the template does not contain are
    ///   ignored.
    /// - Returns: The URL, or part of one.
    /// - Throws: ``SluiceError/Code/invalidURL``, with a ``URITemplateFailure``, if the template is malformed, or if a
    ///   variable with a prefix such as `:3` has a list or an associative array as its value. Also if a variable makes a
    ///   segment of the path `.` or `..`, which cannot be escaped and would change the path.
    ///   ``SluiceError/Code/encodingFailed`` if a value cannot be encoded.
    public func expand(_ variables: Parameters = [:]) throws(SluiceError) -> String {
        do {
            let parts = try parts.get()
            var expansion = URITemplateExpansion(template: description, values: try URITemplateValue.all(of: variables))
            for part in parts { try expansion.append(part) }
            if URITemplate.dotSegments(expansion.text) > URITemplate.dotSegments(description) {
                throw SluiceError.invalidURL("a template variable expands to a path segment of only dots")
            }
            return expansion.text
        } catch let error as SluiceError {
            throw error
        } catch let error as URITemplateFailure {
            throw SluiceError(.invalidURL, "\(error)", step: .building, underlyingError: error)
        } catch {
            let reason = "The variables of a URI template cannot be encoded."
            throw SluiceError(.encodingFailed, reason, step: .building, underlyingError: error)
        }
    }

    /// Returns the number of dot segments before the query, also of a text that begins with an authority.
    private static func dotSegments(_ reference: String) -> Int {
        DotSegments.count(in: PathSpace.path(of: reference))
    }

    /// Returns an endpoint, from which a request is created: `client.get(template.expanding(["id": id, "page": page]))`.
    ///
    /// The request fails with the errors of ``expand(_:)``. If a variable makes the first segment empty, the next one is
    /// not read as a host (RFC 3986 §4.2).
    ///
    /// The route of the request, by which metrics and telemetry count it, is the text of the template.
    ///
    /// - Parameter variables: The values by name, as for ``expand(_:)``.
    /// - Returns: The endpoint of a GET request.
    public func expanding(_ variables: Parameters) -> some Endpoint {
        Expansion(template: self, variables: variables)
    }

    /// Returns true if both have the same text.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.description.utf8.elementsEqual(rhs.description.utf8)
    }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) {
        for byte in description.utf8 { hasher.combine(byte) }
    }
}

// MARK: - Endpoint

extension URITemplate {
    /// A template with its variables, from which a request can be created.
    private struct Expansion: Endpoint {
        let template: URITemplate
        let variables: Parameters

        /// Returns a GET request to the expanded template.
        func draft() throws(SluiceError) -> RequestDraft {
            var path = try template.expand(variables)
            let slashes = "//".utf8
            if path.utf8.starts(with: slashes), !template.description.utf8.starts(with: slashes) {
                // Without the dot, which is removed later, a reference would begin with a host (RFC 3986 §4.2).
                path = "/." + path
            }
            var draft = RequestDraft(path: path)
            draft.route = RoutePattern.route(ofTemplate: template.description)
            return draft
        }
    }
}

// MARK: - Failure

/// The reason why a ``URITemplate`` cannot be expanded.
public struct URITemplateFailure: LocalizedError, Sendable, Hashable, CustomStringConvertible, DescribedError {
    /// The template.
    public let template: String
    /// The position of the error in the template, in Unicode scalars from 0.
    public let position: Int
    /// The error, as the rest of a sentence.
    public let reason: String

    init(_ template: String, atByte offset: Int, _ reason: String) {
        self.template = template
        // Continuation bytes are skipped, so that each scalar counts once.
        position = template.utf8.prefix(offset).count { $0 & 0xC0 != 0x80 }
        self.reason = reason
    }

    /// One sentence, without the values of variables.
    public var description: String {
        "The URI template “\(template)” cannot be expanded: at position \(position), \(reason)."
    }
}
