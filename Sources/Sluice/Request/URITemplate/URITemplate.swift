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
    /// Values are percent-encoded. The operators `+` and `#` keep reserved characters and existing triplets. The names
    /// in an associative array are encoded in the same way. RFC 6570 would keep reserved characters in names that
    /// become parameters, and the name `a&b` would become two parameters.
    ///
    /// - Parameter variables: The values by name. Names that the template does not contain are ignored.
    /// - Returns: The URL, or part of one.
    /// - Throws: A ``URITemplateFailure`` if the template is malformed, or if a variable with a prefix such as `:3` has
    ///   a list or an associative array as its value.
    public func expand(_ variables: Variables = [:]) throws(URITemplateFailure) -> String {
        var expansion = URITemplateExpansion(template: description, variables: variables)
        for part in try parts.get() { try expansion.append(part) }
        return expansion.text
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
