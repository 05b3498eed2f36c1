import SluiceFoundation
import SluiceHTTP

// Descriptions and mirrors for `print` and `dump`: body lengths and model types, never their contents.

extension APIResponse: CustomReflectable {
    /// Everything but the contents of the body and the model, which may hold secrets. `dump(response.result)` shows
    /// them.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "request": request as Any, "head": head as Any, "body": body.shown, "trailers": trailers,
                "source": source, "result": result.shown, "failure": failure as Any,
            ],
            displayStyle: .struct
        )
    }
}

extension DownloadResponse: CustomReflectable {
    /// Everything but the contents of the body and the model, which may hold secrets. `dump(response.result)` shows
    /// them.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "request": request as Any, "head": head as Any, "file": file as Any, "body": body.shown,
                "trailers": trailers, "result": result.shown, "failure": failure as Any,
            ],
            displayStyle: .struct
        )
    }
}

extension StreamedResponse: CustomReflectable {
    /// The request, the response head and the source.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": request, "head": head, "source": source], displayStyle: .struct)
    }
}

extension ServerResponse: CustomReflectable {
    /// Everything but the contents of the body, which may hold secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "request": request, "head": head, "body": body.shown, "trailers": trailers, "metrics": metrics,
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

extension RequestSender: CustomStringConvertible, CustomReflectable {
    /// A short text that names the request.
    public nonisolated var description: String { "a sender of \(request)" }

    /// The request. The outcome is left out because it may hold secrets.
    public nonisolated var customMirror: Mirror { Mirror(self, children: ["request": request], displayStyle: .class) }
}

extension DownloadRequestSender: CustomStringConvertible, CustomReflectable {
    /// A short text that names the request.
    public nonisolated var description: String { "a sender of \(request)" }

    /// The request. The outcome is left out because it may hold secrets.
    public nonisolated var customMirror: Mirror { Mirror(self, children: ["request": request], displayStyle: .class) }
}

extension BatchSender: CustomReflectable {
    /// An empty mirror, because the outcomes of the requests may hold secrets.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .class) }
}

extension ObservedRequest: CustomReflectable {
    /// The ID, method, route, attempt and tags of the request.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["id": id, "method": method, "route": route, "attempt": attempt, "tags": tags.sorted()],
            displayStyle: .struct
        )
    }
}

extension Data {
    /// The number of bytes, as text that does not reveal the contents.
    var shown: String { "\(count) bytes" }
}

extension Result {
    /// The type of the model or of the error, as text.
    fileprivate var shown: String {
        switch self {
        case .success: "a \(Success.self)"
        case .failure: "a failure of the type \(Failure.self)"
        }
    }
}

// MARK: - Requests that are not sent yet

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
