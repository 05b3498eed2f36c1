#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where the service listens, what it asks, and as whom.
///
/// ```swift
/// let options = try ServiceOptions(environment: ProcessInfo.processInfo.environment)
/// ```
public struct ServiceOptions: Sendable {
    /// The address to listen on, `HOST`; 127.0.0.1 by default.
    public var host = "127.0.0.1"
    /// The port to listen on, `PORT`; 8080 by default, and one that the system chooses for 0.
    public var port = 8080
    /// The base URL of the API that knows the users, `UPSTREAM_URL`.
    public var upstreamURL: String
    /// Where that API's tokens are got, `TOKEN_URL`.
    public var tokenURL: String
    /// The service's name at the token endpoint, `CLIENT_ID`.
    public var clientID: String
    /// The service's secret there, `CLIENT_SECRET`.
    public var clientSecret: String
    /// Where responses are kept besides in memory, `CACHE_DIRECTORY`; nowhere by default.
    public var cacheDirectory: String?
    /// How long a request may take at the most, `MAXIMUM_TIMEOUT` in seconds; 10 seconds by default.
    public var maximumTimeout: Duration = .seconds(10)

    /// Makes options of what has no default.
    public init(upstreamURL: String, tokenURL: String, clientID: String, clientSecret: String) {
        self.upstreamURL = upstreamURL
        self.tokenURL = tokenURL
        self.clientID = clientID
        self.clientSecret = clientSecret
    }

    /// Reads the options from the variables that are named with each of them.
    ///
    /// - Parameter environment: The variables; an empty one counts as missing.
    /// - Throws: Which variable is missing or makes no sense, without its value.
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
            guard let port = UInt16(text) else { throw InvalidOption("PORT", "is no port") }
            self.port = Int(port)
        }
        if let text = variables["MAXIMUM_TIMEOUT"] {
            guard let timeout = RequestTimeout(text) else {
                throw InvalidOption("MAXIMUM_TIMEOUT", "is no time in seconds")
            }
            maximumTimeout = timeout.duration
        }
        cacheDirectory = variables["CACHE_DIRECTORY"]
    }
}

/// What keeps the service from starting.
public struct InvalidOption: Error, Sendable, Hashable, CustomStringConvertible {
    /// The variable.
    public let name: String
    /// A sentence without the variable's value, which may be a secret.
    public let description: String

    init(_ name: String, _ problem: String) {
        self.name = name
        description = "The environment variable \(name) \(problem)."
    }
}
