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
/// Names decide, whether in capital letters or small, with dashes, underscores or neither; a `*` at the beginning or end of one stands for
/// anything. It is a net, not a wall: a secret in a path, in a plain text, or in a multipart form passes, unless ``redact`` takes it out.
/// When a cassette is replayed, requests are redacted too before they are compared, so that what was secret makes no difference.
public struct CassetteRedaction: Sendable {
    /// What stands in a secret's place; a number becomes 0.
    public static let mark = "REDACTED"

    /// Header fields whose values are secret.
    public var headers = [
        "*authorization", "cookie", "set-cookie", "*api-key", "*token", "*secret*", "*password*", "*signature",
    ]
    /// Items of queries and forms, and members of JSON, whose values are secret.
    public var names = [
        "*password*", "passwd", "pwd", "*passphrase", "*token", "*secret*", "*api-key", "access-key*", "*authorization",
        "*private-key", "*credential*", "*signature", "*assertion", "code-verifier", "device-code", "session-id", "jwt",
        "otp", "pin", "cvv", "cvc", "card-number",
    ]
    /// Items of queries and forms whose values are secret besides; in JSON these names are common with other meanings.
    public var items = ["key", "code", "sig", "auth"]
    /// Takes out what names do not find, after them; also asked for requests that are compared, with no result but an empty 200.
    public var redact: (@Sendable (inout RecordedExchange) -> Void)?

    /// Makes a redaction of what usually is secret.
    public init() {}

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
        exchange.request.url = url(exchange.request.url)
        exchange.request.body = body(exchange.request.body, exchange.request.headers)
        exchange.request.headers = fields(exchange.request.headers)
        if case .success(var response) = exchange.result {
            response.body = body(response.body, response.head.headers)
            response.head.headers = fields(response.head.headers)
            exchange.result = .success(response)
        }
        redact?(&exchange)
        return exchange
    }

    private func fields(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(
            headers.map { field in
                if Self.isSecret(field.name.rawValue, self.headers) { return (field.name, Self.mark) }
                let isURL = [HTTPHeaderName.location, "Content-Location", "Referer", "Origin"].contains(field.name)
                return (field.name, isURL ? url(field.value) : field.value)
            }
        )
    }

    /// A URL without user name and password, and without the secrets of its query and fragment.
    private func url(_ url: String) -> String {
        var start = url.startIndex
        var result = ""
        if let mark = url.firstRange(of: "://") {
            result = String(url[..<mark.upperBound])
            start = mark.upperBound
            let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            if let at = authority.lastIndex(of: "@"), !(headers.isEmpty && names.isEmpty) {
                result += Self.mark
                start = at
            }
        }
        let end = url[start...].firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
        result += url[start..<end]
        guard end < url.endIndex else { return result }
        let parts = url[url.index(after: end)...].split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        return result + String(url[end]) + parts.map(form).joined(separator: "#")
    }

    private func body(_ bytes: Data, _ headers: HTTPHeaders) -> Data {
        let type = headers[.contentType].flatMap(ContentType.init)?.essence
        if type == "application/x-www-form-urlencoded", let text = String(validating: bytes, as: UTF8.self) {
            return Data(form(text[...]).utf8)
        }
        // Many a server says text/plain of its JSON; a text that is some is redacted all the same.
        guard let first = bytes.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let node = try? JSONReading.node(of: bytes)
        else { return bytes }
        let redacted = json(node, isSecret: false)
        return redacted == node ? bytes : redacted.compact
    }

    private func form(_ text: Substring) -> String {
        FormItems.items(of: text).map { item in
            let isSecret = item.value != nil && Self.isSecret(item.name, names + items)
            return isSecret ? "\(item.source.prefix { $0 != "=" })=\(Self.mark)" : String(item.source)
        }.joined(separator: "&")
    }

    private func json(_ node: JSONNode, isSecret: Bool) -> JSONNode {
        switch node {
        case .null, .bool: node
        case .number: isSecret ? .number("0") : node
        case .string(let text): isSecret && !text.isEmpty ? .string(Self.mark) : node
        case .array(let elements): .array(elements.map { json($0, isSecret: isSecret) })
        case .object(let members):
            .object(
                members.map { member in
                    let hides = isSecret || Self.isSecret(member.name, names)
                    return JSONNode.Member(name: member.name, value: json(member.value, isSecret: hides))
                }
            )
        }
    }

    private static func isSecret(_ name: String, _ patterns: [String]) -> Bool {
        let name = plain(name)
        return patterns.contains { pattern in
            let word = plain(pattern)
            switch (pattern.hasPrefix("*"), pattern.hasSuffix("*")) {
            case (true, true): return name.firstRange(of: word) != nil
            case (true, false): return name.hasSuffix(word)
            case (false, true): return name.hasPrefix(word)
            case (false, false): return name == word
            }
        }
    }

    private static func plain(_ name: String) -> String {
        String(name.lowercased().unicodeScalars.filter { $0 != "-" && $0 != "_" && $0 != "*" })
    }
}
