#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The front door to requests whose model is `Decodable`.
public struct CodableRequests: Sendable {
    let client: APIClient
    let modelDecoder: JSONDecoder
    let errorDecoder: JSONDecoder

    /// Makes a GET request whose model and error the context names.
    ///
    /// ```swift
    /// let request: APIRequest<User, GitHubError> = github.codable.request("users/apple")
    /// ```
    ///
    /// - Parameters:
    ///   - path: Appended to the base URL, with a query if it has one; or a whole URL in its place.
    ///   - model: The model, where the context does not name it.
    /// - Returns: A value to modify and send.
    public func request<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ path: String,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        APIRequest(
            client: client,
            path: path,
            serializer: CodableSerializer<Model>(decoder: modelDecoder),
            errorDecoder: errorDecoder
        )
    }

    /// Makes a GET request that fails with an ``APIError``, for where the context names no error.
    ///
    /// - Parameters:
    ///   - path: Appended to the base URL, with a query if it has one; or a whole URL in its place.
    ///   - model: The model, where the context does not name it.
    /// - Returns: A value to modify and send.
    @_disfavoredOverload
    public func request<Model: Decodable & Sendable>(
        _ path: String,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        APIRequest(
            client: client,
            path: path,
            serializer: CodableSerializer<Model>(decoder: modelDecoder),
            errorDecoder: errorDecoder
        )
    }
}
