import SluiceHTTP

extension RequestLog {
    /// Returns the line for the end of a request: columns of fixed width first, then those of variable length.
    func entry(of outcome: TransportOutcome, _ record: RequestRecord, _ observed: ObservedRequest) -> String {
        let request: HTTPRequest?
        let status: HTTPStatus?
        var size: Int?
        var sentence = ""
        switch outcome {
        case .success(let response):
            request = record.request ?? response.request
            status = response.head.status
            size = response.body.count
        case .failure(let error):
            request = record.request ?? error.request
            status = error.response?.status
            sentence = "  \(self.sentence(of: error))"
        }
        var line = "\(start(observed))\(mark(outcome, status)) "
        line += Self.padded(LogEscaping.line((request?.method ?? observed.method).rawValue, limit: 32), to: 7)
        line += Self.rightAligned(LogUnits.text(observed.began.duration(to: observed.instant)), to: 6) + "  "
        line += Self.rightAligned(size.map { LogUnits.text(bytes: $0) } ?? "–", to: 6) + "  "
        line += request.map { shown($0) } ?? "no request"
        let notes = record.notes
        if !notes.isEmpty { line += "  (\(notes.joined(separator: ", ")))" }
        line += sentence
        if curl, let command = command(for: record.sent ?? request, observed) { line += "\n    \(command)" }
        return line
    }

    /// Returns the time and, if steps are logged, the ID of the request.
    func start(_ observed: ObservedRequest) -> String {
        level >= .headers ? "\(time(of: observed)) \(Self.padded("\(observed.id)", to: 5))" : "\(time(of: observed)) "
    }

    /// Returns the redacted URL.
    func shown(_ request: HTTPRequest) -> String {
        LogEscaping.line(redaction.url(request.url))
    }

    /// Returns the reason and the code of an error, on one line.
    func sentence(of error: SluiceError) -> String {
        var sentence = redaction.text(error.reason)
        // The underlying error of user code can be long, so the levels with one line per request leave it out.
        if level >= .headers, let cause = error.underlyingError {
            sentence += " Cause: \(redaction.text(LogEscaping.line(SecretRules.words(of: cause), limit: 512)))"
        }
        return "\(LogEscaping.line(sentence)) [\(LogEscaping.line(error.code.description, limit: 64))]"
    }

    private func command(for request: HTTPRequest?, _ observed: ObservedRequest) -> String? {
        var redaction = redaction
        redaction.bodyLimit = min(redaction.bodyLimit, bodyLimit)
        return request?.curlCommand(redaction: redaction, secretHeaders: observed.secretHeaders)
    }

    private func mark(_ outcome: TransportOutcome, _ status: HTTPStatus?) -> String {
        let code = status.map { Self.rightAligned("\($0)", to: 3) } ?? "–––"
        switch outcome {
        case .success: return colored("← \(code)", status?.isSuccess == true ? 32 : 33)
        case .failure(let error): return colored("✗ \(code)", error.isCancellation ? 33 : 31)
        }
    }

    func colored(_ text: String, _ color: Int) -> String {
        isColored ? "\u{1B}[\(color)m\(text)\u{1B}[0m" : text
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.unicodeScalars.count))
    }

    private static func rightAligned(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.unicodeScalars.count)) + text
    }
}
