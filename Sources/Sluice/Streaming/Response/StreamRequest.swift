import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request whose response is read while it arrives.
///
/// ```swift
/// for try await line in logs.stream("today").lines { print(line) }
///
/// let answer = ai.stream("chat").post(.json(["prompt": "Why is the sky blue?"]))
/// for try await event in answer.serverSentEvents() { print(event.data, terminator: "") }
/// ```
///
/// It meets the same steps as an ``APIRequest``, up to the response's head: gates get their passes back with it, interceptors and
/// retries see no more of it. A response that is not accepted is collected, and thrown as the request's error. ``Validation``'s
/// rules are asked with an empty body.
///
/// Of the client's limits and time-outs those on the whole body do not hold, ``ResponseLimits/body`` and ``Timeouts/total``; those
/// that the request sets itself do.
public struct StreamRequest<ErrorModel: ErrorSerializable>: ModifiableRequest {
    /// Where it is sent.
    public let client: APIClient
    /// All that the request says of itself, without its types.
    public var draft: RequestDraft
    /// Nil for the client's.
    let errorDecoder: (any DataDecoder)?

    init(_ client: APIClient, _ draft: RequestDraft, _ errorDecoder: (any DataDecoder)? = nil) {
        self.client = client
        self.draft = draft
        self.errorDecoder = errorDecoder
    }

    /// Sends the request; returns as soon as the head of an accepted response is there.
    ///
    /// - Returns: The head, and what arrives behind it.
    /// - Throws: The request's error model, cancellation included.
    public func response() async throws(ErrorModel) -> StreamedResponse<ErrorModel> {
        do throws(StreamFailure) {
            return StreamedResponse(try await begun(), self)
        } catch {
            throw model(of: error)
        }
    }

    /// The request as it would go to the first gate.
    ///
    /// - Returns: Method, URL, headers and body.
    /// - Throws: A ``SluiceError`` of the step ``SluiceError/Step/building``.
    public func httpRequest() throws(SluiceError) -> HTTPRequest {
        try draft.build(for: client.pipeline)
    }
}

extension StreamRequest {
    /// Makes it a GET, without a body.
    public consuming func get() -> Self { method(.get) }
    /// Makes it a DELETE, without a body.
    public consuming func delete() -> Self { method(.delete) }
    /// Makes it a POST: `.post(.json(question))`.
    public consuming func post(_ body: RequestBody? = nil) -> Self { method(.post, body) }
    /// Makes it a PUT.
    public consuming func put(_ body: RequestBody? = nil) -> Self { method(.put, body) }
    /// Makes it a PATCH.
    public consuming func patch(_ body: RequestBody? = nil) -> Self { method(.patch, body) }

    /// Sets any method.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - body: What is sent after the head; nil for nothing.
    /// - Returns: A copy with that method and that body.
    public consuming func method(_ method: HTTPMethod, _ body: RequestBody? = nil) -> Self {
        modified { draft in
            draft.method = method
            draft.body = body
        }
    }
}

extension APIClient {
    /// Makes a request whose response is read while it arrives, and whose error the context names.
    ///
    /// - Parameter endpoint: A path appended to the base URL, or a whole URL in its place; a template; a target.
    /// - Returns: A value to modify and read, a GET unless the endpoint says otherwise.
    public func stream<ErrorModel: ErrorSerializable>(_ endpoint: some Endpoint) -> StreamRequest<ErrorModel> {
        StreamRequest(self, RequestDraft(endpoint, pipeline.configuration.endpointMapping))
    }

    /// Makes a request whose response is read while it arrives and that fails with an ``APIError``, for where the context names no
    /// error.
    @_disfavoredOverload
    public func stream(_ endpoint: some Endpoint) -> StreamRequest<APIError> {
        StreamRequest(self, RequestDraft(endpoint, pipeline.configuration.endpointMapping))
    }
}

extension APIRequest {
    /// The same request, whose response is read while it arrives, in the place of its model.
    public consuming func stream() -> StreamRequest<ErrorModel> {
        StreamRequest(client, draft, errorDecoder)
    }
}

extension BodyRequest {
    /// The same request without a body, whose response is read while it arrives, in the place of its model.
    public consuming func stream() -> StreamRequest<ErrorModel> {
        request.stream()
    }
}
