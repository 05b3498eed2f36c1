import SluiceFoundation
import SluiceLibc

/// An error of the library.
///
/// A struct with a ``Code`` rather than an enum, so that a new kind of failure never breaks a `switch`:
///
/// ```swift
/// do {
///     user = try await request.sender().value
/// } catch {
///     switch error.code {
///     case .timedOut: user = .guest
///     default: throw error
///     }
/// }
/// ```
///
/// `description` is one sentence without query, headers or body, and is safe to log. ``expandedDescription`` contains
/// all known details except secrets. Descriptions, `dump` and crash messages omit values whose names usually denote
/// secrets.
public struct SluiceError: Error, Sendable {
    /// The values in one allocation, so that a `Result` with this error stays one pointer wide on the success path.
    private final class Storage: Sendable {
        let code: Code
        let step: Step
        let reason: String
        let request: HTTPRequest?
        let response: HTTPResponse?
        let underlyingError: (any Error)?
        let isAfterRedirect: Bool
        let replaced: (any Sendable)?

        init(
            _ error: SluiceError,
            step: Step?,
            request: HTTPRequest?,
            response: HTTPResponse?,
            isAfterRedirect: Bool,
            replaced: (any Sendable)?
        ) {
            self.replaced = error.replaced ?? replaced
            self.code = error.code
            self.reason = error.reason
            self.underlyingError = error.underlyingError
            self.step = step ?? error.step
            self.request = error.request ?? request
            self.response = error.response ?? response
            self.isAfterRedirect = isAfterRedirect || error.isAfterRedirect
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
            isAfterRedirect = false
            replaced = nil
        }
    }

    private let storage: Storage

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - reason: A sentence for the user without query, headers, body or secrets: what failed, why, what to try.
    ///   - step: The step of the pipeline that failed.
    ///   - request: The request, as far as it had been built.
    ///   - response: The head of the response, if one was received.
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

    /// Returns a copy with more context. A request or response that the error already has is kept.
    ///
    /// - Parameters:
    ///   - step: The step that replaces the error's own; nil to keep it.
    ///   - request: The request of an error that has none.
    ///   - response: The response of an error that has none.
    ///   - isAfterRedirect: True to mark an error of a request that a redirect led to.
    ///   - replaced: The response that the error replaces.
    /// - Returns: The copy.
    package func with(
        step: Step? = nil,
        request: HTTPRequest? = nil,
        response: HTTPResponse? = nil,
        isAfterRedirect: Bool = false,
        replaced: (any Sendable)? = nil
    ) -> SluiceError {
        SluiceError(
            storage: Storage(
                self,
                step: step,
                request: request,
                response: response,
                isAfterRedirect: isAfterRedirect,
                replaced: replaced
            )
        )
    }

    private init(storage: Storage) {
        self.storage = storage
    }

    /// The kind of failure.
    public var code: Code { storage.code }
    /// The step of the pipeline that failed.
    public var step: Step { storage.step }
    /// A sentence for the user.
    public var reason: String { storage.reason }
    /// The request, as far as it had been built.
    public var request: HTTPRequest? { storage.request }
    /// The head of the response, if one was received.
    public var response: HTTPResponse? { storage.response }
    /// The error that caused this one.
    public var underlyingError: (any Error)? { storage.underlyingError }

    /// True if a server has redirected the request before it failed, so that it has reached that server.
    package var isAfterRedirect: Bool { storage.isAfterRedirect }

    /// The response that a response interceptor or plugin has replaced by this error: a `ServerResponse`.
    package var replaced: (any Sendable)? { storage.replaced }

    /// The status of the response; nil if none was received.
    public var status: HTTPStatus? { response?.status }

    /// True if the request was cancelled.
    public var isCancellation: Bool { code == .cancelled }
}

extension SluiceError: CustomStringConvertible, LocalizedError, DescribedError {
    /// One sentence without query, headers or body.
    public var description: String {
        guard let request else { return reason }
        return "\(request): \(reason)"
    }

    /// All known details for a developer: the URL with its query, the names of header fields, the cause.
    ///
    /// `REDACTED` replaces user names in URLs, credentials, and values whose names usually denote secrets, in the URL
    /// and in the text of the cause.
    public var expandedDescription: String {
        var lines = ["\(reason) [\(code), in \(step)]"]
        if let request {
            let line = "request: \(request.method) \(SecretRules.usual.url(request.url)) \(request.headers)"
            lines.append(line.withoutControls)
        }
        if let response { lines.append("response: \(response.status) \(response.headers)") }
        if let cause { lines.append("cause: \(cause)") }
        return lines.joined(separator: "\n")
    }

    private var cause: String? { underlyingError.map { SecretRules.usual.unreadText(SecretRules.text(of: $0)) } }
}

extension SluiceError: CustomReflectable, RedactedMirror {
    /// The details of ``expandedDescription``.
    package var shown: [Mirror.Child] {
        var children: [Mirror.Child] = [("code", code), ("step", step), ("reason", reason)]
        if let request { children.append(("request", request)) }
        if let response { children.append(("response", response)) }
        if let cause { children.append(("cause", cause)) }
        return children
    }
}

extension SluiceError {
    /// True if another attempt would fail for the same reason. To send credentials again that a proxy refuses could lock the account.
    package var isLasting: Bool { (underlyingError as? any LastingCause)?.isLasting == true }
}

/// A cause of an error that another attempt may not remove.
package protocol LastingCause: Error {
    /// True if another attempt would fail for the same reason.
    var isLasting: Bool { get }
}

// MARK: - Described errors

/// An error whose description is also its `localizedDescription`.
package protocol DescribedError: LocalizedError, CustomStringConvertible {}

extension DescribedError {
    /// The ``description``, as `localizedDescription`.
    public var errorDescription: String? { description }
}

/// An error number of the system.
package struct SystemError: DescribedError, Sendable, Hashable {
    /// The value of `errno`.
    package let number: Int32

    package init(number: Int32) {
        self.number = number
    }

    /// The message of the system.
    package var description: String { String(cString: strerror(number)) }

    /// The message in lower case, for the middle of a sentence.
    package var message: String { description.lowercased() }
}
