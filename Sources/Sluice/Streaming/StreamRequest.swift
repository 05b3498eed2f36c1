import SluiceFoundation
import SluiceHTTP

/// A request whose response is read while it arrives.
///
/// ```swift
/// for try await line in logs.stream("today").lines { print(line) }
///
/// let answer = ai.stream("chat").post(.json(["prompt": "Why is the sky blue?"]))
/// for try await event in answer.serverSentEvents() { print(event.data, terminator: "") }
/// ```
///
/// Its steps are those of an ``APIRequest``, up to the head of the response. Gates release their permits when the head
/// of an accepted response arrives. Interceptors and retries do not see the body. The body of a rejected response is
/// available to the request's error model. The rules of ``Validation`` receive an empty body.
///
/// The client's limits on the whole body, ``ResponseLimits/body`` and ``Timeouts/total``, apply to the body of a
/// rejected response only. A body that does not end within that time is empty. If the status is a success, the body may
/// have no end: it is empty if it does not end within a second and 64 KiB, or within ten seconds if its length is
/// announced and at most 1 MiB. Limits that the request itself sets always apply.
public struct StreamRequest<ErrorModel: ErrorSerializable>: ModifiableRequest {
    /// The client that sends the request.
    public let client: APIClient
    /// All properties of the request, without its types.
    public var draft: RequestDraft
    /// The error decoder; nil for the client's decoder.
    let errorDecoder: (any DataDecoder)?
    /// Nil for the initializer of the error model.
    var errorSerializer: (@Sendable (RequestFailure) -> ErrorModel)?

    init(_ client: APIClient, _ draft: RequestDraft, _ errorDecoder: (any DataDecoder)? = nil) {
        self.client = client
        self.draft = draft
        self.errorDecoder = errorDecoder
    }

    /// Sends the request and returns when the head of an accepted response has arrived.
    ///
    /// - Returns: The head, and a body that is still arriving.
    /// - Throws: The request's error model, also for a cancellation.
    public func response() async throws(ErrorModel) -> StreamedResponse<ErrorModel> {
        do throws(StreamFailure) {
            return StreamedResponse(try await begun(), self)
        } catch {
            throw model(of: error)
        }
    }

    /// Builds the request as it is passed to the first gate.
    ///
    /// - Returns: The method, URL, headers and body.
    /// - Throws: A ``SluiceError`` of the step ``SluiceError/Step/building``.
    public func httpRequest() throws(SluiceError) -> HTTPRequest {
        try draft.build(for: client.pipeline)
    }
}

extension StreamRequest {
    /// Sets the method to POST: `.post(.json(question))`.
    public consuming func post(_ body: RequestBody? = nil) -> Self { method(.post, body) }

    /// Sets the method and the body.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - body: The request body; nil for none.
    /// - Returns: A copy with that method and body.
    public consuming func method(_ method: HTTPMethod, _ body: RequestBody? = nil) -> Self {
        modified { draft in
            draft.method = method
            draft.body = body
        }
    }
}

extension APIClient {
    /// Creates a request whose response is read while it arrives and that fails with an ``APIError``.
    ///
    /// - Parameter endpoint: A path appended to the base URL, a complete URL, a URI template, or a target.
    /// - Returns: A request to configure and read. Its method is GET unless the endpoint sets another.
    public func stream(_ endpoint: some Endpoint) -> StreamRequest<APIError> {
        StreamRequest(self, RequestDraft(endpoint, pipeline.configuration.endpointMapping))
    }

    /// Creates a request whose response is read while it arrives, with the error model that the context determines.
    @_disfavoredOverload
    public func stream<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        error: ErrorModel.Type = ErrorModel.self
    ) -> StreamRequest<ErrorModel> {
        StreamRequest(self, RequestDraft(endpoint, pipeline.configuration.endpointMapping))
    }
}

extension APIRequest {
    /// Returns this request with its response read while it arrives instead of decoded.
    public consuming func stream() -> StreamRequest<ErrorModel> {
        var request = StreamRequest<ErrorModel>(client, draft, errorDecoder)
        request.errorSerializer = errorSerializer
        return request
    }
}

extension BodyRequest {
    /// Returns this request, without a body, with its response read while it arrives instead of decoded.
    public consuming func stream() -> StreamRequest<ErrorModel> {
        request.stream()
    }
}

extension StreamRequest: StreamReadable {
    /// The non-empty chunks of bytes, as they arrive. Iterating over them sends the request.
    public var bytes: StreamSequence<Data, ErrorModel> {
        StreamSequence(request: self, body: nil) { ChunkParser() }
    }
}

