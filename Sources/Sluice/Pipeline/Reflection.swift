import SluiceFoundation
import SluiceHTTP

// Descriptions and mirrors for `print` and `dump`: body lengths and model types, never their contents.

extension ServerResponse: CustomReflectable {
    /// All properties without the contents of the body, which may be secret.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "request": request, "head": head, "body": body.summary, "trailers": trailers, "metrics": metrics,
                "source": source,
            ],
            displayStyle: .struct
        )
    }
}

extension RequestContext: CustomStringConvertible, CustomReflectable {
    /// The request and the number of the attempt.
    public var description: String { "attempt \(attempt) of \(request)" }

    /// The request, the attempt and the tags, without internal state.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": request, "attempt": attempt, "tags": tags.sorted()], displayStyle: .struct)
    }
}

extension Data {
    /// The number of bytes, as text that does not reveal the contents.
    var summary: String { "\(count) bytes" }
}

extension Result {
    /// The type of the model or of the error, as text.
    var summary: String {
        switch self {
        case .success: "a \(Success.self)"
        case .failure: "a failure of the type \(Failure.self)"
        }
    }
}

// MARK: - Requests that are not sent yet

// Query values and bodies may be secret, and are omitted.

extension RequestDraft: CustomStringConvertible, CustomReflectable {}

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
        case .removal: []
        }
    }

    var customMirror: Mirror { Mirror(self, children: ["names": names], displayStyle: .struct) }
}

extension RequestParameters: CustomReflectable {
    /// The names without their values, or the value's type if the names are only known after encoding.
    var names: [String] { (value as? Parameters)?.names ?? ["\(type(of: value))"] }

    var customMirror: Mirror { Mirror(self, children: ["names": names], displayStyle: .struct) }
}
