import SluiceFoundation
import SluiceHTTP

/// The size of the events that wait for an observer, and its limits.
///
/// Bodies are omitted first: an event whose bodies exceed their limit waits without them. An event is dropped only if
/// there are too many, or if the rest of them is too large.
struct ObserverBacklog {
    /// The estimated memory of an event in bytes.
    struct Cost: Sendable, Hashable {
        /// The bytes of request bodies and of response bodies in memory.
        var requestBodies = 0
        var responseBodies = 0
        /// The bytes of everything else.
        var other = 0

        var bodies: Int { requestBodies + responseBodies }

        /// The same without bodies.
        var withoutBodies: Cost { Cost(other: other) }
    }

    /// The handling of a new event.
    enum Admission: Sendable, Hashable {
        case whole
        case withoutBodies
        case dropped
    }

    /// The maximum number of waiting events.
    static let countLimit = 65_536
    /// The maximum number of bytes of their bodies.
    static let bodyLimit = 16 << 20
    /// The maximum number of bytes of everything else.
    static let otherLimit = 64 << 20

    private(set) var count = 0
    private(set) var bodies = 0
    private(set) var other = 0

    /// Decides about a new event, and counts it unless it is dropped.
    mutating func add(_ cost: Cost) -> Admission {
        guard count < Self.countLimit, cost.other <= Self.otherLimit - other else { return .dropped }
        count += 1
        other += cost.other
        guard cost.bodies <= Self.bodyLimit - bodies else { return .withoutBodies }
        bodies += cost.bodies
        return .whole
    }

    /// Removes an event that the observer has received.
    mutating func remove(_ cost: Cost) {
        count -= 1
        bodies -= cost.bodies
        other -= cost.other
    }
}

// MARK: - The size of an event

extension RequestEvent {
    /// The estimated memory of the event.
    var cost: ObserverBacklog.Cost {
        // The event itself, and its share of the properties that all events of a request have.
        var cost = ObserverBacklog.Cost(other: 512)
        switch self {
        case .began(let request), .sending(let request): cost.add(request)
        case .waiting, .admitted, .hedging: break
        case .refused(_, let error): cost.add(error)
        case .redirected(let response, let next):
            cost.add(response)
            cost.add(next)
        case .informational(let head): cost.other += head.headers.byteCount
        case .received(let outcome), .retrying(_, let outcome), .finished(let outcome): cost.add(outcome)
        case .cached(let response): cost.add(response)
        }
        return cost
    }

    /// The event with empty bodies in place of those in memory.
    var withoutBodies: RequestEvent {
        switch self {
        case .began(let request): .began(request.withoutBody)
        case .sending(let request): .sending(request.withoutBody)
        case .waiting, .admitted, .hedging, .informational: self
        case .refused(let gate, let error): .refused(gate: gate, error.withoutBody)
        case .redirected(let response, let next): .redirected(response.withoutBodies, to: next.withoutBody)
        case .received(let outcome): .received(outcome.withoutBodies)
        case .retrying(let delay, let outcome): .retrying(after: delay, outcome.withoutBodies)
        case .finished(let outcome): .finished(outcome.withoutBodies)
        case .cached(let response): .cached(response.withoutBodies)
        }
    }
}

extension ObserverBacklog.Cost {
    fileprivate mutating func add(_ request: HTTPRequest) {
        other += request.headers.byteCount + request.authority.utf8.count + request.path.utf8.count
        if case .data(let data) = request.body.source { requestBodies += data.count }
    }

    fileprivate mutating func add(_ response: ServerResponse) {
        add(response.request)
        other += response.head.headers.byteCount + response.trailers.byteCount
        responseBodies += response.body.count
    }

    fileprivate mutating func add(_ error: SluiceError) {
        other += error.reason.utf8.count
        if let request = error.request { add(request) }
        if let response = error.response { other += response.headers.byteCount }
    }

    fileprivate mutating func add(_ outcome: TransportOutcome) {
        switch outcome {
        case .success(let response): add(response)
        case .failure(let error): add(error)
        }
    }
}

extension HTTPRequest {
    /// The request without the bytes of its body. The length of the body is kept.
    fileprivate var withoutBody: HTTPRequest {
        guard case .data = body.source else { return self }
        var request = self
        request.body = RequestBody(
            source: .none,
            contentType: body.contentType,
            length: body.length,
            isReplayable: body.isReplayable
        )
        return request
    }
}

extension ServerResponse {
    fileprivate var withoutBodies: ServerResponse {
        var response = self
        response.request = request.withoutBody
        response.body = Data()
        response.storedModel = nil
        response.failure = failure?.withoutBody
        return response
    }
}

extension SluiceError {
    fileprivate var withoutBody: SluiceError {
        guard let request, case .data = request.body.source else { return self }
        return SluiceError(
            code,
            reason,
            step: step,
            request: request.withoutBody,
            response: response,
            underlyingError: underlyingError
        )
    }
}

extension TransportOutcome {
    fileprivate var withoutBodies: TransportOutcome {
        map(\.withoutBodies).mapError(\.withoutBody)
    }
}
