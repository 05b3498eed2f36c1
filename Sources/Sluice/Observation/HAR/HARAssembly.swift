import SluiceFoundation
import SluiceHTTP

/// Assembles entries from events.
struct HARAssembly {
    private struct Exchange {
        let request: HTTPRequest
        let sent: ContinuousClock.Instant
    }

    private struct Attempt {
        /// The time at which the attempt began to wait for its first exchange, or for the one after a redirect.
        var began: ContinuousClock.Instant
        var kind = Kind.first
        var redirectCount = 0
        var exchange: Exchange?
        var gates: [(name: String, began: ContinuousClock.Instant, ended: ContinuousClock.Instant?)] = []
        /// The number of the attempt's last entry; nil if it has none.
        var last: Int?

        enum Kind { case first, retry, hedge }
    }

    private struct Pending {
        var request: HTTPRequest?
        var attempts: [Int: Attempt] = [:]
        var next: (kind: Attempt.Kind, began: ContinuousClock.Instant)?
    }

    private let transcript: HARTranscript
    private let maximumEntries: Int
    private var pending: [RequestID: Pending] = [:]
    /// A ring buffer: entry number n is at index n modulo its capacity.
    private var ring: [HAR.Entry] = []
    private var count = 0

    init(_ transcript: HARTranscript, maximumEntries: Int) {
        self.transcript = transcript
        self.maximumEntries = max(0, maximumEntries)
    }

    /// The newest entries, in the order in which they ended.
    var entries: [HAR.Entry] {
        guard count > ring.count, !ring.isEmpty else { return ring }
        let start = count % maximumEntries
        return Array(ring[start...] + ring[..<start])
    }

    var droppedEntries: Int { count - ring.count }

    mutating func reset() {
        ring = []
        count = 0
        for id in pending.keys {
            for number in pending[id]?.attempts.keys ?? [:].keys { pending[id]?.attempts[number]?.last = nil }
        }
    }

    mutating func discardPending() {
        pending = [:]
    }

    mutating func record(_ event: RequestEvent, of request: ObservedRequest) {
        switch event {
        case .began(let built):
            pending[request.id, default: Pending()].request = built
        case .waiting(let gate):
            update(request) { $0.gates.append((gate, request.instant, nil)) }
        case .admitted(let gate), .refused(let gate, _):
            update(request) { attempt in
                let index = attempt.gates.lastIndex { $0.name == gate && $0.ended == nil }
                if let index { attempt.gates[index].ended = request.instant }
            }
        case .sending(let sent):
            update(request) { $0.exchange = Exchange(request: sent, sent: request.instant) }
        case .redirected(let response, let next):
            close(request, request.attempt, .success(response), redirect: next.url)
            update(request) { attempt in
                attempt.redirectCount += 1
                attempt.began = request.instant
                attempt.gates = []
            }
        // The HAR format has no field for informational responses.
        case .informational: break
        case .received(let outcome):
            close(request, request.attempt, outcome)
        case .cached(let response):
            // No request was sent, so the entry has the request that the cache answered.
            update(request) { attempt in
                let exchange = attempt.exchange ?? Exchange(request: response.request, sent: request.instant)
                attempt.exchange = exchange
            }
            close(request, request.attempt, .success(response))
        case .retrying(let delay, let outcome):
            end(request, request.attempt, outcome)
            pending[request.id]?.next = (.retry, request.instant + delay)
        case .hedging:
            pending[request.id]?.next = (.hedge, request.instant)
        case .finished(let outcome):
            finish(request, outcome)
        }
    }

    private mutating func update(_ request: ObservedRequest, _ change: (inout Attempt) -> Void) {
        var current = pending[request.id] ?? Pending()
        var attempt: Attempt
        if let known = current.attempts[request.attempt] {
            attempt = known
        } else {
            let next = current.next.take()
            let first = current.attempts.isEmpty ? request.began : request.instant
            attempt = Attempt(began: next?.began ?? first, kind: next?.kind ?? .first)
        }
        change(&attempt)
        current.attempts[request.attempt] = attempt
        pending[request.id] = current
    }

    /// Appends an entry for the attempt's exchange in progress, if there is one.
    private mutating func close(
        _ request: ObservedRequest,
        _ number: Int,
        _ outcome: TransportOutcome,
        redirect: String? = nil
    ) {
        guard let attempt = pending[request.id]?.attempts[number], let exchange = attempt.exchange else { return }
        pending[request.id]?.attempts[number]?.exchange = nil
        let received = request.date(of: request.instant)
        var entry = transcript.entry(exchange.request, outcome, request.secretHeaders, received: received)
        entry.startedDateTime = request.date(of: attempt.began)
        entry.timings = HARTimeline(
            waiting: attempt.began.duration(to: exchange.sent),
            exchanging: exchange.sent.duration(to: request.instant)
        ).timings(of: outcome)
        let omitted = request.omitted.responseBodies
        if omitted > 0 {
            entry.response.content.size = omitted
            entry.response.content.comment =
                "Omitted, because too many bodies waited for the recorder: \(omitted) bytes."
        }
        if let redirect { entry.response.redirectURL = transcript.redaction.url(redirect) }
        append(entry, request, number, attempt)
    }

