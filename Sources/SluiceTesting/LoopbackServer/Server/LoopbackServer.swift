import SluiceHTTP

/// An HTTP/1.1 server on 127.0.0.1 with responses defined by the test, including faults.
///
/// ```swift
/// func testAFailureIsTriedAgain() async throws {
///     let server = try LoopbackServer()
///     server.on(.get, "/user", .status(.serviceUnavailable), .json(#"{"name":"Ada"}"#))
///     let user: User = try await APIClient(baseURL: server.url).codable.request("user").sender().value
///     XCTAssertEqual(server.requests(to: "/user").count, 2)
/// }
/// ```
///
/// Each connection has its own thread, so a response that hangs does not delay others. The server stops when it is
/// released. A route closure that captures the server keeps it alive until ``stop()``.
public final class LoopbackServer: Sendable {
    private let listener: LoopbackListener
    let routes = RouteTable()
    let log = TrafficLog()

    /// Starts a server on a free port. The server accepts connections when the initializer returns.
    ///
    /// - Throws: A ``LoopbackFailure`` if the system provides no socket, port or thread.
    public init() throws {
        listener = try LoopbackListener()
        try listener.start { [routes, log] socket in
            LoopbackConnection.start(on: socket, routes: routes, log: log)
        }
    }

    deinit {
        stop()
    }

    /// The port, chosen by the system.
    public var port: Int { listener.port }

    /// The URL of the server, `http://127.0.0.1:PORT`, without a trailing slash.
    public var url: String { "http://\(authority)" }

    /// The host and port in the form of a `Host` field, `127.0.0.1:PORT`.
    public var authority: String { "127.0.0.1:\(port)" }

    /// Closes all connections and the port. Later connection attempts are refused. Calling it again has no effect.
    public func stop() {
        listener.stop()
        log.stop()
    }
}

extension LoopbackServer {
    /// Answers requests for a path with a sequence of responses. The last response repeats.
    ///
    /// A later call for the same method and path replaces the earlier route. Requests without a route receive 404.
    ///
    /// - Parameters:
    ///   - method: The method, or nil for all methods. A route with a method takes precedence over one without.
    ///   - path: The percent-encoded path without the query. A path that ends in `*` matches every path with that prefix.
    ///   - response: The first response.
    ///   - others: The responses to the following requests.
    public func on(
        _ method: HTTPMethod?,
        _ path: String,
        _ response: LoopbackResponse,
        _ others: LoopbackResponse...
    ) {
        routes.add(method, path, .turns([response] + others))
    }

    /// Answers requests for a path with a sequence of responses, for any method. The last response repeats.
    public func on(_ path: String, _ response: LoopbackResponse, _ others: LoopbackResponse...) {
        routes.add(nil, path, .turns([response] + others))
    }

    /// Answers requests for a path with the result of a closure.
    ///
    /// - Parameters:
    ///   - method: The method, or nil for all methods.
    ///   - path: The percent-encoded path without the query.
    ///   - respond: Called on the thread of the connection, where it may block.
    public func on(
        _ method: HTTPMethod?,
        _ path: String,
        respond: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse
    ) {
        routes.add(method, path, .closure(respond))
    }

    /// Answers requests for a path with the result of a closure, for any method.
    public func on(_ path: String, respond: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse) {
        routes.add(nil, path, .closure(respond))
    }
}
