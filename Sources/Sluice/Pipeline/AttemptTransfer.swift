import SluiceFoundation
import SluiceHTTP

/// The HTTP cache, the transport and the redirects of one attempt: steps 4 and 5 of the pipeline.
struct AttemptTransfer: Sendable {
    let pipeline: Pipeline
    let call: Call?
    /// The number of the attempt, starting at 1.
    let number: Int
    private let transport: any Transport
    private let transfer: TransferContext
    /// The end of the total time, which covers all redirects. Measured on the system clock, as in the transport.
    private let deadline: ContinuousClock.Instant?
    /// The end of the attempt's own time-out for a sink, which covers the heads of all redirects.
    private let headDeadline: ContinuousClock.Instant?

    init(
        _ pipeline: Pipeline,
        _ transfer: TransferContext,
        _ call: Call? = nil,
        _ number: Int = 1,
        until deadline: ContinuousClock.Instant? = nil
    ) {
        self.pipeline = pipeline
        self.transfer = transfer
        self.call = call
        self.number = number
        transport = call?.transport ?? pipeline.configuration.transport
        self.deadline = deadline ?? transfer.timeouts.total.map { ContinuousClock.now + $0.bounded }
        headDeadline = call?.sink == nil ? nil : call?.retry.attemptTimeout.map { pipeline.clock.now + $0.bounded }
    }

    /// Performs the steps of a machine from the cache or the transport to the collected body.
    ///
    /// - Parameters:
    ///   - first: The request to send.
    ///   - begun: The response to it, if the request has already been sent.
    ///   - machine: The machine, at one of these steps. It moves to the step that follows them.
    ///   - redirect: Set to the last redirect that a server has sent and that was followed.
    /// - Returns: The last response, or a ``SluiceError`` from the cache, the transport or a redirect.
    func outcome(
        of first: HTTPRequest,
        unread begun: TransportResponse? = nil,
        _ machine: inout CallMachine,
        redirect: inout ServerResponse?
    ) async -> TransportOutcome {
        var request = first
        var transfer = transfer
        var unread = begun
        var response: ServerResponse?
        var visited: [String] = []
        var credentials = RedirectCredentials(transfer.credentials, for: first)
        if let begun { call?.received(begun.head) }
        do throws(SluiceError) {
            while true {
                switch machine.next {
                case .cache, .send:
                    if machine.next == .cache, let cache = call?.cache(for: request) {
                        let step = CacheStep(cache: cache, attempt: self, transfer: transfer)
                        response = try await step.response(to: request)
                    } else {
                        unread = try await send(request, transfer)
                    }
                    machine.advance()
                case .redirect:
                    guard let head = unread?.head ?? response?.head,
                        let next = try target(of: head, to: request, &visited)
                    else {
                        machine.advance()
                        continue
                    }
                    if let unread = unread.take() { response = redirectResponse(unread, to: request) }
                    if let response, !response.isServedFromCache { redirect = response }
                    if let response { call?.notify(.redirected, number) { .redirected(response, to: next) } }
                    call?.recordRedirect(of: request, to: next, in: number)
                    transfer.credentials = credentials.following(request, to: next)
                    request = next
                    transfer.timeouts.total = deadline.map { max(.zero, ContinuousClock.now.duration(to: $0)) }
                    machine.advance(.redirected)
                case .collect:
                    if let body = unread.take() { response = try await collect(body, to: request) }
                    machine.advance()
                default:
                    if !visited.isEmpty { response?.isRedirected = true }
                    return response.map { .success($0) } ?? .failure(.cancelled)
                }
            }
        } catch {
            // A request to a host that the client refuses has not been sent, unless a redirect led there.
            machine.advance(visited.isEmpty && error.code == .hostRefused ? .refused : .failed)
            return .failure(error.with(request: request))
        }
    }

    /// Returns the request that a redirect leads to; nil if the response is no redirect or is not followed.
    private func target(
        of head: HTTPResponse,
        to request: HTTPRequest,
        _ visited: inout [String]
    ) throws(SluiceError) -> HTTPRequest? {
        guard head.status.class == .redirection else { return nil }
        visited.append(RedirectPolicy.key(request))
        return try redirects.next(
            after: head,
            to: request,
            visited: visited,
            secretHeaders: (call?.steps ?? pipeline.steps).secretHeaders,
            keepsCookies: transfer.cookies != nil
        )
    }

    private var redirects: RedirectPolicy {
        call?.draft.options.redirects ?? pipeline.configuration.redirects
    }

    /// Returns true if the response is a redirect that is followed regardless of its body, without asking the user's
    /// `decide` closure.
    func follows(_ head: HTTPResponse, to request: HTTPRequest) -> Bool {
        guard head.status.class == .redirection, redirects.decide == nil else { return false }
        return (try? redirects.next(after: head, to: request, visited: [])) ?? nil != nil
    }

