import SluiceFoundation
import SluiceHTTP

/// The exchanges of a HAR file (HTTP Archive 1.2), as browsers and proxies save them.
package struct HARArchive: Sendable {
    /// The exchanges, in the order of the file.
    package let exchanges: [RecordedExchange]

    /// Creates an archive from its JSON text.
    ///
    /// - Parameters:
    ///   - data: The JSON text.
    ///   - name: The name of the archive in error messages.
    /// - Throws: A ``SluiceError`` with the code `cassetteUnreadable`. Its message names the problem and the entry.
    package init(_ data: Data, named name: String = "archive") throws(SluiceError) {
        do {
            let root = try JSONNode.recording(data)
            guard let log = root["log"] else { throw RecordingFailure("it has no log, so it is not a HAR file") }
            guard let entries = log["entries"]?.array else { throw RecordingFailure("its log has no entries") }
            var exchanges: [RecordedExchange] = []
            for (place, entry) in entries.enumerated() {
                do {
                    exchanges.append(try Self.exchange(of: entry))
                } catch {
                    throw RecordingFailure("entry \(place + 1) \(error)")
                }
            }
            self.exchanges = exchanges
        } catch {
            throw .unreadableCassette(name, "\(error)")
        }
    }

    /// Encodes what a browser leaves in a path or query and Sluice encodes, such as brackets.
    private static func completed(_ url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound,
            let path = url[start...].firstIndex(where: { $0 == "/" || $0 == "?" })
        else { return url }
        return url[..<path] + PercentEncoding.completed(String(url[path...]))
    }

    private static func exchange(of entry: JSONNode) throws(RecordingFailure) -> RecordedExchange {
        guard let request = entry["request"], let url = request["url"]?.string else {
            throw RecordingFailure("has no request with a url")
        }
        guard let method = request["method"]?.string else { throw RecordingFailure("has no method") }
        guard let response = entry["response"] else { throw RecordingFailure("has no response") }
        let recorded = RecordedRequest(
            method: HTTPMethod(rawValue: method),
            url: Self.completed(String(Substring(url.utf8.prefix { $0 != UInt8(ascii: "#") }))),
            headers: headers(of: request["headers"]),
            body: try posted(request["postData"])
        )
        guard let status = response["status"]?.integer, status > 0 else {
            let reason = response["_error"]?.string ?? entry["_error"]?.string ?? "the archive gives no reason"
            let error = SluiceError(.connectionLost, "The archived request has no response: \(reason).")
            return RecordedExchange(request: recorded, result: .failure(error))
        }
        guard (100...999).contains(status) else { throw RecordingFailure("has a status that is not valid: \(status)") }
        var fields = headers(of: response["headers"])
        for name in [HTTPHeaderName.contentEncoding, .contentLength, .transferEncoding] { fields.remove(name) }
        let content = response["content"]
        if !fields.contains(.contentType), let type = content?["mimeType"]?.string, !type.isEmpty, type != "x-unknown" {
            fields.append(.contentType, type)
        }
        // An archive has texts in UTF-8, whatever the charset of the response was.
        if content?["text"]?.string != nil, content?["encoding"]?.string == nil,
            let type = fields[.contentType].flatMap(ContentType.init), let charset = type.charset,
            !["utf-8", "utf8"].contains(charset.lowercased())
        {
            fields[.contentType] = "\(type.replacingCharset(with: "utf-8"))"
        }
        let head = HTTPResponse(
            status: HTTPStatus(rawValue: status),
            headers: fields,
            version: CassetteCoding.version(of: response["httpVersion"]?.string)
        )
        if let reason = missingBody(of: content, recorded.method, head.status) {
            return RecordedExchange(request: recorded, result: .failure(SluiceError(.cassetteUnreadable, reason)))
        }
        let body = try text(of: content)
        return RecordedExchange(
            request: recorded,
            result: .success(RecordedExchange.Response(head: head, body: body))
        )
    }

    /// Returns the reason why a response cannot be played back; nil if the archive contains its body, or if it has none.
    private static func missingBody(of content: JSONNode?, _ method: HTTPMethod, _ status: HTTPStatus) -> String? {
        // Archives of other programs have no length of redirects and errors.
        guard let content, content["text"]?.string == nil, let size = content["size"]?.integer,
            size > 0 || size < 0 && status.class == .success,
            method != .head, status != .noContent, status != .notModified
        else { return nil }
        let length = size > 0 ? " of \(size) bytes" : ""
        let comment = content["comment"]?.string.map { " Its comment: \($0)" } ?? ""
        return "The archive does not contain the body\(length) of this response.\(comment)"
    }

    private static func headers(of node: JSONNode?) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for field in node?.array ?? [] {
            guard let name = field["name"]?.string, let value = field["value"]?.string, !name.isEmpty,
                !name.hasPrefix(":")
            else { continue }
            headers.append(HTTPHeaderName(name), value)
        }
        return headers
    }

    /// Returns the request body, which is either text or the parameters of a form.
    private static func posted(_ node: JSONNode?) throws(RecordingFailure) -> Data {
        guard let node else { return Data() }
        let text = try text(of: node)
        if !text.isEmpty { return text }
        // The names and the values of a form are decoded in HAR.
        var body: [UInt8] = []
        for item in node["params"]?.array ?? [] {
            guard let name = item["name"]?.string else { continue }
            if !body.isEmpty { body.append(UInt8(ascii: "&")) }
            PercentEncoding.append(component: name, to: &body)
            body.append(UInt8(ascii: "="))
            PercentEncoding.append(component: item["value"]?.string ?? "", to: &body)
        }
        return Data(body)
    }

    private static func text(of node: JSONNode?) throws(RecordingFailure) -> Data {
        guard let text = node?["text"]?.string else { return Data() }
        // HAR defines `encoding` for responses only, so recorders write that of a request body as `_encoding`.
        let encoding = node?["encoding"]?.string ?? node?["_encoding"]?.string
        guard encoding?.lowercased() == "base64" else { return Data(text.utf8) }
        guard let bytes = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
            throw RecordingFailure("has a body that is not valid base64")
        }
        return bytes
    }
}
