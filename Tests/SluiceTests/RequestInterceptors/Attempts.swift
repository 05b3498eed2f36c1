@testable import Sluice

/// The attempts of one request, as interceptors see them.
struct Attempts {
    private let call: Call

    init(
        _ method: HTTPMethod = .get,
        _ url: String = "https://a.b/x",
        headers: HTTPHeaders = [:],
        body: RequestBody = .none,
        tags: Set<String> = [],
        baseURL: String = "https://a.b"
    ) throws {
        let client = APIClient(baseURL: baseURL)
        let location = try RequestLocation(parsing: url)
        let request = HTTPRequest(
            method: method,
            scheme: location.scheme,
            authority: location.authority,
            path: location.target,
            headers: headers,
            body: body
        )
        var draft = RequestDraft(method: method, path: request.path)
        draft.tags = tags
        call = Call(request, draft, TransferContext(), .none, by: client, on: client.configuration.transport)
    }

    /// Returns the intercepted request of the next attempt.
    func next(_ interceptors: any RequestInterceptor...) async throws -> HTTPRequest {
        let context = call.nextAttempt()
        var request = context.request
        for interceptor in interceptors { request = try await interceptor.intercept(request, context: context) }
        return request
    }
}
