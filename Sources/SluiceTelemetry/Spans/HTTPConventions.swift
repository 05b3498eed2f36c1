import Sluice
import SluiceHTTP

/// The names and attributes of the semantic conventions for HTTP clients, version 1.36.
struct HTTPConventions: Sendable {
    static let schemaURL = "https://opentelemetry.io/schemas/1.36.0"
    /// The methods of RFC 9110 and PATCH.
    static let knownMethods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
    ]

    var methods = HTTPConventions.knownMethods
    var redaction = Redaction.standard
    /// The longest text of an attribute, in Unicode scalars; nil for no limit.
    var valueLimit: Int?

    func isKnown(_ method: HTTPMethod) -> Bool { methods.contains(method.rawValue) }

    /// The method as an attribute. Others than the known ones share a value, because a client may be given any token.
    func method(_ method: HTTPMethod) -> Attribute {
        Attribute("http.request.method", isKnown(method) ? method.rawValue : "_OTHER")
    }

    func name(_ record: SpanRecord) -> String {
        let method = isKnown(record.method) ? record.method.rawValue : "HTTP"
        return record.template.map { "\(method) \($0)" } ?? method
    }

    func attributes(_ record: SpanRecord) -> [Attribute] {
        let sent = record.target?.method ?? record.method
        var attributes = [method(sent)]
        if !isKnown(sent) { attributes.append(Attribute("http.request.method_original", sent.rawValue)) }
        if let target = record.target {
            attributes += server(target)
            attributes.append(
                Attribute("url.full", redaction.url("\(target.scheme)://\(target.authority)\(target.path)"))
            )
        }
        if let template = record.template { attributes.append(Attribute("url.template", template)) }
        if let attempt = record.attempt, attempt > 1 {
            attributes.append(Attribute("http.request.resend_count", attempt - 1))
        }
        guard let outcome = record.outcome else { return attributes }
        attributes += result(outcome, isWhole: record.attempt == nil)
        if case .response(_, _, let peer?) = outcome, record.attempt != nil { attributes += self.peer(peer) }
        return attributes
    }

    func server(_ target: SentTarget) -> [Attribute] {
        let authority = target.authority.lastIndex(of: "@").map { String(target.authority[$0...].dropFirst()) }
        let origin = HTTPOrigin(scheme: target.scheme, authority: authority ?? target.authority)
        return [Attribute("server.address", origin.host), Attribute("server.port", origin.port)]
    }

    /// The attributes of an outcome: status, version and type of the error.
    ///
    /// - Parameters:
    ///   - outcome: The outcome.
    ///   - isWhole: True for the request as a whole, whose response the caller has accepted whatever its status.
    /// - Returns: The attributes.
    func result(_ outcome: SpanOutcome, isWhole: Bool = false) -> [Attribute] {
        var attributes: [Attribute] = []
        switch outcome {
        case .response(let status, let version, _):
            attributes.append(Attribute("http.response.status_code", Int(status.rawValue)))
            let number = version.major < 2 ? "\(version.major).\(version.minor)" : "\(version.major)"
            attributes.append(Attribute("network.protocol.version", number))
        case .failure(_, let status?, _):
            attributes.append(Attribute("http.response.status_code", Int(status.rawValue)))
        case .failure: break
        }
        if let type = errorType(outcome, isWhole: isWhole) { attributes.append(Attribute("error.type", type)) }
        return attributes
    }

    /// The type of the error: the status of a response from 400 on, or the name of the error's code; nil for a success.
    func errorType(_ outcome: SpanOutcome, isWhole: Bool = false) -> String? {
        switch outcome {
        case .response(let status, _, _): status.rawValue >= 400 && !isWhole ? "\(status.rawValue)" : nil
        case .failure(let code, let status?, _) where status.rawValue >= 400 && code == .unacceptableStatus:
            "\(status.rawValue)"
        case .failure(let code, _, _): code.description
        }
    }

    private func peer(_ text: String) -> [Attribute] {
        guard !text.hasPrefix("/"), let colon = text.lastIndex(of: ":"), let port = Int(text[colon...].dropFirst())
        else { return [Attribute("network.peer.address", text)] }
        let address = text[..<colon].drop { $0 == "[" }.prefix { $0 != "]" }
        return [Attribute("network.peer.address", String(address)), Attribute("network.peer.port", port)]
    }
}

extension HTTPConventions {
    private enum SpanKind: UInt32 {
        case `internal` = 1
        case client = 3
    }

    /// The message `Span`.
    func message(_ record: SpanRecord) -> ProtobufMessage {
        ProtobufMessage {
            $0.add(1, "traceId", .id([record.trace.traceID.high, record.trace.traceID.low]))
            $0.add(2, "spanId", .id([record.spanID.rawValue]))
            $0.add(3, "traceState", nonEmpty: record.trace.parent?.traceState ?? "")
            if let parent = record.parentID { $0.add(4, "parentSpanId", .id([parent.rawValue])) }
            $0.add(5, "name", .string(name(record)))
            let kind: SpanKind = record.attempt == nil ? .internal : .client
            $0.add(6, "kind", .enumeration(kind.rawValue))
            $0.add(7, "startTimeUnixNano", .fixed64(record.start))
            $0.add(8, "endTimeUnixNano", .fixed64(max(record.start, record.end)))
            $0.add(9, "attributes", attributes(record).messages(limit: valueLimit))
            let events = record.events + exception(record)
            if !events.isEmpty { $0.add(11, "events", .messages(events.map(message))) }
            $0.add(12, "droppedEventsCount", nonZero: record.droppedEvents)
            if let status = status(record) { $0.add(15, "status", .message(status)) }
            $0.add(16, "flags", .fixed32(1))
        }
    }

    private func message(_ event: SpanEvent) -> ProtobufMessage {
        ProtobufMessage {
            $0.add(1, "timeUnixNano", .fixed64(event.time))
            $0.add(2, "name", .string(event.name))
            let attributes = event.attributes.map(redacted)
            if !attributes.isEmpty { $0.add(3, "attributes", attributes.messages(limit: valueLimit)) }
        }
    }

    /// Removes the secrets from the URL that a redirect leads to.
    private func redacted(_ attribute: Attribute) -> Attribute {
        guard attribute.key == "url.full", case .string(let url) = attribute.value else { return attribute }
        return Attribute(attribute.key, redaction.url(url))
    }

    /// The error as an event, if no response caused it.
    private func exception(_ record: SpanRecord) -> [SpanEvent] {
        guard case .failure(let code, _, let text)? = record.outcome else { return [] }
        return [
            SpanEvent(
                time: record.end,
                name: "exception",
                attributes: [
                    Attribute("exception.type", code.description),
                    Attribute("exception.message", redaction.text(text)),
                ]
            )
        ]
    }

    private func status(_ record: SpanRecord) -> ProtobufMessage? {
        guard let outcome = record.outcome, errorType(outcome, isWhole: record.attempt == nil) != nil else {
            return nil
        }
        return ProtobufMessage {
            // The status code says all about a response.
            if case .failure(_, _, let text) = outcome { $0.add(2, "message", nonEmpty: redaction.text(text)) }
            $0.add(3, "code", .enumeration(2))
        }
    }
}
