/// A link from one resource to another, as given in a `Link` header field (RFC 8288 §2).
public struct WebLink: Sendable, Hashable {
    /// A target attribute or another parameter of a link.
    public struct Parameter: Sendable, Hashable {
        /// The name in lowercase.
        public let name: String
        /// The value without quotes and backslashes; empty if there is none.
        public let value: String
    }

    /// The target: a URL, or a reference relative to the URL of the response.
    public let target: String
    /// The parameters, in order. Values of names that end in `*` stay encoded (RFC 8187).
    public let parameters: [Parameter]

    /// The relation types in lowercase: the words of the first `rel` parameter (RFC 8288 §3.3).
    public var relations: [String] {
        guard let value = self["rel"] else { return [] }
        return value.utf8.split { $0 == 0x20 || $0 == 0x09 }.map { Substring($0).lowercased() }
    }

    /// The context, if it is not the resource of the response: a URL, or a reference relative to the URL of the
    /// response (RFC 8288 §3.2).
    public var anchor: String? { self["anchor"] }

    /// The value of the first parameter with a name, compared case-insensitively; nil if there is none.
    public subscript(parameter: String) -> String? {
        let name = parameter.lowercased()
        return parameters.first { $0.name == name }?.value
    }
}