    /// Ends an attempt. An attempt that was never sent gets an entry too, if its request is known.
    private mutating func end(_ request: ObservedRequest, _ number: Int, _ outcome: TransportOutcome) {
        close(request, number, outcome)
        guard case .failure(let error) = outcome else { return }
        let pending = pending[request.id]
        // Between two attempts the previous one already has its entry.
        if pending?.next != nil { return }
        let attempt = pending?.attempts[number] ?? Attempt(began: request.began)
        if let last = attempt.last {
            // The status already states this error.
            if error.code != .unacceptableStatus { annotate(last, error) }
        } else if let unsent = pending?.request ?? error.request {
            let ended = request.date(of: request.instant)
            var entry = transcript.entry(unsent, outcome, request.secretHeaders, received: ended)
            entry.startedDateTime = request.date(of: attempt.began)
            entry.timings = HAR.Timings(blocked: attempt.began.duration(to: request.instant).milliseconds)
            append(entry, request, number, attempt)
        }
    }

    private mutating func finish(_ request: ObservedRequest, _ outcome: TransportOutcome) {
        let attempts = (pending[request.id]?.attempts.keys).map { $0.sorted() } ?? []
        let last = attempts.last ?? 1
        for number in attempts where number != last {
            // Another attempt's response was used, so this one is cancelled.
            close(request, number, .failure(.cancelled))
        }
        switch outcome {
        case .success: close(request, last, .failure(.cancelled))
        case .failure: end(request, last, outcome)
        }
        pending[request.id] = nil
    }

    private mutating func append(_ entry: HAR.Entry, _ request: ObservedRequest, _ number: Int, _ attempt: Attempt) {
        guard maximumEntries > 0 else { return }
        var entry = entry
        entry.time = entry.timings.total.roundedToMicroseconds
        entry.requestID = Int(clamping: request.id.rawValue)
        entry.attempt = max(1, number)
        entry.redirectCount = attempt.redirectCount
        entry.route = transcript.redaction.url(request.route)
        if attempt.kind == .retry { entry.isFromRetry = true }
        if attempt.kind == .hedge { entry.isHedged = true }
        if !attempt.gates.isEmpty {
            entry.waits = attempt.gates.map {
                HAR.Entry.Wait(name: $0.name, time: $0.began.duration(to: $0.ended ?? request.instant).milliseconds)
            }
        }
        pending[request.id]?.attempts[number]?.last = count
        if ring.count < maximumEntries { ring.append(entry) } else { ring[count % maximumEntries] = entry }
        count += 1
    }

    /// Adds the reason why the response of a completed exchange was not accepted.
    private mutating func annotate(_ number: Int, _ error: SluiceError) {
        guard number < count, number >= count - ring.count, maximumEntries > 0 else { return }
        // A cancelled exchange gets the reason that is known only now.
        let known = ring[number % maximumEntries].error
        if known == nil || known == transcript.text(of: .cancelled) {
            ring[number % maximumEntries].error = transcript.text(of: error)
        }
    }
}

extension ObservedRequest {
    fileprivate func date(of instant: ContinuousClock.Instant) -> Date {
        beganDate + began.duration(to: instant) / .seconds(1)
    }
}

// MARK: - Timings

/// The durations of an exchange.
struct HARTimeline {
    /// The time before it was sent.
    let waiting: Duration
    /// The time from then to its end, as measured by a clock.
    let exchanging: Duration

    func timings(of outcome: TransportOutcome) -> HAR.Timings {
        let waiting = max(waiting, .zero)
        switch outcome {
        case .success(let response):
            let metrics = response.metrics
            guard metrics.total > .zero else { return timings(blocked: waiting) { $0.wait = exchanging.milliseconds } }
            return timings(of: metrics, blocked: waiting + metrics.queued)
        case .failure(let error):
            // A failure has no metrics, but its code shows the phase that it reached.
            let time = exchanging.milliseconds
            return timings(blocked: waiting) { timings in
                switch error.code {
                case .cannotResolveHost: timings.dns = time
                case .cannotConnect, .connectTimedOut, .proxyFailed: timings.connect = time
                case .tlsFailed:
                    timings.connect = time
                    timings.ssl = time
                default: timings.wait = time
                }
            }
        }
    }

    private func timings(blocked: Duration, _ change: (inout HAR.Timings) -> Void) -> HAR.Timings {
        var timings = HAR.Timings(blocked: blocked > .zero ? blocked.milliseconds : nil)
        change(&timings)
        return timings
    }

    private func timings(of metrics: TransferMetrics, blocked: Duration) -> HAR.Timings {
        timings(blocked: blocked) { timings in
            let connected = max(metrics.connect, metrics.tls)
            if connected > .zero {
                timings.dns = max(metrics.nameLookup, .zero).milliseconds
                timings.connect = max(connected - metrics.nameLookup, .zero).milliseconds
                if metrics.tls > .zero { timings.ssl = max(metrics.tls - metrics.connect, .zero).milliseconds }
            }
            // A transport that does not know the end of sending includes it in the wait. A response may come before it.
            let sent = max(connected, min(metrics.sentRequest?.end ?? .zero, metrics.firstByte))
            timings.send = (sent - connected).milliseconds
            timings.wait = max(metrics.firstByte - sent, .zero).milliseconds
            timings.receive = max(metrics.total - max(metrics.firstByte, sent), .zero).milliseconds
        }
    }
}

extension Duration {
    /// The duration in milliseconds, rounded to microseconds; 0 for a negative duration.
    var milliseconds: Double { (max(self, .zero) / .milliseconds(1)).roundedToMicroseconds }
}

extension Double {
    /// The number of milliseconds, rounded to microseconds, which removes floating-point noise from sums.
    var roundedToMicroseconds: Double { (self * 1000).rounded() / 1000 }
}
