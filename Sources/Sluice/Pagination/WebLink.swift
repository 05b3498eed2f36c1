/// A link of one resource to another, as a `Link` header field tells it (RFC 8288 §2).
public struct WebLink: Sendable, Hashable {
    /// An attribute of the target, or another parameter of the link.
    public struct Parameter: Sendable, Hashable {
        /// The name in small letters.
        public let name: String
        /// The value as it is meant, without quotes and backslashes; empty where there is none.
        public let value: String
    }

    /// Where it leads: a URL, or a reference that is relative to the URL of the response.
    public let target: String
    /// Its parameters in their order. Values of names that end in `*` are left encoded (RFC 8187).
    public let parameters: [Parameter]

    /// How the target relates to the context, in small letters: the words of the first `rel` (RFC 8288 §3.3).
    public var relations: [String] {
        guard let value = self["rel"] else { return [] }
        return value.utf8.split { $0 == 0x20 || $0 == 0x09 }.map { Substring($0).lowercased() }
    }

    /// The context where it is not the resource of the response: a URL, or a reference that is relative to the response's
    /// (RFC 8288 §3.2).
    public var anchor: String? { self["anchor"] }

    /// The value of the first parameter of a name, whose case does not matter; nil if there is none.
    public subscript(parameter: String) -> String? {
        let name = parameter.lowercased()
        return parameters.first { $0.name == name }?.value
    }
}
