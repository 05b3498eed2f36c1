import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RequestLog {
    /// Returns a request's body after an empty line, or a note about it; empty if bodies are not logged.
    func body(of request: HTTPRequest) -> String {
        guard level >= .full, !request.body.isNone else { return "" }
        let length = request.body.length.map { LogUnits.text(bytes: Int(clamping: $0)) }
        switch request.body.source {
        case .none: return ""
        case .data(let data):
            return block(
                data,
                redaction.body(
                    data,
                    contentType: request.headers[.contentType],
                    contentEncoding: request.headers[.contentEncoding]
                )
            )
        case .file(let url): return note("the file \(LogEscaping.line(url.path))")
        case .stream:
            let once = request.body.isReplayable ? "" : ", to be read once"
            return note("a stream\(length.map { " of \($0)" } ?? "")\(once)")
        case .deferred: return note("a body that is made while it is sent")
        }
    }

    /// Returns a response's body, or a note about it.
    func body(of response: ServerResponse) -> String {
        guard level >= .full, !response.body.isEmpty else { return "" }
        return block(response.body, redaction.body(response.body, contentType: response.head.headers[.contentType]))
    }

    private func block(_ data: Data, _ body: RedactedBody) -> String {
        let size = LogUnits.text(bytes: data.count)
        switch body {
        case .binary: return note("\(size), no text")
        case .withheld(let reason): return note("\(size), left out: \(reason)")
        case .text(let text):
            if text.isEmpty { return "" }
            let shown = JSONLayout.text(text, limit: bodyLimit) ?? text
            let clipped = clipped(shown)
            let lines = LogEscaping.lines(clipped).map { "\n    \($0)" }.joined()
            return "\n" + lines + (clipped.utf8.count < shown.utf8.count ? "\n    … (\(size) in all)" : "")
        }
    }

    /// Returns the beginning of a text up to the limit, cut between characters.
    private func clipped(_ text: String) -> String {
        if text.utf8.count <= max(0, bodyLimit) { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: max(0, bodyLimit))
        while text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
        return String(Substring(text.utf8[..<end]))
    }

    private func note(_ text: String) -> String { "\n\n    (\(text))" }
}