    /// Returns the response of a redirect that is followed. Its body is kept if it has already arrived and is not
    /// encoded, and is drained otherwise.
    func redirectResponse(_ response: TransportResponse, to request: HTTPRequest) -> ServerResponse {
        response.body.drain()
        let isEncoded = !transfer.decodesRedirects && response.head.headers.contains(.contentEncoding)
        return ServerResponse(
            request: request,
            head: response.head,
            body: isEncoded ? Data() : response.body.whole?.data ?? Data(),
            metrics: response.body.metrics ?? TransferMetrics()
        )
    }

    /// Sends a request through the transport, and reports it and its informational responses to observers and plugins.
    func send(_ request: HTTPRequest, _ transfer: TransferContext) async throws(SluiceError) -> TransportResponse {
        let response = try await sent(request, transfer)
        call?.received(response.head)
        return response
    }

    private func sent(
        _ request: HTTPRequest,
        _ transfer: TransferContext
    ) async throws(SluiceError) -> TransportResponse {
        if let refusal = transfer.connection.refusal(of: request) { throw refusal }
        // A transport of the user's own relies on it.
        try request.validate()
        guard let call else { return try await transport.send(request, context: transfer) }
        call.notify(.sending, number) { .sending(request) }
        var transfer = transfer
        let notifyObservers = call.informationalHandler(number)
        transfer.onInformational = notifyObservers
        let plugins = call.steps.informationalPlugins
        if plugins.isEmpty { return try await sendWithinAttemptTimeout(request, transfer, call) }
        // Plugins run in this task, and receive all informational responses before the final response is returned.
        let context = RequestContext(attempt: number, within: transfer.timeouts.total, of: call)
        let (heads, continuation) = AsyncStream.makeStream(
            of: HTTPResponse.self,
            bufferingPolicy: .bufferingOldest(Self.informationalCapacity)
        )
        transfer.onInformational = { head in
            notifyObservers?(head)
            continuation.yield(head)
        }
        async let delivery: Void = {
            for await head in heads {
                for plugin in plugins { plugin.didReceive(informational: head, context: context) }
            }
        }()
        let answer = await Result.of { () async throws(SluiceError) in
            try await sendWithinAttemptTimeout(request, transfer, call)
        }
        continuation.finish()
        await delivery
        return try answer.get()
    }

    /// The number of informational responses that can wait for plugins. Further ones are dropped.
    private static let informationalCapacity = 1024

    private func sendWithinAttemptTimeout(
        _ request: HTTPRequest,
        _ transfer: TransferContext,
        _ call: Call
    ) async throws(SluiceError) -> TransportResponse {
        if let headDeadline, let limit = call.retry.attemptTimeout {
            let left = max(.zero, pipeline.clock.now.duration(to: headDeadline))
            return try await TimedWork.outcome(within: left, on: pipeline.clock, else: .noResponse(limit, request)) {
                () async throws(SluiceError) in try await transport.send(request, context: transfer)
            }
        }
        return try await transport.send(request, context: transfer)
    }

    /// Passes a response's body to the sink, or collects it in memory.
    func collect(
        _ response: TransportResponse,
        to request: HTTPRequest,
        from source: ResponseSource = .server
    ) async throws(SluiceError) -> ServerResponse {
        let body: Data
        if let sink = call?.sink {
            let first = call?.redirectedRequest(in: number)
            let declined = try await sink.receive(response, to: request, redirectedFrom: first)
            do { body = try await collect(declined: declined) } catch { throw error.with(response: response.head) }
        } else {
            do {
                body = try await response.body.collect(upTo: transfer.limits.body)
            } catch {
                throw error.with(response: response.head)
            }
        }
        return ServerResponse(
            request: request,
            head: response.head,
            body: body,
            metrics: response.body.metrics ?? TransferMetrics(),
            source: source,
            trailers: response.body.trailers ?? [:]
        )
    }

    /// Collects a body that the sink declines; nil for none. The transfer of a sink has no client limits, and its attempt
    /// ends with the head. This body goes into memory, so it has the limits of other bodies. It is empty if it does not
    /// end in time, because the head decides what happens.
    private func collect(declined body: ResponseBody?) async throws(SluiceError) -> Data {
        guard let body else { return Data() }
        let limit = transfer.limits.body ?? pipeline.configuration.limits.body
        let total = transfer.timeouts.total == nil ? pipeline.configuration.timeouts.total : nil
        let rest = headDeadline.map { max(.zero, pipeline.clock.now.duration(to: $0)) }
        guard body.whole == nil, let time = [total, rest].compactMap(\.self).min() else {
            return try await body.collect(upTo: limit)
        }
        do throws(SluiceError) {
            // Nobody sees the error for the end of the time.
            return try await TimedWork.outcome(within: time, on: pipeline.clock, else: SluiceError(.timedOut, "")) {
                () async throws(SluiceError) in try await body.collect(upTo: limit)
            }
        } catch {
            if error.code == .timedOut { return Data() }
            throw error
        }
    }
}

