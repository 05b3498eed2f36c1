/// The links of a response's `Link` header fields (RFC 8288 §3).
///
/// ```swift
/// let links = LinkHeader(#"</users?page=2>; rel="next", </users?page=9>; rel="last""#)
/// links["next"]?.target   // /users?page=2
/// ```
public struct LinkHeader: Sendable, Hashable {
    /// All links, in order.
    public let links: [WebLink]

    /// Parses the value of one field, or the values of several joined by commas.
    public init(_ field: String) {
        self.init(fields: [field])
    }

    /// Parses the values of several fields. Invalid content ends the field that contains it, and the links before it
    /// are kept (RFC 8288, appendix B.2).
    ///
    /// - Parameter fields: The value of each `Link` field.
    package init(fields: [String]) {
        links = fields.flatMap { field in
            var reader = LinkReader(field)
            var links: [WebLink] = []
            while let link = reader.nextLink() { links.append(link) }
            return links
        }
    }

    /// The first link with a relation type, compared case-insensitively, whose context is the resource of the response.
    /// Links with an ``WebLink/anchor`` have another context and are skipped.
    public subscript(relation: String) -> WebLink? {
        let relation = relation.lowercased()
        // Comparing bytes does not normalize, which takes quadratic time for many combining characters in a row.
        return links.first { link in
            link.anchor == nil && link.relations.contains { $0.utf8.elementsEqual(relation.utf8) }
        }
    }
}

extension HTTPResponse {
    /// The links of the `Link` header fields (RFC 8288 §3).
    public var links: LinkHeader { LinkHeader(fields: headers.fieldValues(for: .link).map(\.linkText)) }
}

/// A link from one resource to another, as given in a `Link` header field (RFC 8288 §2).
public struct WebLink: Sendable, Hashable {
    /// A target attribute or another parameter of a link.
    package struct Parameter: Sendable, Hashable {
        package let name: String
        /// The value without quotes and backslashes; empty if there is none.
        package let value: String
    }

    /// The target: a URL, or a reference relative to the URL of the response.
    public let target: String
    /// The parameters, in order.
    package let attributes: [Parameter]

    /// The relation types in lowercase: the words of the first `rel` parameter (RFC 8288 §3.3).
    public var relations: [String] {
        guard let value = self["rel"] else { return [] }
        return value.utf8.split(whereSeparator: \.isBlank).map { Substring($0).lowercased() }
    }

    /// The context, if it is not the resource of the response: a URL, or a reference relative to the URL of the
    /// response (RFC 8288 §3.2).
    public var anchor: String? { self["anchor"] }

    /// The value of the first parameter with a name, compared case-insensitively, without quotes and backslashes; nil if
    /// there is no such parameter, and empty if it has no value.
    ///
    /// Values of names that end in `*` stay encoded (RFC 8187).
    public subscript(parameter: String) -> String? {
        let name = parameter.lowercased()
        return attributes.first { $0.name == name }?.value
    }
}

// MARK: - Parsing

extension FieldValue {
    /// The value of a `Link` field as text. Bytes of a target that are not UTF-8 are percent-encoded, other such bytes
    /// become replacement characters.
    fileprivate var linkText: String {
        if let exactText { return exactText }
        var text = ""
        var rest = bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            let end = rest[start...].firstIndex(of: UInt8(ascii: ">")) ?? rest.endIndex
            text += String(decoding: rest[..<start], as: UTF8.self) + FieldValue(bytes: rest[start..<end]).uriText
            rest = rest[end...]
        }
        return text + String(decoding: rest, as: UTF8.self)
    }
}

/// A parser for the value of a `Link` field (RFC 8288, appendix B).
private struct LinkReader {
    private var parser: FieldParser<Substring.UTF8View>

    init(_ text: String) {
        parser = FieldParser(text.utf8[...])
    }

    /// Returns the next link, or nil at the end and at invalid content.
    mutating func nextLink() -> WebLink? {
        repeat { parser.skipSpace() } while parser.skip(",")
        guard parser.skip("<") else { return nil }
        let target = parser.take { $0 == UInt8(ascii: ">") }
        guard parser.skip(">") else { return nil }
        var parameters: [WebLink.Parameter] = []
        parser.skipSpace()
        while parser.skip(";") {
            if let parameter = parameter() { parameters.append(parameter) }
            parser.skipSpace()
        }
        if let next = parser.rest.first, next != UInt8(ascii: ",") { _ = parser.take { _ in false } }
        return WebLink(target: String(Substring(target)), attributes: parameters)
    }

    /// Parses a parameter after its semicolon. Returns nil if its name is empty or not ASCII.
    private mutating func parameter() -> WebLink.Parameter? {
        parser.skipSpace()
        let name = parser.take { $0.isBlank || $0 == UInt8(ascii: "=") || $0.endsParameter }
        parser.skipSpace()
        var value = ""
        if parser.skip("=") {
            parser.skipSpace()
            value = parser.value(until: \.endsParameter).text
        }
        guard !name.isEmpty, name.allSatisfy({ $0 < 0x80 }) else { return nil }
        return WebLink.Parameter(name: Substring(name).lowercased(), value: value)
    }
}

extension UInt8 {
    fileprivate var endsParameter: Bool { self == UInt8(ascii: ";") || self == UInt8(ascii: ",") }
}
