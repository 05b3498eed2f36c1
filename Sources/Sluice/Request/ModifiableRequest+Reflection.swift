import SluiceHTTP

// The text and the mirror of requests that are not sent yet. They omit the values of query
// and body, which may be secret.

extension RequestDraft: CustomStringConvertible, CustomReflectable {}
extension APIRequest: CustomStringConvertible, CustomReflectable {}
extension BodyRequest: CustomStringConvertible, CustomReflectable {}
extension StreamRequest: CustomStringConvertible, CustomReflectable {}
extension DownloadAPIRequest: CustomStringConvertible, CustomReflectable {}

extension CustomStringConvertible where Self: ModifiableRequest {
    /// The method and the path or URL, without secrets.
    public var description: String { "\(draft.method) \(SecretRules.usual.url(draft.path))" }
}

extension CustomReflectable where Self: ModifiableRequest {
    /// The method, the path without secrets, and the names of everything else.
    public var customMirror: Mirror {
        var children: [Mirror.Child] = [
            ("method", draft.method), ("path", SecretRules.usual.url(draft.path)), ("headers", draft.headers),
        ]
        if !draft.query.isEmpty { children.append(("query", draft.query.flatMap(\.names))) }
        if let body = draft.body { children.append(("body", body.contentType ?? "without a type")) }
        if !draft.tags.isEmpty { children.append(("tags", draft.tags.sorted())) }
        if let failure = draft.options.failure { children.append(("failure", failure)) }
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension QueryPart: CustomReflectable {
    /// The names without their values.
    var names: [String] {
        switch self {
        case .item(let name, _): [name]
        case .encoded(let parameters): parameters.names
        }
    }

    var customMirror: Mirror { Mirror(self, children: ["names": names], displayStyle: .struct) }
}

extension RequestParameters: CustomReflectable {
    /// The names without their values, or the value's type if the names are only known after encoding.
    var names: [String] { (value as? Parameters)?.names ?? ["\(type(of: value))"] }

    var customMirror: Mirror { Mirror(self, children: ["names": names], displayStyle: .struct) }
}

extension Parameters: CustomReflectable {
    /// Only the names, because `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: ["names": names], displayStyle: .struct) }
}

extension URITemplate.Variables: CustomReflectable {
    /// Only the names, because `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: ["names": names], displayStyle: .struct) }
}

extension MultipartForm.Part: CustomReflectable {
    /// Only the properties of the part, because `dump` would show its content.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name as Any, "fileName": fileName as Any, "contentType": contentType as Any, "headers": headers,
            ],
            displayStyle: .struct
        )
    }
}
