import SluiceHTTP

/// An HTTP/1.1 server on 127.0.0.1 that answers as a test tells it to, faults included.
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
/// Each connection has a thread of its own, so a response that hangs holds up no other. The server stops when it is
/// released; a responder that captures it keeps it alive until ``stop()``.
public final class LoopbackServer: Sendable {
    private let listener: LoopbackListener
    let routes = RouteTable()
    let log = TrafficLog()

    /// Starts a server on a free port; it is listening when this returns.
    ///
    /// - Throws: A ``LoopbackFailure`` when the system gives no socket, port or thread.
    public init() throws {
        listener = try LoopbackListener()
        try listener.start { [routes, log] socket in
            LoopbackConnection.start(on: socket, routes: routes, log: log)
        }
    }

    deinit {
        stop()
    }

    /// The port that the system chose.
    public var port: Int { listener.port }

    /// Where the server is, `http://127.0.0.1:PORT`, without a slash at the end.
    public var url: String { "http://\(authority)" }

    /// Host and port as a `Host` header has them, `127.0.0.1:PORT`.
    public var authority: String { "127.0.0.1:\(port)" }

    /// Closes every connection and the port; a request made from now on is refused. Doing it twice does no harm.
    public func stop() {
        listener.stop()
        log.stop()
    }
}

extension LoopbackServer {
    /// Answers a path with responses in turn, the last one again and again.
    ///
    /// Said twice for the same method and path, the later one holds. What no route takes is answered with 404.
    ///
    /// - Parameters:
    ///   - method: The method, nil for all of them; a route with a method goes before one without.
    ///   - path: The path as it travels, percent-encoded and without query. One that ends in `*` takes every path that
    ///     begins so.
    ///   - response: The first response.
    ///   - others: Those for the requests after it.
    public func on(
        _ method: HTTPMethod?,
        _ path: String,
        _ response: LoopbackResponse,
        _ others: LoopbackResponse...
    ) {
        routes.add(method, path, .turns([response] + others))
    }

    /// Answers a path with responses in turn, whatever the method, the last one again and again.
    public func on(_ path: String, _ response: LoopbackResponse, _ others: LoopbackResponse...) {
        routes.add(nil, path, .turns([response] + others))
    }

    /// Answers a path with what a closure makes of the request.
    ///
    /// - Parameters:
    ///   - method: The method, nil for all of them.
    ///   - path: The path as it travels, percent-encoded and without query.
    ///   - respond: Called on the connection's own thread, where it may block.
    public func on(
        _ method: HTTPMethod?,
        _ path: String,
        respond: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse
    ) {
        routes.add(method, path, .closure(respond))
    }

    /// Answers a path with what a closure makes of the request, whatever the method.
    public func on(_ path: String, respond: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse) {
        routes.add(nil, path, .closure(respond))
    }
}
