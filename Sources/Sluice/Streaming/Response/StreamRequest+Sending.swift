import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The error of a stream request, with the body of the response that was not accepted.
struct StreamFailure: Error {
    let error: SluiceError
    var body = Data()
}

extension StreamRequest {
    /// Sends the request and returns the body of an accepted response.
    ///
    /// - Parameter check: Called with the head of a response that passes the request's validation. Throws to reject it.
    /// - Returns: The response body.
    /// - Throws: The error, with the body of a rejected response.
    func begun(
        _ check: @escaping @Sendable (HTTPResponse) throws(SluiceError) -> Void = { _ in }
    ) async throws(StreamFailure) -> StreamedBody {
        let pipeline = client.pipeline
        let validation = draft.options.validation.applied(to: pipeline.configuration.validation)
        let sink = StreamSink { head, request in
            // A redirect response has a body too, which the caller must not see.
            head.status.class != .redirection && validation.failure(of: head, to: request, check) == nil
        }
        let landing = await pipeline.landing(of: draft, into: sink, nil)
        let response: ServerResponse
        switch landing.outcome {
        case .failure(let error):
            landing.sending?.finish(.failure(error))
            throw StreamFailure(error: error)
        case .success(let outcome): response = outcome
        }
        if let error = validation.failure(of: response.head, to: response.request, check) {
            landing.sending?.finish(.failure(error))
            throw StreamFailure(error: error, body: response.body)
        }
        // The sink has no body if an interceptor provided the response.
        return StreamedBody(sink.body() ?? ResponseBody(response.body), response, landing.sending)
    }

    /// Creates the error model for a failure.
    func model(of failure: StreamFailure) -> ErrorModel {
        let configuration = client.pipeline.configuration
        return ErrorModel(
            RequestFailure(
                error: failure.error,
                body: failure.body,
                decoder: errorDecoder ?? configuration.errorDecoder,
                envelope: draft.options.modelLocation.envelope(orOf: configuration.envelope)
            )
        )
    }
}

extension Validation {
    /// Returns the error that validation reports for a response whose body has not arrived yet, or nil.
    fileprivate func failure(
        of head: HTTPResponse,
        to request: HTTPRequest,
        _ check: (HTTPResponse) throws(SluiceError) -> Void
    ) -> SluiceError? {
        // An empty body skips the content type check, so validate with a non-empty placeholder.
        let body = head.status == .noContent ? Data() : Data([0])
        let rules = rules.map { rule in { @Sendable head, _ in try rule(head, Data()) } as Rule }
        do throws(SluiceError) {
            try Validation(statuses: statuses, contentTypes: contentTypes, rules: rules)
                .check(ServerResponse(request: request, head: head, body: body))
            try check(head)
            return nil
        } catch {
            return error.with(request: request, response: head)
        }
    }
}
