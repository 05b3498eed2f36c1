#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The front door to requests whose model one given serializer makes.
public struct SerializedRequests<Model: Sendable>: Sendable {
    let client: APIClient
    let serializer: any ResponseSerializer<Model>

    /// Makes a GET request whose error the context names.
    ///
    /// - Parameter path: Appended to the base URL, with a query if it has one; or a whole URL in its place.
    /// - Returns: A value to modify and send.
    public func request<ErrorModel: ErrorSerializable>(_ path: String) -> APIRequest<Model, ErrorModel> {
        APIRequest(
            client: client,
            path: path,
            serializer: serializer,
            errorDecoder: client.configuration.errorDecoder
        )
    }

    /// Makes a GET request that fails with an ``APIError``, for where the context names no error.
    ///
    /// - Parameter path: Appended to the base URL, with a query if it has one; or a whole URL in its place.
    /// - Returns: A value to modify and send.
    @_disfavoredOverload
    public func request(_ path: String) -> APIRequest<Model, APIError> {
        APIRequest(
            client: client,
            path: path,
            serializer: serializer,
            errorDecoder: client.configuration.errorDecoder
        )
    }
}
