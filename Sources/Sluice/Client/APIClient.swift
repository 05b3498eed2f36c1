import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A client for one API: it creates requests that share a base URL and a configuration.
///
/// ```swift
/// let github = APIClient(baseURL: "https://api.github.com") {
///     $0.headers["Accept"] = "application/vnd.github+json"
/// }
/// let user: User = try await github.codable.request("users/apple").sender().value
/// ```
///
/// A client is a value and needs no shutdown. A base URL that is not valid fails each request with
/// ``SluiceError/Code/invalidURL``.
public struct APIClient: Sendable {
    /// Shared by all copies and by every request, which hold only a pointer to it.
    let pipeline: Pipeline

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: An absolute http or https URL, to which the paths of requests are appended. It can be omitted if
    ///     every request has its own, as a ``Target`` does.
    ///   - configure: Called with the default configuration, to change it. An error it throws is rethrown.
    public init(baseURL: String = "", configure: (inout Configuration) throws -> Void) rethrows {
        var configuration = Configuration()
        try configure(&configuration)
        pipeline = Pipeline(baseURL: baseURL, configuration: configuration)
    }

    /// Creates a client with the default configuration.
    ///
    /// - Parameter baseURL: An absolute http or https URL, to which the paths of requests are appended.
    public init(baseURL: String = "") {
        self.init(baseURL: baseURL) { _ in }
    }

    /// The configuration that the client was created with.
    public var configuration: Configuration { pipeline.configuration }

    init(pipeline: Pipeline) {
        self.pipeline = pipeline
    }

    /// Waits until the client's observers have received all events so far, for example before a
    /// report is written or in a test.
    public func observersCaughtUp() async {
        for observer in pipeline.steps.observers { await observer.deliverAll() }
    }
}
