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
    ///   - baseURL: An absolute http or https URL; the paths of requests are appended to it. It may be left out where every
    ///     request brings its own, as a ``Target`` does.
    ///   - configure: Changes the configuration from its defaults; what it throws is thrown.
    public init(baseURL: String = "", configure: (inout Configuration) throws -> Void) rethrows {
        var configuration = Configuration()
        try configure(&configuration)
        pipeline = Pipeline(baseURL: baseURL, configuration: configuration)
    }

    /// Makes a client of the defaults.
    ///
    /// - Parameter baseURL: An absolute http or https URL; the paths of requests are appended to it.
    public init(baseURL: String = "") {
        self.init(baseURL: baseURL) { _ in }
    }

    /// What the client was made with.
    public var configuration: Configuration { pipeline.configuration }

    init(pipeline: Pipeline) {
        self.pipeline = pipeline
    }

    /// Waits until the client's observers have been told of all that has happened so far: before a report is written, say, or in a
    /// test.
    public func observersCaughtUp() async {
        for observer in pipeline.steps.observers { await observer.deliverAll() }
    }
}
