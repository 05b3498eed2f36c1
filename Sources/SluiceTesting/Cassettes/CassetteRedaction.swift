import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is secret in exchanges, and taken out before they are written.
///
/// ```swift
/// var redaction = CassetteRedaction.standard
/// redaction.headers.append("X-Tenant")
/// redaction.names.append("iban")
/// ```
///
/// Names decide: they are those of Sluice's own `Redaction`. Compared are letters and digits alone, without regard to case; a `*` at the
/// beginning or end of one stands for anything; of `user[password]` or `user.password` each part counts, and the whole. URLs are looked for
/// secrets in header fields and in JSON too. It is a net, not a wall: a secret in a path or in a plain text passes, unless ``redact`` takes
/// it out. A cassette does not know what a client calls secret: repeat its `secretHeaders` in ``headers``.
///
/// What ought to be looked through and cannot be is not written: a request's body that is compressed, a form that is no text, or a multipart
/// one that cannot be taken apart, and what has the type of JSON or begins like it, but is none, become the ``mark`` as a whole.
///
/// When a cassette is replayed, the requests in it and those that are made are redacted too before they are compared, so that what was secret
/// makes no difference. What has been redacted once must therefore stay as it is when it is redacted again.
public struct CassetteRedaction: Sendable {
    /// What stands in a secret's place; a number becomes 0.
    public static let mark = "REDACTED"

    /// Header fields whose values are secret.
    public var headers = SecretNames.usualHeaders { didSet { headerNames = SecretNames(headers) } }
    /// Items of queries and forms, and members of JSON, whose values are secret.
    public var names = SecretNames.usualMembers { didSet { updateNames() } }
    /// Items of queries and forms whose values are secret besides; in JSON these names are common with other meanings.
    public var items = SecretNames.usualParameters { didSet { updateNames() } }
    /// Names that are no secrets though one of the others fits them: those of the tokens that lead from page to page, without which no second
    /// page could be told from the third.
    public var exemptions = ["*page-token", "*continuation-token", "next-token", "*sync-token"] {
        didSet { exempt = SecretNames(exemptions) }
    }
    /// Takes out what names do not find, after them; also asked for requests that are compared, with no result but an empty 200.
    public var redact: (@Sendable (inout RecordedExchange) -> Void)?

    private var headerNames: SecretNames
    private var memberNames: SecretNames
    private var parameterNames: SecretNames
    private var exempt: SecretNames

    /// Makes a redaction of what usually is secret.
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

    /// Takes out what usually is secret.
    public static let standard = CassetteRedaction()

    /// Takes out nothing.
    public static var none: CassetteRedaction {
        var redaction = CassetteRedaction()
        (redaction.headers, redaction.names, redaction.items) = ([], [], [])
        return redaction
    }

    /// An exchange without its secrets.
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

    /// A request without its secrets, as it is compared.
    func redacted(_ request: RecordedRequest) -> RecordedRequest {
        guard hidesNames || redact != nil else { return request }
        let empty = RecordedExchange.Response(head: HTTPResponse(status: .ok))
        return redacted(RecordedExchange(request: request, result: .success(empty))).request
    }

    /// Whether any name is secret.
    private var hidesNames: Bool { !headerNames.isEmpty || hidesValues }
    /// Whether anything in a body can be secret.
    var hidesValues: Bool { !parameterNames.isEmpty }

    func isSecret(header name: String) -> Bool { headerNames.contains(name, except: exempt) }
    func isSecret(member name: String) -> Bool { memberNames.contains(name, except: exempt) }
    func isSecret(parameter name: String) -> Bool { parameterNames.contains(name, except: exempt) }

    private func fields(_ headers: HTTPHeaders) -> HTTPHeaders {
        var redacted = HTTPHeaders()
        for field in headers {
            let value = value(of: field)
            // Bytes that are no UTF-8 stay where there is nothing to take out.
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
