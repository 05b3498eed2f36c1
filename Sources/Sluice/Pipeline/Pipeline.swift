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
    let base: Result<BaseURL, SluiceError>
    let configuration: APIClient.Configuration

    init(baseURL: String, configuration: APIClient.Configuration) {
        base = BaseURL.parse(baseURL)
        self.configuration = configuration
    }

    /// Builds a request and brings the server's response to it, whatever its status.
    func outcome(of draft: RequestDraft) async -> TransportOutcome {
        do throws(SluiceError) {
            let request = try draft.build(for: self)
            let transfer = TransferContext(
                timeouts: draft.timeouts ?? configuration.timeouts,
                limits: draft.limits ?? configuration.limits
            )
            return await outcome(of: request, transfer)
        } catch {
            return .failure(error)
        }
    }

    /// Steps 1 to 6: brings the server's response, whatever its status.
    private func outcome(of request: HTTPRequest, _ transfer: TransferContext) async -> TransportOutcome {
        let context = RequestContext(request: request, transfer: transfer)
        if let stored = explicitSource(context) { return stored }
        if configuration.gates.isEmpty { return await admitted(context) }
        var passes: [Pass] = []
        let outcome: TransportOutcome
        do {
            for gate in configuration.gates { passes.append(try await gate.admit(context)) }
            outcome = await admitted(context)
        } catch {
            outcome = .failure(error.with(step: .gate, request: request))
        }
        for pass in passes.reversed() { await pass.giveBack(outcome) }
        return outcome
    }

    /// Step 7: judges the response and makes the model.
    func model<Model>(
        from response: ServerResponse,
        _ validation: Validation?,
        _ serializer: any ResponseSerializer<Model>
    ) throws(SluiceError) -> Model {
        do {
            try (validation ?? configuration.validation).check(response)
            return try serializer.serialize(response)
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
            outcome = .success(try await exchange(intercepted(context), context.transfer))
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

    private func exchange(
        _ first: HTTPRequest,
        _ transfer: TransferContext
    ) async throws(SluiceError) -> ServerResponse {
        var request = first
        var transfer = transfer
        var visited: [String] = []
        let deadline = transfer.timeouts.total.map { ContinuousClock.now + $0 }
        while true {
            let response = try await cached(request, transfer)
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
        _ transfer: TransferContext
    ) async throws(SluiceError) -> ServerResponse {
        try await transport(request, transfer)
    }

    private func transport(
        _ request: HTTPRequest,
        _ transfer: TransferContext
    ) async throws(SluiceError) -> ServerResponse {
        let response = try await configuration.transport.send(request, context: transfer)
        let body = try await response.body.collect(upTo: transfer.limits.body)
        return ServerResponse(
            request: request,
            head: response.head,
            body: body,
            metrics: response.body.metrics ?? TransferMetrics()
        )
    }
}
