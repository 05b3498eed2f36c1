import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Builds a cURL command.
struct CURLCommand {
    /// The maximum length of a body passed as an argument. Linux limits an argument to 128 KiB, and a byte may need
    /// four characters.
    private static let argumentLimit = 32 << 10

    private let request: HTTPRequest
    private let redaction: Redaction
    private let secretHeaders: [HTTPHeaderName]
    private var input = ""
    private var arguments: [String] = []
    private var comment = ""

    /// The command.
    var text: String { input + arguments.joined(separator: " ") + comment }

    init(_ request: HTTPRequest, _ redaction: Redaction, _ secretHeaders: [HTTPHeaderName]) {
        self.request = request
        self.redaction = redaction
        self.secretHeaders = secretHeaders
        addURL()
        addHeaders()
        addBody()
    }

    private mutating func addURL() {
        let url = PercentEncoding.completed(redaction.url(request.url))
        arguments = ["curl", ShellWord.quoted(url), "--compressed"]
        // By default cURL expands brackets to several URLs.
        if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { arguments.append("--globoff") }
        if url.contains("/.") { arguments.append("--path-as-is") }
    }

    private mutating func addHeaders() {
        let isEmpty = { (text: String) in text.utf8.allSatisfy { $0 == 32 || (9...13).contains($0) } }
        for field in redaction.headers(request.headers, and: secretHeaders) {
            // cURL sets the framing fields itself, and rejects invalid fields.
            if ["content-length", "transfer-encoding"].contains(field.name.rawValue.lowercased()) { continue }
            if HTTPHeaders([(field.name, field.value)]).firstInvalidField != nil { continue }
            addHeader(isEmpty(field.value) ? "\(field.name.rawValue);" : "\(field.name.rawValue): \(field.value)")
        }
        if !request.headers.contains(.userAgent) { addHeader("User-Agent:") }
    }

    private mutating func addHeader(_ line: String) {
        arguments += ["-H", ShellWord.quoted(line)]
    }

    private mutating func addBody() {
        if request.method == .head { return arguments.append("--head") }
        switch request.body.source {
        case .none where [.post, .put, .patch].contains(request.method): addData(Data())
        case .none: addMethod(unless: .get)
        case .data(let data): addSecured(data)
        case .file(let url):
            addPayload("--data-binary", ShellWord.quoted("@\(url.path)"), isLong: true)
        case .stream, .deferred:
            addPayload("--data-binary", "@-", isLong: true)
            comment = " # the body is a stream: give it on standard input"
        }
    }

    /// Adds a body without its secrets.
    private mutating func addSecured(_ data: Data) {
        let body = redaction.body(
            data,
            contentType: request.headers[.contentType],
            contentEncoding: request.headers[.contentEncoding]
        )
        switch body {
        case .withheld(let reason): leaveOut(data, "\(reason)")
        case _ where data.count > redaction.bodyLimit: leaveOut(data, "too long")
        case .text(let text) where !redaction.isNone: addData(Data(text.utf8))
        case .text, .binary: addData(data)
        }
    }

    private mutating func leaveOut(_ data: Data, _ reason: String) {
        addMethod(unless: .get)
        comment = " # without its body of \(LogUnits.text(bytes: data.count)), which is left out: \(reason)"
    }

    private mutating func addData(_ data: Data) {
        let text = data.count <= Self.argumentLimit ? String(validating: data, as: UTF8.self) : nil
        if let text, text.unicodeScalars.allSatisfy(LogEscaping.isVisible) {
            addPayload("--data-raw", ShellWord.quoted(text), isLong: false)
        } else {
            input = ShellWord.printing(Array(data)) + " | "
            addPayload("--data-binary", "@-", isLong: data.count > 512 << 10)
        }
    }

    private mutating func addPayload(_ option: String, _ value: String, isLong: Bool) {
        addMethod(unless: .post)
        // By default cURL adds a form content type, and waits for a 100 response before a long body.
        if !request.headers.contains(.contentType) { addHeader("Content-Type:") }
        if isLong, !request.headers.contains(.expect) { addHeader("Expect:") }
        arguments += [option, value]
    }

    private mutating func addMethod(unless preset: HTTPMethod) {
        if request.method != preset { arguments += ["-X", ShellWord.quoted(request.method.rawValue)] }
    }
}
