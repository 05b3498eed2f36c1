#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The options of the service: its address, its upstream and its credentials.
///
/// ```swift
/// let options = try ServiceOptions(environment: ProcessInfo.processInfo.environment)
/// ```
public struct ServiceOptions: Sendable {
    /// The address to listen on, `HOST`; 127.0.0.1 by default.
    public var host = "127.0.0.1"
    /// The port to listen on, `PORT`; 8080 by default, and 0 for a port that the system chooses.
    public var port = 8080
    /// The base URL of the upstream API, `UPSTREAM_URL`.
    public var upstreamURL: String
    /// The URL of the token endpoint, `TOKEN_URL`.
    public var tokenURL: String
    /// The client ID for the token endpoint, `CLIENT_ID`.
    public var clientID: String
    /// The client secret for the token endpoint, `CLIENT_SECRET`.
    public var clientSecret: String
    /// The directory for responses cached on disk, `CACHE_DIRECTORY`; memory only by default.
    public var cacheDirectory: String?
    /// The maximum duration of a request, `MAXIMUM_TIMEOUT` in seconds; 10 seconds by default.
    public var maximumTimeout: Duration = .seconds(10)
    /// The maximum time to warm the client before the service is ready, `WARM_UP_TIMEOUT` in seconds; 5 seconds by default, 0 for no
    /// warm-up.
    public var warmUpTimeout: Duration = .seconds(5)
    /// The time between the end of the readiness and that of the server, `SHUTDOWN_DELAY` in seconds; none by default.
    public var shutdownDelay: Duration = .zero

    /// Creates options from the values that have no default.
    public init(upstreamURL: String, tokenURL: String, clientID: String, clientSecret: String) {
        self.upstreamURL = upstreamURL
        self.tokenURL = tokenURL
        self.clientID = clientID
        self.clientSecret = clientSecret
    }

    /// Reads the options from their environment variables.
    ///
    /// - Parameter environment: The variables. An empty variable counts as missing.
    /// - Throws: An ``InvalidOption`` with the name of a missing or invalid variable, without its value.
    public init(environment: [String: String]) throws(InvalidOption) {
        let variables = environment.filter { !$0.value.isEmpty }
        func required(_ name: String) throws(InvalidOption) -> String {
            guard let value = variables[name] else { throw InvalidOption(name, "is missing") }
            return value
        }
        self.init(
            upstreamURL: try required("UPSTREAM_URL"),
            tokenURL: try required("TOKEN_URL"),
            clientID: try required("CLIENT_ID"),
            clientSecret: try required("CLIENT_SECRET")
        )
        if let host = variables["HOST"] { self.host = host }
        if let text = variables["PORT"] {
            guard let port = UInt16(text) else { throw InvalidOption("PORT", "is not a port number") }
            self.port = Int(port)
        }
        func seconds(_ name: String) throws(InvalidOption) -> Duration? {
            guard let text = variables[name] else { return nil }
            guard let duration = Duration(seconds: text) else { throw InvalidOption(name, "is not a time in seconds") }
            return duration
        }
        maximumTimeout = try seconds("MAXIMUM_TIMEOUT") ?? maximumTimeout
        if maximumTimeout == .zero { throw InvalidOption("MAXIMUM_TIMEOUT", "must not be zero") }
        warmUpTimeout = try seconds("WARM_UP_TIMEOUT") ?? warmUpTimeout
        shutdownDelay = try seconds("SHUTDOWN_DELAY") ?? shutdownDelay
        cacheDirectory = variables["CACHE_DIRECTORY"]
    }
}

/// A missing or invalid variable.
public struct InvalidOption: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the variable.
    public let name: String
    /// A description without the value of the variable, which may be a secret.
    public let description: String

    init(_ name: String, _ problem: String) {
        self.name = name
        description = "The environment variable \(name) \(problem)."
    }
}
