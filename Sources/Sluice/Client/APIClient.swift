import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where requests to one API are made: a base URL, and what all of them share.
///
/// ```swift
/// let github = APIClient(baseURL: "https://api.github.com") {
///     $0.headers["Accept"] = "application/vnd.github+json"
/// }
/// let user: User = try await github.codable.request("users/apple").sender().value
/// ```
///
/// A client is a value: copy it, keep it, drop it. There is nothing to shut down. A base URL that is not valid fails each
/// request with ``SluiceError/Code/invalidURL``.
public struct APIClient: Sendable {
    /// Shared by all copies and by every request, so that a request carries one pointer.
    let pipeline: Pipeline

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - baseURL: An absolute http or https URL; the paths of requests are appended to it.
    ///   - configure: Changes the configuration from its defaults.
    public init(baseURL: String, configure: (inout Configuration) -> Void = { _ in }) {
        var configuration = Configuration()
        configure(&configuration)
        pipeline = Pipeline(baseURL: baseURL, configuration: configuration)
    }

    /// What the client was made with.
    public var configuration: Configuration { pipeline.configuration }

    /// Requests whose model is decoded from JSON by the client's decoders.
    public var codable: CodableRequests {
        CodableRequests(
            client: self,
            modelDecoder: configuration.modelDecoder,
            errorDecoder: configuration.errorDecoder
        )
    }

    /// Requests whose model is decoded from JSON by decoders of their own.
    ///
    /// - Parameters:
    ///   - modelDecoder: Decodes the model of a response that is accepted; nil for the client's.
    ///   - errorDecoder: Decodes the body of one that is not; nil for the client's.
    /// - Returns: Where such requests are made.
    public func codable(modelDecoder: JSONDecoder? = nil, errorDecoder: JSONDecoder? = nil) -> CodableRequests {
        CodableRequests(
            client: self,
            modelDecoder: modelDecoder ?? configuration.modelDecoder,
            errorDecoder: errorDecoder ?? configuration.errorDecoder
        )
    }

    /// Requests whose model is the body as it came.
    public var data: SerializedRequests<Data> { serialized(by: DataSerializer()) }

    /// Requests whose model a serializer of one's own makes.
    public func serialized<Model>(by serializer: some ResponseSerializer<Model>) -> SerializedRequests<Model> {
        SerializedRequests(client: self, serializer: serializer)
    }
}
