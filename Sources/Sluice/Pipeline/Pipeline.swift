import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The order in which a request meets the steps, written here and nowhere else.
///
///     1  explicit data source      asked before any gate
///     2  gates                     in the order given
///     3  request interceptors      in the order given
///     4  HTTP cache                sees the final headers
///     5  transport                 redirects come back to 4
///     6  response interceptors     in the order given
///     7  validation, serialization
///
/// The two caches have their places but nothing to ask yet: every request goes to the server.
///
/// A class, so that the steps of a request share the configuration without copying it.
final class Pipeline: Sendable {
    let baseURL: String
    let base: Result<RequestLocation, SluiceError>
    let configuration: APIClient.Configuration
    /// The configuration's, for all requests to share.
    let modelDecoder: SharedDecoder
    /// The transport, where it is the only step that has anything to do.
    private let directTransport: (any CallbackTransport)?

    init(baseURL: String, configuration: APIClient.Configuration) {
        self.baseURL = baseURL
        base = Result { () throws(SluiceError) in try RequestLocation(parsing: baseURL) }
        self.configuration = configuration
        modelDecoder = SharedDecoder(configuration.modelDecoder)
        let isDirect =
            configuration.gates.isEmpty && configuration.requestInterceptors.isEmpty
            && configuration.responseInterceptors.isEmpty
        directTransport = isDirect ? configuration.transport as? any CallbackTransport : nil
    }

    /// Runs steps 1 to 6 for a request that is built first, beginning on the calling thread.
    ///
    /// - Parameters:
    ///   - draft: What to build it of.
    ///   - completion: Called once with the server's response, whatever its status, on any thread.
    /// - Returns: What stops it.
    func begin(_ draft: RequestDraft, completion: @escaping @Sendable (TransportOutcome) -> Void)
        -> Flight<Landing>.Stop
    {
        if configuration.answersWithSamples, let sample = draft.sampleResponse {
            var draft = draft
            draft.sampleResponse = nil
            return answering(with: sample).begin(draft, completion: completion)
        }
        let request: HTTPRequest
        do {
            request = try draft.build(for: self)
        } catch {
            completion(.failure(error))
            return {}
        }
        let transfer = transferContext(of: draft.options)
        if let transport = directTransport, !request.body.needsPreparation {
            return DirectExchange(self, request, transfer, completion).begin(on: transport)
        }
        let context = RequestContext(request: request, transfer: transfer, tags: draft.tags)
        let task = startedTask { [self] in completion(await outcome(of: context)) }
        return { task.cancel() }
    }

    private func transferContext(of options: RequestOptions) -> TransferContext {
        TransferContext(
            timeouts: options.timeouts.applied(to: configuration.timeouts),
            limits: options.limits.applied(to: configuration.limits),
            networkAccess: options.networkAccess,
            cookies: options.usesCookies ? configuration.cookies : nil
        )
    }

    private func answering(with sample: SampleResponse) -> Pipeline {
        var configuration = configuration
        configuration.transport = SampleTransport(sample: sample)
        return Pipeline(baseURL: baseURL, configuration: configuration)
    }

    /// Runs the work on this thread up to where it first waits, where the system can: that spares a hop.
    private func startedTask(_ work: sending @escaping @isolated(any) () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            Task.immediate(operation: work)
        } else {
            Task(operation: work)
        }
    }

    /// Steps 1 to 6: brings the server's response, whatever its status.
    private func outcome(of context: RequestContext) async -> TransportOutcome {
        if let stored = explicitSource(context) { return stored }
        if configuration.gates.isEmpty { return await admitted(context) }
        var passes: [Pass] = []
        let outcome: TransportOutcome
        do {
            for gate in configuration.gates { passes.append(try await gate.admit(context)) }
            outcome = await admitted(context)
        } catch {
            outcome = .failure(error.with(step: .gate, request: context.request))
        }
        for pass in passes.reversed() { _ = await pass.giveBack(outcome) }
        return outcome
    }

    /// Step 7: judges the response and makes the model.
    func model<Model>(
        from response: ServerResponse,
        _ draft: RequestDraft,
        _ serializer: any ResponseSerializer<Model>
    ) throws(SluiceError) -> Model {
        do {
            try draft.options.validation.applied(to: configuration.validation).check(response)
            return try draft.options.modelLocation.model(in: response, configuration.envelope, by: serializer)
        } catch {
            throw error.with(request: response.request, response: response.head)
        }
    }

    private func explicitSource(_ context: RequestContext) -> TransportOutcome? {
        nil
    }

    private func admitted(_ context: RequestContext) async -> TransportOutcome {
        var outcome: TransportOutcome
        do {
            let deadline = context.transfer.timeouts.total.map { ContinuousClock.now + $0 }
            outcome = .success(try await exchange(intercepted(context), context.transfer, until: deadline))
        } catch {
            outcome = .failure(error)
        }
        for interceptor in configuration.responseInterceptors {
            outcome = await interceptor.intercept(outcome, context: context)
        }
        return outcome
    }

    private func intercepted(_ context: RequestContext) async throws(SluiceError) -> HTTPRequest {
        var request = context.request
        for interceptor in configuration.requestInterceptors {
            do {
                request = try await interceptor.intercept(request, context: context)
            } catch let error as SluiceError {
                throw error.with(step: .requestInterceptor, request: request)
            } catch {
                throw SluiceError(
                    .interceptorFailed,
                    "A request interceptor failed.",
                    step: .requestInterceptor,
                    request: request,
                    underlyingError: error
                )
            }
        }
        return request
    }

    /// Step 5 with its redirects.
    ///
    /// - Parameters:
    ///   - first: What to send.
    ///   - transfer: Time-outs and limits.
    ///   - deadline: The end of the total time, which covers all redirects.
    ///   - begun: The response to the first request, where it has been sent already.
    /// - Returns: The last response.
    /// - Throws: A ``SluiceError`` of the transport or of a redirect.
    func exchange(
        _ first: HTTPRequest,
        _ transfer: TransferContext,
        until deadline: ContinuousClock.Instant?,
        begun: TransportResponse? = nil
    ) async throws(SluiceError) -> ServerResponse {
        var request = first
        var transfer = transfer
        var begun = begun
        var visited: [String] = []
        while true {
            let response = try await cached(request, transfer, begun.take())
            guard response.head.status.class == .redirection else { return response }
            visited.append(RedirectPolicy.key(request))
            guard
                let next = try configuration.redirects.next(after: response.head, to: request, visited: visited)
            else { return response }
            request = next
            transfer.timeouts.total = deadline.map { max(.zero, ContinuousClock.now.duration(to: $0)) }
        }
    }

    private func cached(
        _ request: HTTPRequest,
        _ transfer: TransferContext,
        _ begun: TransportResponse?
    ) async throws(SluiceError) -> ServerResponse {
        try await transport(request, transfer, begun)
    }

    private func transport(
        _ request: HTTPRequest,
        _ transfer: TransferContext,
        _ begun: TransportResponse?
    ) async throws(SluiceError) -> ServerResponse {
        let response: TransportResponse
        if let begun {
            response = begun
        } else {
            response = try await configuration.transport.send(request, context: transfer)
        }
        let body = try await response.body.collect(upTo: transfer.limits.body)
        return ServerResponse(
            request: request,
            head: response.head,
            body: body,
            metrics: response.body.metrics ?? TransferMetrics()
        )
    }
}
