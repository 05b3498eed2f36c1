import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The rules that remove secrets from exchanges before they are written.
///
/// ```swift
/// var redaction = CassetteRedaction.standard
/// redaction.headers.append("X-Tenant")
/// redaction.names.append("iban")
/// ```
///
/// Secrets are found by name, with the same default names as Sluice's own `Redaction`. A comparison uses only letters and
/// digits and ignores case. A `*` at the beginning or end of a name stands for any characters. For `user[password]` or
/// `user.password`, each part and the whole name are compared. URLs in header fields and in JSON are searched too.
///
/// The rules do not find every secret. A secret in a path or in plain text remains, unless ``redact`` removes it. A
/// cassette does not know the `secretHeaders` of a client, so repeat them in ``headers``.
///
/// A body that should be searched but cannot be is replaced by the ``mark``. This applies to a compressed request body, a
/// form that is not text, a malformed multipart form, and a body that has a JSON content type or starts like JSON but is
/// not valid JSON.
///
/// On playback, the recorded requests and the new requests are both redacted before they are compared, so secret values
/// do not affect the match. Redaction must therefore be idempotent: redacting a redacted exchange must not change it.
public struct CassetteRedaction: Sendable {
    /// The replacement for a secret. A secret number is replaced by 0.
    public static let mark = "REDACTED"

    /// The header fields with secret values.
    public var headers = SecretNames.usualHeaders { didSet { headerNames = SecretNames(headers) } }
    /// The query items, form items and JSON members with secret values.
    public var names = SecretNames.usualMembers { didSet { updateNames() } }
    /// Additional query and form items with secret values. In JSON, these names commonly have other meanings.
    public var items = SecretNames.usualParameters { didSet { updateNames() } }
    /// Names that are not secret although another pattern matches them.
    ///
    /// The defaults are pagination tokens, without which requests for different pages would be indistinguishable.
    public var exemptions = ["*page-token", "*continuation-token", "next-token", "*sync-token"] {
        didSet { exempt = SecretNames(exemptions) }
    }
    /// Called after the rules, to remove secrets that names do not identify.
    ///
    /// It is also called for each request before comparison. The exchange then has an empty response with status 200.
    public var redact: (@Sendable (inout RecordedExchange) -> Void)?

    private var headerNames: SecretNames
    private var memberNames: SecretNames
    private var parameterNames: SecretNames
    private var exempt: SecretNames

    /// Creates a redaction with the default names.
    public init() {
        headerNames = SecretNames(headers)
        memberNames = SecretNames(names)
        parameterNames = memberNames.union(SecretNames(items))
        exempt = SecretNames(exemptions)
    }

    private mutating func updateNames() {
        memberNames = SecretNames(names)
        parameterNames = memberNames.union(SecretNames(items))
    }

    /// Removes the values with the default secret names.
    public static let standard = CassetteRedaction()

    /// Removes nothing.
    public static var none: CassetteRedaction {
        var redaction = CassetteRedaction()
        (redaction.headers, redaction.names, redaction.items) = ([], [], [])
        return redaction
    }

    /// Returns an exchange without its secrets.
    public func redacted(_ exchange: RecordedExchange) -> RecordedExchange {
        var exchange = exchange
        if hidesNames {
            let request = exchange.request
            exchange.request.url = url(request.url)
            exchange.request.body = body(request.body, request.headers, isDecoded: false)
            exchange.request.headers = fields(request.headers)
            if case .success(var response) = exchange.result {
                response.body = body(response.body, response.head.headers, isDecoded: true)
                response.head.headers = fields(response.head.headers)
                response.trailers = fields(response.trailers)
                exchange.result = .success(response)
            }
        }
        redact?(&exchange)
        return exchange
    }

    /// Returns a request without its secrets, for comparison.
    func redacted(_ request: RecordedRequest) -> RecordedRequest {
        guard hidesNames || redact != nil else { return request }
        let empty = RecordedExchange.Response(head: HTTPResponse(status: .ok))
        return redacted(RecordedExchange(request: request, result: .success(empty))).request
    }

    /// True if there are names of secret header fields, items or members.
    private var hidesNames: Bool { !headerNames.isEmpty || hidesValues }
    /// True if there are names of secret items or members.
    var hidesValues: Bool { !parameterNames.isEmpty }

    func isSecret(header name: String) -> Bool { headerNames.contains(name, except: exempt) }
    func isSecret(member name: String) -> Bool { memberNames.contains(name, except: exempt) }
    func isSecret(parameter name: String) -> Bool { parameterNames.contains(name, except: exempt) }

    private func fields(_ headers: HTTPHeaders) -> HTTPHeaders {
        var redacted = HTTPHeaders()
        for field in headers {
            let value = value(of: field)
            // An unchanged field keeps its bytes, which may not be valid UTF-8.
            if value == field.value { redacted.append(field) } else { redacted.append(field.name, value) }
        }
        return redacted
    }

    private func value(of field: HTTPHeaders.Field) -> String {
        if isSecret(header: field.name.rawValue) { return Self.mark }
        return switch field.name {
        case .location, "Content-Location", "Referer", "Origin": url(field.value)
        case "Link": links(field.value)
        default: text(field.value)
        }
    }
}
