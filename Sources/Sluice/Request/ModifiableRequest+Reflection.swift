import SluiceHTTP

// What printing and `dump` show of a request that has yet to be sent: values of its query and its body are not looked at.

extension RequestDraft: CustomStringConvertible, CustomReflectable {}
extension APIRequest: CustomStringConvertible, CustomReflectable {}
extension BodyRequest: CustomStringConvertible, CustomReflectable {}
extension StreamRequest: CustomStringConvertible, CustomReflectable {}
extension DownloadAPIRequest: CustomStringConvertible, CustomReflectable {}

extension CustomStringConvertible where Self: ModifiableRequest {
    /// Method and path, or URL, without its secrets.
    public var description: String { "\(draft.method) \(SecretRules.usual.url(draft.path))" }
}

extension CustomReflectable where Self: ModifiableRequest {
    /// Method, path without its secrets, and names alone of what else there is.
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
    /// Names without their values.
    var names: [String] {
        switch self {
        case .item(let name, _): [name]
        case .encoded(let parameters): parameters.names
        }
    }

    var customMirror: Mirror { Mirror(self, children: ["names": names], displayStyle: .struct) }
}

extension RequestParameters: CustomReflectable {
    /// Names without their values; the type of what tells its names only when it is encoded.
    var names: [String] { (value as? Parameters)?.names ?? ["\(type(of: value))"] }

    var customMirror: Mirror { Mirror(self, children: ["names": names], displayStyle: .struct) }
}

extension Parameters: CustomReflectable {
    /// The names only: `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: ["names": names], displayStyle: .struct) }
}

extension URITemplate.Variables: CustomReflectable {
    /// The names only: `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: ["names": names], displayStyle: .struct) }
}

extension MultipartForm.Part: CustomReflectable {
    /// Its head: `dump` would show the content.
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
