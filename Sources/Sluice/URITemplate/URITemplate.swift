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

// MARK: - Variables

extension URITemplate {
    /// The values of a template's variables by name. Names are case-sensitive.
    public struct Variables: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        private var values: [String: Value] = [:]

        /// Creates an empty set.
        public init() {}

        /// Creates a set from a literal. If a name is repeated, the last value counts.
        public init(dictionaryLiteral elements: (String, Value)...) {
            for (name, value) in elements { self[name] = value }
        }

        /// The sorted names of the variables that have a value.
        var names: [String] { values.keys.sorted() }

        /// The value of a variable.
        public subscript(name: String) -> Value {
            get { values[name] ?? .undefined }
            set {
                // Assigning nil to the entry would store an undefined value instead of removing it.
                values.removeValue(forKey: name)
                if newValue != .undefined { values[name] = newValue }
            }
        }
    }

    /// The value of a variable (RFC 6570 §2.3).
    ///
    /// A value can be a literal: a string, number, boolean, list, dictionary or nil. For other expressions, use an
    /// initializer or interpolation, `"\(number)"`:
    ///
    /// ```swift
    /// template.expand(["id": .init(user.id), "page": 2, "sort": nil, "fields": ["id", "name"]])
    /// ```
    public enum Value: Sendable, Hashable {
        /// No value. The variable expands to nothing.
        case undefined
        /// A string, which may be empty.
        case string(String)
        /// Strings in order. An empty list is the same as an undefined value.
        case list([String])
        /// Names with strings, in order. An empty array is the same as an undefined value.
        case associative([Pair])

        /// A member of an associative array.
        public struct Pair: Sendable, Hashable {
            /// The name.
            public let name: String
            /// The value.
            public let value: String

            /// Creates a member.
            public init(name: String, value: String) {
                self.name = name
                self.value = value
            }
        }

        /// Creates a string from a value as Swift prints it, `1.5`, `true`; undefined if it is nil.
        public init(_ value: (some LosslessStringConvertible)?) {
            self = value.map { .string($0.description) } ?? .undefined
        }

        /// Creates a list; undefined if it is nil.
        public init(_ list: [some LosslessStringConvertible]?) {
            self = list.map { .list($0.map(\.description)) } ?? .undefined
        }

        /// Creates an associative array in the order of the pairs.
        public init(_ pairs: KeyValuePairs<String, String>) {
            self = .associative(pairs.map(Pair.init))
        }

        /// Creates an associative array sorted by name, because a dictionary has no order.
        public init(_ dictionary: [String: String]) {
            self = .associative(
                dictionary.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(Pair.init)
            )
        }
    }
}

extension URITemplate.Value: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a string from a number.
    public init(integerLiteral value: Int) { self = .string("\(value)") }
    /// Creates a string from a number.
    public init(floatLiteral value: Double) { self = .string("\(value)") }
    /// Creates the string `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .string("\(value)") }
    /// Creates a list from the elements that are not nil.
    public init(arrayLiteral elements: String?...) { self = .list(elements.compactMap(\.self)) }
    /// Creates an associative array from the elements that are not nil, in their order.
    public init(dictionaryLiteral elements: (String, String?)...) {
        self = .associative(elements.compactMap { name, value in value.map { Pair(name: name, value: $0) } })
    }
    /// Creates an undefined value.
    public init(nilLiteral: ()) { self = .undefined }
}

extension URITemplate.Value {
    /// Creates a value from JSON; nil if an element of a list or a dictionary is itself one.
    fileprivate init?(_ json: JSON) {
        let elements = json.array ?? json.dictionary.map { Array($0.values) } ?? []
        if elements.contains(where: { $0.array != nil || $0.dictionary != nil }) { return nil }
        if let elements = json.array {
            self = .list(elements.compactMap(\.scalarText))
        } else if let members = json.dictionary {
            let pairs = members.sorted { $0.key < $1.key }
            self = .associative(
                pairs.compactMap { name, value in value.scalarText.map { Pair(name: name, value: $0) } }
            )
        } else {
            self = json.scalarText.map { .string($0) } ?? .undefined
        }
    }
}

extension JSON {
    /// A string, a number or a boolean as text; nil for anything else.
    fileprivate var scalarText: String? {
        if let string { return string }
        return isNull || array != nil || dictionary != nil ? nil : "\(self)"
    }
}

// MARK: - Endpoint

extension URITemplate {
    /// A template with its variables, from which a request can be created.
    public struct Expansion: Endpoint {
        let template: URITemplate
        let variables: Variables
        /// The reason why there are no variables; nil if there are.
        var failure: SluiceError?

        /// Returns a GET request to the expanded template.
        ///
        /// - Throws: ``SluiceError/Code/invalidURL``, with a ``URITemplateFailure``, or because a variable makes a
        ///   segment `.` or `..`, which cannot be escaped and would change the path.
        public func draft() throws(SluiceError) -> RequestDraft {
            if let failure { throw failure }
            do {
                let path = try template.expand(variables)
                if Expansion.dotSegments(path) > Expansion.dotSegments(template.description) {
                    throw SluiceError.invalidURL("a template variable expands to a path segment of only dots")
                }
                return RequestDraft(path: path)
            } catch let error as SluiceError {
                throw error
            } catch {
                throw SluiceError(
                    .invalidURL,
                    "\(error)",
                    step: .building,
                    underlyingError: error
                )
            }
        }

        private static func dotSegments(_ reference: String) -> Int {
            DotSegments.count(in: URIReference(reference).path)
        }
    }

    /// Returns an endpoint with these variables: `client.get(template.expanding(["id": 1]))`.
    public func expanding(_ variables: Variables) -> Expansion {
        Expansion(template: self, variables: variables)
    }

    /// Returns an endpoint with values of any encodable types: `template.expanding(["id": id, "page": page])`.
    ///
    /// Strings, numbers, booleans and enums become strings, arrays lists, and dictionaries associative arrays. A date is
    /// a number, as `JSONEncoder` writes it. Nil values are undefined. A value that cannot be encoded fails the request
    /// with ``SluiceError/Code/encodingFailed``.
    @_disfavoredOverload
    public func expanding(_ parameters: Parameters) -> Expansion {
        var variables = Variables()
        do {
            let data = try JSONEncoder().encode(parameters)
            for (name, value) in try JSON(parsing: data).dictionaryValue {
                guard let value = Value(value) else {
                    let reason =
                        "The variable “\(name.printable)” of a URI template has an element that is itself a list or a dictionary."
                    let failure = SluiceError(.encodingFailed, reason, step: .building)
                    return Expansion(template: self, variables: variables, failure: failure)
                }
                variables[name] = value
            }
        } catch {
            let reason = "The variables of a URI template cannot be encoded."
            let failure = SluiceError(.encodingFailed, reason, step: .building, underlyingError: error)
            return Expansion(template: self, variables: variables, failure: failure)
        }
        return Expansion(template: self, variables: variables)
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

extension URITemplate.Variables: CustomReflectable, RedactedMirror {
    /// The names without the values, which may be secret.
    package var shown: [Mirror.Child] { [("names", names)] }
}
