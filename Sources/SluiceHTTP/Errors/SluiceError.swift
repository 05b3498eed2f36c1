/// A failure of the SDK's own, whichever step it came from.
///
/// A struct with a ``Code`` rather than an enum, so that a new kind of failure never breaks a `switch`:
///
/// ```swift
/// catch let error as SluiceError where error.code == .timedOut { … }
/// ```
///
/// `description` is one sentence that holds neither query, headers nor body, and can be logged;
/// ``expandedDescription`` has all that is known but secrets. Neither these nor `dump` and a crash's text show what is secret by its name.
public struct SluiceError: Error, Sendable {
    /// Allocated once a failure, so that a `Result` with it stays a pointer wide on the path that succeeds.
    private final class Storage: Sendable {
        let code: Code
        let step: Step
        let reason: String
        let request: HTTPRequest?
        let response: HTTPResponse?
        let underlyingError: (any Error)?

        init(_ error: SluiceError, step: Step?, request: HTTPRequest?, response: HTTPResponse?) {
            self.code = error.code
            self.reason = error.reason
            self.underlyingError = error.underlyingError
            self.step = step ?? error.step
            self.request = error.request ?? request
            self.response = error.response ?? response
        }

        init(
            code: Code,
            step: Step,
            reason: String,
            request: HTTPRequest?,
            response: HTTPResponse?,
            underlyingError: (any Error)?
        ) {
            self.code = code
            self.step = step
            self.reason = reason
            self.request = request
            self.response = response
            self.underlyingError = underlyingError
        }
    }

    private let storage: Storage

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: What kind of failure it is.
    ///   - reason: A sentence for the user without query, headers, body or secrets: what failed, why, what to try.
    ///   - step: The step of the pipeline it came from.
    ///   - request: The request as far as it had been made.
    ///   - response: The head of the response, where there was one.
    ///   - underlyingError: The error that caused this one.
    public init(
        _ code: Code,
        _ reason: String,
        step: Step = .transport,
        request: HTTPRequest? = nil,
        response: HTTPResponse? = nil,
        underlyingError: (any Error)? = nil
    ) {
        storage = Storage(
            code: code,
            step: step,
            reason: reason,
            request: request,
            response: response,
            underlyingError: underlyingError
        )
    }

    /// A copy that says more of where it happened; what the error knew already is kept.
    package func with(step: Step? = nil, request: HTTPRequest? = nil, response: HTTPResponse? = nil) -> SluiceError {
        SluiceError(storage: Storage(self, step: step, request: request, response: response))
    }

    private init(storage: Storage) {
        self.storage = storage
    }

    /// What kind of failure it is.
    public var code: Code { storage.code }
    /// The step of the pipeline that failed.
    public var step: Step { storage.step }
    /// A sentence for the user.
    public var reason: String { storage.reason }
    /// The request as far as it had been made.
    public var request: HTTPRequest? { storage.request }
    /// The head of the response, where there was one.
    public var response: HTTPResponse? { storage.response }
    /// The error that caused this one.
    public var underlyingError: (any Error)? { storage.underlyingError }

    /// Whether the request was cancelled rather than failed.
    public var isCancellation: Bool { code == .cancelled }
}

extension SluiceError: CustomStringConvertible {
    /// One sentence without query, headers or body.
    public var description: String {
        guard let request else { return reason }
        return "\(request.method) \(request.redactedURL): \(reason)"
    }

    /// All that is known, for a developer's eyes: the URL with its query, the names of header fields, the cause.
    ///
    /// What has a name that secrets usually have stands there as `REDACTED`, in the URL and in the words of the cause; so do user names
    /// in URLs, and credentials.
    public var expandedDescription: String {
        var lines = ["\(reason) [\(code), in \(step)]"]
        if let request {
            lines.append("request: \(request.method) \(SecretRules.usual.url(request.url)) \(request.headers)")
        }
        if let response { lines.append("response: \(response.status) \(response.headers)") }
        if let cause { lines.append("cause: \(cause)") }
        return lines.joined(separator: "\n")
    }

    private var cause: String? { underlyingError.map { SecretRules.usual.text(SecretRules.words(of: $0)) } }
}

extension SluiceError: CustomReflectable {
    /// What `dump` shows: what ``expandedDescription`` does.
    public var customMirror: Mirror {
        var children: [Mirror.Child] = [("code", code), ("step", step), ("reason", reason)]
        if let request { children.append(("request", request)) }
        if let response { children.append(("response", response)) }
        if let cause { children.append(("cause", cause)) }
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
