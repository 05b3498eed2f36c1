import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// What printing and `dump` show of a response: how long a body is and of which type a model, and nothing of them.

extension APIResponse: CustomReflectable {
    /// All but the contents of body and model, which may hold secrets; `dump(response.result)` shows them.
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
    /// All but the contents of body and model, which may hold secrets; `dump(response.result)` shows them.
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
    /// What it answers, and its head.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": request, "head": head, "source": source], displayStyle: .struct)
    }
}

extension ServerResponse: CustomReflectable {
    /// All but the contents of the body, which may hold secrets.
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
    /// The request, and which attempt it is.
    public var description: String { "attempt \(attempt) of \(request)" }

    /// What it tells gates and interceptors, without what else belongs to the sending.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": request, "attempt": attempt, "tags": tags.sorted()], displayStyle: .struct)
    }
}

extension RequestSender: CustomStringConvertible, CustomReflectable {
    /// What is sent.
    public nonisolated var description: String { "a sender of \(request)" }

    /// What is sent; nothing of what came of it.
    public nonisolated var customMirror: Mirror { Mirror(self, children: ["request": request], displayStyle: .class) }
}

extension DownloadRequestSender: CustomStringConvertible, CustomReflectable {
    /// What is sent.
    public nonisolated var description: String { "a sender of \(request)" }

    /// What is sent; nothing of what came of it.
    public nonisolated var customMirror: Mirror { Mirror(self, children: ["request": request], displayStyle: .class) }
}

extension BatchSender: CustomReflectable {
    /// Nothing: what came of the requests may hold secrets.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .class) }
}

extension ObservedRequest: CustomReflectable {
    /// What it tells observers of the request.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["id": id, "method": method, "route": route, "attempt": attempt, "tags": tags.sorted()],
            displayStyle: .struct
        )
    }
}

extension Data {
    /// How long it is, in place of what it holds.
    var shown: String { "\(count) bytes" }
}

extension Result {
    /// Of which type a model is, or the failure.
    fileprivate var shown: String {
        switch self {
        case .success: "a \(Success.self)"
        case .failure: "a failure of the type \(Failure.self)"
        }
    }
}
