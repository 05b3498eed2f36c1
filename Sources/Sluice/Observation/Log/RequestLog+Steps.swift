import SluiceHTTP

extension RequestLog {
    /// Returns the text for a step before the last; nil if the step is not logged.
    func step(_ event: RequestEvent, after wait: Duration?, _ observed: ObservedRequest) -> String? {
        let start = start(observed)
        switch event {
        case .began, .waiting, .finished: return nil
        case .admitted(let gate):
            guard let wait, wait >= .milliseconds(1) else { return nil }
            return "\(start)… waited \(LogUnits.text(wait)) at \(LogEscaping.line(gate, limit: 64))"
        case .refused(let gate, let error):
            return "\(start)\(colored("✗", 31)) refused at \(LogEscaping.line(gate, limit: 64)): \(sentence(of: error))"
        case .sending(let request):
            let attempt = observed.attempt > 1 ? "  (attempt \(observed.attempt))" : ""
            let method = LogEscaping.line(request.method.rawValue, limit: 32)
            let head = fields(redaction.headers(request.headers, and: observed.secretHeaders))
            return "\(start)→ \(method) \(shown(request))\(attempt)\(head)\(body(of: request))"
        case .redirected(let response, let next):
            return "\(start)↪ \(response.head.status) leads to \(shown(next))\(head(of: response, observed))"
        case .informational(let head):
            return "\(start)< \(head.status) \(head.version)"
                + fields(redaction.headers(head.headers, and: observed.secretHeaders))
        case .received(.success(let response)):
            let head = "\(start)< \(response.head.status) \(response.head.version)"
            return head + self.head(of: response, observed) + body(of: response)
        case .cached(let response):
            return "\(start)< \(response.head.status) from the cache" + head(of: response, observed)
                + body(of: response)
        case .received(.failure(let error)):
            return "\(start)\(colored("✗", 31)) \(sentence(of: error))"
        case .retrying(let delay, let outcome):
            return "\(start)↻ again in \(LogUnits.text(delay)) after \(reason(outcome))"
        case .hedging:
            return "\(start)↻ no answer yet, sends another"
        }
    }

    private func reason(_ outcome: TransportOutcome) -> String {
        switch outcome {
        case .success(let response): "\(response.head.status)"
        case .failure(let error): sentence(of: error)
        }
    }

    private func head(of response: ServerResponse, _ observed: ObservedRequest) -> String {
        fields(redaction.headers(response.head.headers, and: observed.secretHeaders))
    }

    /// Returns the header fields, one per line.
    private func fields(_ headers: HTTPHeaders) -> String {
        headers.reduce(into: "") { text, field in
            text += "\n    \(LogEscaping.line(field.name.rawValue, limit: 256)): \(LogEscaping.line(field.value))"
        }
    }
}