// MARK: - Sending

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
        guard let running = RunningStream(in: pipeline.running) else {
            throw StreamFailure(error: pipeline.refusal(of: draft))
        }
        do throws(StreamFailure) {
            return try await begun(check, running)
        } catch {
            running.end()
            throw error
        }
    }

    private func begun(
        _ check: @escaping @Sendable (HTTPResponse) throws(SluiceError) -> Void,
        _ running: RunningStream
    ) async throws(StreamFailure) -> StreamedBody {
        let pipeline = client.pipeline
        let validation = draft.options.validation.applied(to: pipeline.configuration.validation)
        let sink = StreamSink { head, request in validation.failure(of: head, to: request, check) }
        let callOutcome = await running.send { [draft] in
            await pipeline.callOutcome(of: draft, into: sink, nil)
        } dropping: {
            sink.result().body?.cancel()
        }
        let response: ServerResponse
        switch callOutcome.outcome {
        case .failure(let error):
            callOutcome.call?.finish(.failure(error))
            throw StreamFailure(error: error)
        case .success(let outcome): response = outcome
        }
        if let error = validation.failure(of: response.head, to: response.request, check) {
            callOutcome.call?.finish(.failure(error))
            throw StreamFailure(error: error, body: response.body)
        }
        // An interceptor may have provided the response, with its body. The server's is then dropped.
        let (streamed, refusal) = sink.result()
        if response.body.isEmpty, let refusal {
            // An interceptor accepts the head, but the body was not read to its end.
            callOutcome.call?.finish(.failure(refusal))
            throw StreamFailure(error: refusal)
        }
        let body = response.body.isEmpty ? streamed : nil
        return StreamedBody(body ?? ResponseBody(response.body), response, callOutcome.call, running)
    }

    func model(of failure: StreamFailure) -> ErrorModel {
        let configuration = client.pipeline.configuration
        let failure = RequestFailure(
            error: failure.error.withoutReplacedResponse.naming(draft, of: client),
            body: failure.error.replacedResponse?.body ?? failure.body,
            decoder: errorDecoder ?? configuration.errorDecoder ?? configuration.modelDecoder,
            envelope: draft.modelLocation.envelope(orOf: configuration.envelope)
        )
        return errorSerializer?(failure) ?? ErrorModel(failure)
    }
}

extension Validation {
    /// Returns the error that validation or a check reports for a response whose body has not arrived yet, or nil.
    fileprivate func failure(
        of head: HTTPResponse,
        to request: HTTPRequest,
        _ check: (HTTPResponse) throws(SluiceError) -> Void
    ) -> SluiceError? {
        do throws(SluiceError) {
            if let failure = failure(of: head) { throw failure }
            try check(head)
            return nil
        } catch {
            return error.with(request: request, response: head)
        }
    }
}

/// A sink that stores the body of an accepted response for the reader of the stream.
final class StreamSink: ResponseSink {
    private let failure: @Sendable (HTTPResponse, HTTPRequest) -> SluiceError?
    /// The accepted body, and the error of a response whose body was dropped.
    private let stored = Locked<(body: ResponseBody?, refusal: SluiceError?)>((nil, nil))

    /// - Parameter failure: Returns the error of a response that is not accepted.
    init(_ failure: @escaping @Sendable (HTTPResponse, HTTPRequest) -> SluiceError?) {
        self.failure = failure
    }

    /// Takes the body of the last response, or the error if its body was dropped.
    func result() -> (body: ResponseBody?, refusal: SluiceError?) {
        stored.exchange((nil, nil))
    }

    func adapt(_ request: inout HTTPRequest) {
        // The body of an earlier attempt is not that of this one.
        dropBody()
    }

    func dropBody() {
        stored.exchange((nil, nil)).body?.cancel()
    }

    func receive(
        _ response: TransportResponse,
        to request: HTTPRequest,
        redirectedFrom first: HTTPRequest?
    ) async throws(SluiceError) -> ResponseBody? {
        let failure = failure(response.head, request)
        switch response.head.status.class {
        // A redirect response has a body too, which the caller must not see.
        case .redirection: return response.body
        case .success where failure != nil:
            if let body = try await response.refusedBody(of: request.method) { return body }
            stored.withLock { $0.refusal = failure }
            return ResponseBody(Data())
        default:
            if failure != nil { return response.body }
            stored.withLock { $0.body = response.body }
            return nil
        }
    }
}

extension StreamRequest: CustomStringConvertible, CustomReflectable, RedactedMirror {}
