import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Why there is no stream, with the body of a response that was not accepted.
struct StreamFailure: Error {
    let error: SluiceError
    var body = Data()
}

extension StreamRequest {
    /// Sends the request and takes the body of a response that is accepted.
    ///
    /// - Parameter check: Throws for a response that is none of those there should be, though the request accepts it.
    /// - Returns: The body.
    /// - Throws: Why there is none.
    func begun(
        _ check: @escaping @Sendable (HTTPResponse) throws(SluiceError) -> Void = { _ in }
    ) async throws(StreamFailure) -> StreamedBody {
        let pipeline = client.pipeline
        let validation = draft.options.validation.applied(to: pipeline.configuration.validation)
        let sink = StreamSink { head, request in
            // A redirect that is followed has a body too; it is not for whoever reads the stream.
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
        // What a sink did not take, an interceptor has made.
        return StreamedBody(sink.body() ?? ResponseBody(response.body), response, landing.sending)
    }

    /// The error model of a failure.
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
    /// What is wrong with a response whose body is still to come.
    fileprivate func failure(
        of head: HTTPResponse,
        to request: HTTPRequest,
        _ check: (HTTPResponse) throws(SluiceError) -> Void
    ) -> SluiceError? {
        // A type is asked of no empty body, so here is one that is not.
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