extension TransportOutcome {
    /// Returns the outcome for the gates: the last thing that a server did, or the reason why nothing was sent.
    ///
    /// A response that the cache served in place of a failed server becomes its failure. One that the cache served
    /// without the server becomes the redirect that led there, or a failure if nothing was sent.
    ///
    /// - Parameter redirect: The last redirect that a server has sent and that was followed; nil if there was none.
    /// - Returns: The outcome. A failure is marked if it comes after a redirect.
    func asServerOutcome(after redirect: ServerResponse?) -> TransportOutcome {
        switch self {
        case .success(let response):
            guard response.isServedFromCache else { return self }
            if let failure = response.failure { return .failure(failure.with(isAfterRedirect: redirect != nil)) }
            return redirect.map { .success($0) } ?? .failure(.answeredByCache(response.request))
        case .failure(let error):
            return redirect == nil ? self : .failure(error.with(isAfterRedirect: true))
        }
    }
}

extension SluiceError {
    fileprivate static func answeredByCache(_ request: HTTPRequest) -> SluiceError {
        SluiceError(
            .answeredByCache,
            "The response came from the cache; nothing was sent.",
            step: .cache,
            request: request
        )
    }
}

extension ServerResponse {
    /// True if the response was received by an equal request, which this one has waited for.
    var isShared: Bool {
        if case .cache(let info) = source { info.isShared } else { false }
    }

    /// True if the response came from the cache without revalidation.
    var isServedFromCache: Bool {
        if case .cache(let info) = source { !info.isRevalidated } else { false }
    }
}

extension SluiceError {
    fileprivate static func noResponse(_ limit: Duration, _ request: HTTPRequest) -> SluiceError {
        SluiceError(
            .timedOut,
            "No response started within the \(limit.textRoundedUp) allowed for an attempt.",
            request: request
        )
    }
}

// MARK: - Sinks

extension TransportResponse {
    /// Returns the body of a successful response that a sink refuses, for the error; nil if it cannot be read in a short
    /// time, as that of another stream, which has no end. It is then dropped.
    ///
    /// A body whose announced length is at most 1 MiB has ten seconds, and any other has a second and 64 KiB.
    ///
    /// - Throws: ``SluiceError/Code/cancelled``.
    func refusedBody(of method: HTTPMethod) async throws(SluiceError) -> ResponseBody? {
        if body.whole != nil { return body }
        let length = head.bodyLength(of: method).flatMap { $0 <= 1 << 20 ? $0 : nil }
        let data = await body.collectedBriefly(upTo: length, within: length == nil ? nil : .seconds(10))
        if Task.isCancelled { throw .cancelled }
        return data.map { ResponseBody($0) }
    }
}

/// Receives a response's body instead of collecting it in memory, for example into a file or a stream.
///
/// One sink serves all attempts of a request. A body that it declines is collected in memory, so that a failed response
/// can be decoded into an error model.
protocol ResponseSink: Sendable {
    /// Changes the request at the start of an attempt, before the interceptors.
    func adapt(_ request: inout HTTPRequest)

    /// Drops the body of an attempt that is followed by another and is not its outcome. It holds a connection, for which the gates of the
    /// other may wait.
    func dropBody()

    /// Receives the body, and returns after its end.
    ///
    /// - Parameters:
    ///   - response: Head and body.
    ///   - request: The request of the response.
    ///   - first: The first request of the attempt, if redirects led from it to this one.
    /// - Returns: A body to collect in memory; nil if the sink has taken the body.
    /// - Throws: An error if the body is not usable or cannot be received.
    func receive(
        _ response: TransportResponse,
        to request: HTTPRequest,
        redirectedFrom first: HTTPRequest?
    ) async throws(SluiceError) -> ResponseBody?

    /// Returns the delay before another attempt that resumes the transfer, regardless of the retry policy.
    ///
    /// - Parameter outcome: The outcome of the failed attempt.
    /// - Returns: The delay, or nil for no resumption.
    func resumption(after outcome: TransportOutcome) -> Duration?

    /// True if a response from the HTTP cache can be used, and the received response may be stored there.
    var isCacheable: Bool { get }

    /// The time at which the last bytes were received that no earlier attempt had received; nil before the first. The
    /// retry policy counts attempts and time from that time.
    var lastProgress: ContinuousClock.Instant? { get }
}

extension ResponseSink {
    func adapt(_ request: inout HTTPRequest) {}
    func dropBody() {}
    func resumption(after outcome: TransportOutcome) -> Duration? { nil }
    var lastProgress: ContinuousClock.Instant? { nil }
    var isCacheable: Bool { true }
}
