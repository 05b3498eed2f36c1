import SluiceFoundation
import SluiceHTTP

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
        let url = PercentEncoding.completed(redaction.url(request.url), isURL: true)
        // As with Sluice, a range selects bytes of the body without a content coding.
        let asksForIdentity = request.headers.contains(.range) && !request.headers.contains(.acceptEncoding)
        arguments = ["curl", ShellWord.quoted(url)]
        if asksForIdentity { addHeader("Accept-Encoding: identity") } else { arguments.append("--compressed") }
        // By default cURL expands brackets to several URLs.
        if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { arguments.append("--globoff") }
        if url.contains("/.") { arguments.append("--path-as-is") }
    }

    private mutating func addHeaders() {
        let isEmpty = { (text: String) in text.utf8.allSatisfy { $0 == 32 || (9...13).contains($0) } }
        for field in redaction.headers(request.headers, secretHeaders: secretHeaders) {
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
        case .none where request.body.length ?? 0 > 0:
            omitBody(Int(clamping: request.body.length ?? 0), "the observer was too slow")
        case .none where [.post, .put, .patch].contains(request.method): addData(Data())
        case .none: addMethod(unless: .get)
        case .data(let data): addRedacted(data)
        case .file(let url, nil) where url.path.utf8.last == UInt8(ascii: "\n"):
            addMethod(unless: .get)
            comment = " # without its body, which is left out: a file whose name ends with a line break"
        case .file(let url, nil):
            addPayload("--data-binary", ShellWord.quoted("@\(url.path)"), isLong: true)
        case .file, .stream, .deferred, .encoded:
            addPayload("--data-binary", "@-", isLong: true)
            comment = " # the body is a stream: give it on standard input"
        }
    }

    /// Adds a body without its secrets.
    private mutating func addRedacted(_ data: Data) {
        let body = redaction.document.body(
            data,
            contentType: request.headers[.contentType] ?? request.body.contentType,
            contentEncoding: request.headers[.contentEncoding]
        )
        switch body {
        case .withheld(let reason): omitBody(data.count, reason.rawValue)
        case _ where data.count > redaction.bodyLimit: omitBody(data.count, "too long")
        case .text(let text, _) where !redaction.isNone: addData(Data(text.utf8))
        case .abridged(let form) where !redaction.isNone:
            addData(Data(form.utf8))
            comment = " # with notes in parentheses in place of parts of the form"
        case .bytes(let form): addData(form)
        case .text, .abridged, .binary: addData(data)
        }
    }

    private mutating func omitBody(_ count: Int, _ reason: String) {
        addMethod(unless: .get)
        comment = " # without its body of \(LogUnits.text(bytes: count)), which is left out: \(reason)"
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
        if !request.headers.contains(.contentType) {
            addHeader(request.body.contentType.map { "Content-Type: \($0)" } ?? "Content-Type:")
        }
        if isLong, !request.headers.contains(.expect) { addHeader("Expect:") }
        arguments += [option, value]
    }

    private mutating func addMethod(unless preset: HTTPMethod) {
        if request.method != preset { arguments += ["-X", ShellWord.quoted(request.method.rawValue)] }
    }
}

extension HTTPRequest {
    /// Returns a POSIX shell command that sends the request with cURL as Sluice would.
    ///
    /// ```swift
    /// print(try request.httpRequest().curlCommand())
    /// // curl 'https://api.example.com/users/1' --compressed -H 'Authorization: Bearer REDACTED'
    /// ```
    ///
    /// The command is a single line, whatever the request contains. A file body is passed by its path. A stream, which
    /// cannot be read twice, must be supplied on standard input. A body, or a part of a form, that is left out is noted
    /// after `#`.
    ///
    /// - Parameters:
    ///   - redaction: The secrets to leave out. With ``Redaction/none`` the command contains all of them. A body over
    ///     the redaction's limit is always left out.
    ///   - secretHeaders: Additional headers that are secret.
    /// - Returns: The command.
    public func curlCommand(redaction: Redaction = .standard, secretHeaders: [HTTPHeaderName] = []) -> String {
        CURLCommand(self, redaction, secretHeaders).text
    }
}

/// Quotes bytes for a POSIX shell (POSIX.1-2024, Shell Command Language §2.2), on one line without invisible
/// characters.
enum ShellWord {
    /// Returns a word for a command line: in single quotes, or printed by the shell if it contains invisible
    /// characters. The text must not end with a line break, because the shell removes it from what is printed.
    static func quoted(_ text: String) -> String {
        let isVisible = text.unicodeScalars.allSatisfy(LogEscaping.isVisible)
        guard isVisible else { return "\"$(\(printing(Array(text.utf8))))\"" }
        if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
        // Byte by byte, because a combining mark after a quote would hide the quote from a `Character` comparison.
        var word: [UInt8] = []
        for byte in text.utf8 { byte == UInt8(ascii: "'") ? word += "'\\''".utf8 : word.append(byte) }
        return "'\(String(decoding: word, as: UTF8.self))'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        return letters.contains(byte | 0x20) || byte.isDigit
    }

    /// Returns a command that prints any bytes, including NUL.
    static func printing(_ bytes: [UInt8]) -> String {
        var format: [UInt8] = []
        format.reserveCapacity(bytes.count + 16)
        var rest = bytes[...]
        while let byte = rest.first {
            let length = visibleLength(of: rest)
            switch byte {
            case _ where length == 0:
                appendOctal(byte, to: &format)
                rest = rest.dropFirst()
                continue
            // A format that begins with a hyphen would be read as an option.
            case UInt8(ascii: "-") where format.isEmpty: appendOctal(byte, to: &format)
            case UInt8(ascii: "%"): format += "%%".utf8
            case UInt8(ascii: "\\"): format += "\\\\".utf8
            case UInt8(ascii: "'"): format += "'\\''".utf8
            default: format += rest.prefix(length)
            }
            rest = rest.dropFirst(length)
        }
        return "printf '\(String(decoding: format, as: UTF8.self))'"
    }

    /// Returns the number of bytes of the visible character at the start; 0 if there is none.
    private static func visibleLength(of bytes: ArraySlice<UInt8>) -> Int {
        guard let first = bytes.first else { return 0 }
        if first < 0x80 { return (0x20..<0x7F).contains(first) ? 1 : 0 }
        var iterator = bytes.prefix(4).makeIterator()
        var decoder = UTF8()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator), LogEscaping.isVisible(scalar) else { return 0 }
        return UTF8.width(scalar)
    }

    private static func appendOctal(_ byte: UInt8, to format: inout [UInt8]) {
        let digits = String(byte, radix: 8)
        format += "\\\(String(repeating: "0", count: 3 - digits.utf8.count))\(digits)".utf8
    }
}
