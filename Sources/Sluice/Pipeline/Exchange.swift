import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Steps 4 and 5: the HTTP cache, the transport, and the redirects that come back to them.
struct Exchange: Sendable {
    let pipeline: Pipeline
    let sending: Sending?
    let attempt: Int
    private let transport: any Transport
    private let transfer: TransferContext
    /// The end of the total time, which covers all redirects; in real time, as the transport's.
    private let deadline: ContinuousClock.Instant?

    init(
        _ pipeline: Pipeline,
        _ transfer: TransferContext,
        _ sending: Sending? = nil,
        _ attempt: Int = 1,
        until deadline: ContinuousClock.Instant? = nil
    ) {
        self.pipeline = pipeline
        self.transfer = transfer
        self.sending = sending
        self.attempt = attempt
        transport = sending?.transport ?? pipeline.configuration.transport
        self.deadline = deadline ?? transfer.timeouts.total.map { ContinuousClock.now + $0 }
    }

    /// Sends a request and follows redirects.
    ///
    /// - Parameters:
    ///   - first: What to send.
    ///   - begun: The response to it, where it has been sent already.
    /// - Returns: The last response, or a ``SluiceError`` of the transport or of a redirect.
    func outcome(of first: HTTPRequest, begun: TransportResponse? = nil) async -> TransportOutcome {
        var request = first
        var transfer = transfer
        var begun = begun
        var visited: [String] = []
        do throws(SluiceError) {
            while true {
                let response: ServerResponse
                let next: HTTPRequest?
                if let cache = sending?.cache, begun == nil {
                    let exchange = CachedExchange(cache: cache, exchange: self, transfer: transfer)
                    response = try await exchange.response(to: request)
                    next = try target(of: response.head, to: request, &visited)
                } else {
                    let arriving =
                        if let first = begun.take() { first } else { try await transported(request, transfer) }
                    next = try target(of: arriving.head, to: request, &visited)
                    response = next == nil ? try await collected(arriving, to: request) : skipped(arriving, to: request)
                }
                guard let next else { return .success(response) }
                sending?.tell(.redirected, attempt) { .redirected(response, to: next) }
                request = next
                transfer.timeouts.total = deadline.map { max(.zero, ContinuousClock.now.duration(to: $0)) }
            }
        } catch {
            return .failure(error)
        }
    }

    /// The request that a response leads to; nil where it is no redirect, or is not followed.
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
            secretHeaders: (sending?.steps ?? pipeline.steps).secretHeaders,
            keepsCookies: transfer.cookies != nil
        )
    }

    private var redirects: RedirectPolicy {
        sending?.draft.options.redirects ?? pipeline.configuration.redirects
    }

    /// True for a redirect that is followed whatever its body, with no decision of the user's to ask.
    func follows(_ head: HTTPResponse, to request: HTTPRequest) -> Bool {
        guard head.status.class == .redirection, redirects.decide == nil else { return false }
        return (try? redirects.next(after: head, to: request, visited: [])) ?? nil != nil
    }

    /// A redirect that is followed by its head: its body is kept if it came along, and not waited for.
    func skipped(_ response: TransportResponse, to request: HTTPRequest) -> ServerResponse {
        response.body.drain()
        return ServerResponse(
            request: request,
            head: response.head,
            body: response.body.whole?.0 ?? Data(),
            metrics: response.body.metrics ?? TransferMetrics()
        )
    }

    /// A sink's transfer has none of the client's limits, but what it leaves goes into memory.
    private var collectionLimit: Int64? {
        sending?.sink == nil ? transfer.limits.body : transfer.limits.body ?? pipeline.configuration.limits.body
    }

    /// Sends a request.
    func transported(
        _ request: HTTPRequest,
        _ transfer: TransferContext
    ) async throws(SluiceError) -> TransportResponse {
        if let refusal = transfer.connection.refusal(of: request) { throw refusal }
        guard let sending else { return try await transport.send(request, context: transfer) }
        sending.tell(.sending, attempt) { .sending(request) }
        var transfer = transfer
        let note = sending.informationalNote(attempt)
        transfer.onInformational = note
        let plugins = sending.steps.informationalPlugins
        if plugins.isEmpty { return try await answered(request, transfer, sending) }
        // Plugins are told in this task's context, and of all before the final response goes on.
        let context = RequestContext(attempt: attempt, within: transfer.timeouts.total, of: sending)
        let (heads, arriving) = AsyncStream.makeStream(
            of: HTTPResponse.self,
            bufferingPolicy: .bufferingOldest(Self.informationalCapacity)
        )
        transfer.onInformational = { head in
            note?(head)
            arriving.yield(head)
        }
        async let telling: Void = {
            for await head in heads {
                for plugin in plugins { plugin.didReceive(informational: head, context: context) }
            }
        }()
        let answer: Result<TransportResponse, SluiceError>
        do throws(SluiceError) {
            answer = .success(try await answered(request, transfer, sending))
        } catch {
            answer = .failure(error)
        }
        arriving.finish()
        await telling
        return try answer.get()
    }

    /// Informational responses that may wait for plugins; those that come beyond are dropped.
    private static let informationalCapacity = 1024

    private func answered(
        _ request: HTTPRequest,
        _ transfer: TransferContext,
        _ sending: Sending
    ) async throws(SluiceError) -> TransportResponse {
        if sending.sink != nil, let limit = sending.retry.attemptTimeout {
            return try await TimedWork.outcome(within: limit, on: pipeline.time, else: .noHead(limit, request)) {
                () async throws(SluiceError) in try await transport.send(request, context: transfer)
            }
        }
        return try await transport.send(request, context: transfer)
    }

    /// Hands a response's body to those it is for: a sink, or memory.
    func collected(
        _ response: TransportResponse,
        to request: HTTPRequest,
        from source: ResponseSource = .server
    ) async throws(SluiceError) -> ServerResponse {
        let isTaken = try await sending?.sink?.receive(response, to: request) ?? false
        let body = isTaken ? Data() : try await response.body.collect(upTo: collectionLimit)
        return ServerResponse(
            request: request,
            head: response.head,
            body: body,
            metrics: response.body.metrics ?? TransferMetrics(),
            source: source,
            trailers: response.body.trailers ?? [:]
        )
    }
}

extension TransportOutcome {
    /// What is known of the server by it: nothing by an answer from the cache.
    var ofServer: TransportOutcome {
        guard case .success(let response) = self, response.isUnasked else { return self }
        return .failure(response.failure ?? .answeredByCache(response.request))
    }
}

extension SluiceError {
    fileprivate static func answeredByCache(_ request: HTTPRequest) -> SluiceError {
        SluiceError(.answeredByCache, "The cache has answered; nothing was sent.", step: .cache, request: request)
    }
}

extension ServerResponse {
    /// Whether the cache gave it without asking the server.
    var isUnasked: Bool {
        if case .cache(let use) = source { !use.isRevalidated } else { false }
    }
}

extension SluiceError {
    fileprivate static func noHead(_ limit: Duration, _ request: HTTPRequest) -> SluiceError {
        SluiceError(.timedOut, "No response began within the \(limit) allowed for an attempt.", request: request)
    }
}
