import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request whose model and error are known before it is sent.
///
/// It is a value: every modifier gives a changed copy, and ``sender()`` can be asked for as often as the request is to
/// be sent.
///
/// ```swift
/// let search: APIRequest<Page<User>, GitHubError> = github.codable.request("search/users")
///     .query("q", "swift")
///     .timeout(total: .seconds(5))
/// let page = try await search.sender().value
/// ```
public struct APIRequest<Model: Sendable, ErrorModel: ErrorSerializable>: Sendable {
    /// Where it is sent.
    public let client: APIClient
    var draft: RequestDraft
    let serializer: any ResponseSerializer<Model>
    let errorDecoder: JSONDecoder

    init(
        client: APIClient,
        path: String,
        serializer: any ResponseSerializer<Model>,
        errorDecoder: JSONDecoder
    ) {
        self.client = client
        self.draft = RequestDraft(path: path)
        self.serializer = serializer
        self.errorDecoder = errorDecoder
    }

    /// Makes a sender, which sends the request once, when it is first asked for the outcome.
    public func sender() -> RequestSender<Model, ErrorModel> {
        RequestSender(self)
    }

    /// The request as it would go to the first gate.
    ///
    /// - Returns: Method, URL, headers and body.
    /// - Throws: A ``SluiceError`` of the step ``SluiceError/Step/building``.
    public func httpRequest() throws(SluiceError) -> HTTPRequest {
        try draft.build(for: client.pipeline)
    }

    func modified(_ change: (inout RequestDraft) -> Void) -> Self {
        var copy = self
        change(&copy.draft)
        return copy
    }
}
