import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The details of an exchange, which open below its row.
struct DetailView {
    let row: Waterfall.Row

    /// The number of characters shown of a longer body or URL.
    private static let maximumLength = 2000

    private var entry: HAR.Entry { row.entry }

    var html: HTML {
        """
        <div class="detail">\(error)<div class="columns">\
        <section><h3>Timing</h3>\(timing)</section>\
        <section><h3>Exchange</h3>\(facts)</section>\
        \(table("Query", entry.request.queryString))\
        \(table("Request headers", entry.request.headers))\
        \(table("Response headers", entry.response.headers))\
        \(table("Form", entry.request.postData?.params ?? []))\
        \(requestBody)\(responseBody)\
        </div></div>
        """
    }

    private var requestBody: HTML {
        guard let data = entry.request.postData else { return .nothing }
        return body("Request body", data.text, data.encoding, data.mimeType, data.comment)
    }

    private var responseBody: HTML {
        let content = entry.response.content
        return body("Response body", content.text, content.encoding, content.mimeType, content.comment)
    }

    private var error: HTML {
        entry.error.map { "<p class=\"failure\">\($0)</p>" } ?? .nothing
    }

    private var timing: HTML {
        let lines = row.segments.map { segment -> HTML in
            let start = (segment.start - row.start) / max(row.duration, 0.001) * 100
            let width = segment.duration / max(row.duration, 0.001) * 100
            let phase = segment.phase.rawValue
            return """
                <tr><th scope="row"><i class="key p-\(phase)"></i>\(segment.phase.label)</th><td class="mini">\
                <i class="p-\(phase)" style="left:\(percent: start);width:\(percent: max(width, 0.5))"></i></td>\
                <td class="figure">\(Readable.milliseconds(segment.duration))</td></tr>
                """
        }
        let gates = entry.gates.map { gate -> HTML in
            """
            <tr class="gate"><th scope="row">gate \(gate.name)</th><td></td>\
            <td class="figure">\(Readable.milliseconds(gate.milliseconds))</td></tr>
            """
        }
        return """
            <table class="timing"><tbody>\(lines)\(gates)<tr class="sum"><th scope="row">Total</th><td></td>\
            <td class="figure">\(Readable.milliseconds(row.duration))</td></tr></tbody></table>
            """
    }

    private var facts: HTML {
        let response = entry.response
        var facts: [(String, String)] = [("URL", shortened(entry.request.url))]
        if row.status > 0 { facts.append(("Status", "\(row.status) \(response.statusText)")) }
        if !response.httpVersion.isEmpty { facts.append(("Protocol", response.httpVersion)) }
        if let address = entry.serverIPAddress {
            facts.append(("Server", entry.connection.map { "\(address), connection \($0)" } ?? address))
        }
        if let route = entry.route { facts.append(("Route", route)) }
        if let id = entry.requestID {
            let hop = (entry.redirectCount ?? 0) > 0 ? ", redirect \(entry.redirectCount ?? 0)" : ""
            facts.append(("Request", "#\(id), attempt \(entry.attempt ?? 1)\(hop)"))
        }
        facts.append(("Began", "\(Readable.date(entry.startedDateTime)), \(Readable.milliseconds(row.start)) in"))
        if !response.redirectURL.isEmpty { facts.append(("Redirects to", response.redirectURL)) }
        if let size = entry.request.bodySize, size > 0 { facts.append(("Sent", Readable.bytes(size))) }
        if row.status > 0 { facts.append(("Received", received)) }
        if !response.content.mimeType.isEmpty { facts.append(("Type", response.content.mimeType)) }
        if let comment = entry.comment, !comment.isEmpty { facts.append(("Remark", comment)) }
        return "<dl class=\"facts\">\(facts.map { "<dt>\($0.0)</dt><dd>\($0.1)</dd>" as HTML })</dl>"
    }

    private var received: String {
        let content = entry.response.content.size
        guard let travelled = entry.response.bodySize else { return Readable.bytes(content) }
        return travelled == content
            ? Readable.bytes(content) : "\(Readable.bytes(travelled)), \(Readable.bytes(content)) decompressed"
    }

    private func table(_ title: String, _ fields: [HAR.Parameter]) -> HTML {
        if fields.isEmpty { return .nothing }
        let rows = fields.map { "<dt>\($0.name)</dt><dd>\($0.value)</dd>" as HTML }
        return "<section><h3>\(title)</h3><dl class=\"facts mono\">\(rows)</dl></section>"
    }

    private func body(_ title: String, _ text: String?, _ encoding: String?, _ type: String, _ comment: String?) -> HTML
    {
        let body = BodyText(text ?? "", encoding: encoding, type: type)
        if body.isEmpty, (comment ?? "").isEmpty { return .nothing }
        guard let text = body.text else {
            let words = comment.flatMap { $0.isEmpty ? nil : $0 } ?? body.reason
            return "<section class=\"wide\"><h3>\(title)</h3><p class=\"remark\">\(words)</p></section>"
        }
        let shown = shortened(text)
        let rest = text.utf8.count - shown.utf8.count
        let more: HTML = rest > 0 ? "<p class=\"remark\">and \(Readable.bytes(rest)) more</p>" : .nothing
        return "<section class=\"wide\"><h3>\(title)</h3><pre tabindex=\"0\">\(shown)</pre>\(more)</section>"
    }

    private func shortened(_ text: String) -> String {
        text.utf8.count > Self.maximumLength ? String(text.unicodeScalars.prefix(Self.maximumLength)) : text
    }
}

/// A recorded body as text.
struct BodyText {
    /// The text; nil if there is none to show.
    let text: String?
    /// The reason why there is no text.
    let reason: String

    private static let textTypes = ["json", "text", "xml", "javascript", "x-www-form-urlencoded", "graphql", "yaml"]

    /// Decodes a body. Some programs encode text in Base64 too.
    init(_ body: String, encoding: String?, type: String) {
        guard !body.isEmpty, let encoding, !encoding.isEmpty else {
            text = body.isEmpty ? nil : body
            reason = ""
            return
        }
        let type = type.lowercased()
        if encoding.lowercased() == "base64", Self.textTypes.contains(where: { type.contains($0) }),
            let data = Data(base64Encoded: body, options: .ignoreUnknownCharacters),
            let decoded = String(validating: data, as: UTF8.self), !decoded.isEmpty
        {
            text = decoded
        } else {
            text = nil
        }
        reason = "No text: \(Readable.bytes(body.utf8.count / 4 * 3)) of \(encoding)."
    }

    var isEmpty: Bool { text == nil && reason.isEmpty }
}
