/// A URL, or a part of one, with variables to be filled in (RFC 6570, up to level 4).
///
/// ```swift
/// let issues: URITemplate = "repos/{owner}/{name}/issues{?state,labels*}"
/// let path = try issues.expand(["owner": "apple", "name": "swift", "labels": ["bug", "good first issue"]])
/// // repos/apple/swift/issues?labels=bug&labels=good%20first%20issue
/// ```
///
/// A variable that is left out is undefined and leaves nothing behind, neither its name nor its separator.
public struct URITemplate: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The template as it was written.
    public let description: String
    /// Kept with its failure, so that a literal need not throw.
    private let parts: Result<[URITemplatePart], URITemplateFailure>

    /// Makes a template; one that is malformed fails when it is expanded.
    public init(_ template: String) {
        description = template
        parts = URITemplateParser.parse(template)
    }

    /// Makes a template of a literal; one that is malformed fails when it is expanded.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Makes a template that is known to be well-formed.
    ///
    /// - Parameter template: The template.
    /// - Throws: A ``URITemplateFailure`` with the position and the reason.
    public init(parsing template: String) throws(URITemplateFailure) {
        self.init(template)
        _ = try parts.get()
    }

    /// Puts values in the place of the variables.
    ///
    /// Values are percent-encoded: whole, or, by the operators `+` and `#`, as far as no URL may hold them. So are the
    /// names in an associative array; RFC 6570 would let reserved characters of theirs through where they become
    /// parameters, and `a&b` would be two.
    ///
    /// - Parameter variables: The values by name; names that the template does not mention make no difference.
    /// - Returns: The URL, or part of one.
    /// - Throws: A ``URITemplateFailure`` if the template is malformed, or a prefix like `:3` meets a list or an
    ///   associative array.
    public func expand(_ variables: Variables = [:]) throws(URITemplateFailure) -> String {
        var expansion = URITemplateExpansion(template: description, variables: variables)
        for part in try parts.get() { try expansion.append(part) }
        return expansion.text
    }

    /// Whether both were written the same.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.description.utf8.elementsEqual(rhs.description.utf8)
    }

    /// Hashes what was written.
    public func hash(into hasher: inout Hasher) {
        for byte in description.utf8 { hasher.combine(byte) }
    }
}
