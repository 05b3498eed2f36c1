import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
