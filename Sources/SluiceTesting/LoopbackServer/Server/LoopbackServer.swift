import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// An HTTP/1.1 server on 127.0.0.1 with responses defined by the test, including faults.
///
/// ```swift
/// func testAFailedRequestIsRetried() async throws {
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

    /// Closes all connections and the port, and releases the routes. Later connection attempts are refused. Calling it again has no effect.
    public func stop() {
        listener.stop()
        log.stop()
        routes.removeAll()
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
    ///   - respond: Called on the thread of the connection, where it may block. An error that it throws is sent as text
    ///     with status 500.
    public func on(
        _ method: HTTPMethod?,
        _ path: String,
        respond: @escaping @Sendable (LoopbackRequest) throws -> LoopbackResponse
    ) {
        routes.add(method, path, .closure(respond))
    }

    /// Answers requests for a path with the result of a closure, for any method.
    public func on(_ path: String, respond: @escaping @Sendable (LoopbackRequest) throws -> LoopbackResponse) {
        routes.add(nil, path, .closure(respond))
    }
}

// MARK: - Interrupted requests and expectations

extension LoopbackServer {
    /// Interrupts connections in the middle of requests from now on.
    ///
    /// ```swift
    /// server.interruptRequests(after: 1000, by: .reset, times: 1)      // a long upload fails once, and then succeeds
    /// ```
    ///
    /// An interrupted request does not appear in ``requests``. A request of at most `count` bytes is answered.
    ///
    /// - Parameters:
    ///   - count: The number of bytes of a request to read, including the head and chunked framing. With 0, the connection
    ///     is interrupted as soon as a request begins.
    ///   - interruption: The way the connection ends. Closed by default.
    ///   - times: The number of connections to interrupt, or nil for all. 0 cancels an earlier call.
    public func interruptRequests(
        after count: Int,
        by interruption: LoopbackResponse.Interruption = .close,
        times: Int? = nil
    ) {
        let times = times.map { max(0, $0) }
        let rule = RequestInterruption(count: max(0, count), interruption: interruption, times: times)
        routes.interruptRequests(times == 0 ? nil : rule)
    }

    /// Sets the handler for requests with `Expect: 100-continue`.
    ///
    /// - Parameter respond: Called with the request, which has no body yet, on the thread of the connection.
    public func onExpectation(_ respond: @escaping @Sendable (LoopbackRequest) -> LoopbackExpectation) {
        routes.onExpectation(respond)
    }
}

/// The answer of a ``LoopbackServer`` to a request with `Expect: 100-continue` (RFC 9110 §10.1.1).
public enum LoopbackExpectation: Sendable {
    /// Sends 100 (Continue) at once. This is the default.
    case `continue`
    /// Sends 100 (Continue) after a signal fires. The connection closes if the client disconnects first.
    case continueAfter(LoopbackSignal)
    /// Sends no interim response, and waits for the body.
    case ignored
    /// Sends a final response and does not read the body. The connection stays open unless the response closes it.
    case refused(LoopbackResponse)
}

// MARK: - Traffic

extension LoopbackServer {
    /// The requests received so far, in the order in which they were complete.
    public var requests: [LoopbackRequest] { log.requests }

    /// Returns the requests for a path, given without the query.
    public func requests(to path: String) -> [LoopbackRequest] {
        log.requests.filter { $0.path == path }
    }

    /// The number of complete requests received, recorded or not.
    public var requestCount: Int { log.counts.requests }

    /// True if requests are recorded. True by default. Set it to false for tests with very many requests.
    public var recordsRequests: Bool {
        get { log.recordsRequests }
        set { log.recordsRequests = newValue }
    }

    /// The total number of accepted connections.
    public var connections: Int { log.counts.accepted }

    /// The number of open connections.
    public var openConnections: Int { log.counts.open }

    /// The number of connections whose client has read nothing for 100 ms although a response is being sent.
    package var stalledConnections: Int { log.counts.stalled }

    /// The number of response bytes passed to the system, including heads.
    package var bytesSent: Int64 { log.counts.bytesSent }

    /// The number of request bytes read, including heads and chunked framing.
    package var bytesReceived: Int64 { log.counts.bytesReceived }

    /// Waits until `count` complete requests have arrived, without a time limit. Also returns if the task is cancelled or
    /// the server stops.
    public func waitForRequests(_ count: Int) async {
        await log.wait { $0.requests >= count }
    }

    /// Waits until the number of open connections satisfies a condition, for example `{ $0 == 0 }`.
    ///
    /// Use it to check that a cancellation closes the connection. Also returns if the task is cancelled or the server stops.
    public func waitForOpenConnections(_ isSatisfied: @escaping @Sendable (Int) -> Bool) async {
        await log.wait { isSatisfied($0.open) }
    }

    /// Waits until `count` bytes have been passed to the system, including heads.
    ///
    /// Also returns if the task is cancelled or the server stops.
    package func waitForBytesSent(_ count: Int64) async {
        await log.wait { $0.bytesSent >= count }
    }

    /// Waits until the number of stalled connections satisfies a condition. Use it to check that back-pressure works.
    ///
    /// Also returns if the task is cancelled or the server stops.
    package func waitForStalledConnections(_ isSatisfied: @escaping @Sendable (Int) -> Bool) async {
        await log.wait { isSatisfied($0.stalled) }
    }
}

// MARK: - A server for one test

/// Runs a test with its own server, and stops the server afterwards, even if the test throws.
///
/// ```swift
/// try await withLoopbackServer { server in
///     server.on("/motto", .text("Onwards"))
///     …
/// }
/// ```
///
/// - Parameters:
///   - isolation: The actor that runs the test; the caller's by default.
///   - body: The test.
/// - Returns: The value that the test returns.
/// - Throws: The error that the test throws, or a ``LoopbackFailure``.
public func withLoopbackServer<Value>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: (LoopbackServer) async throws -> Value
) async throws -> Value {
    let server = try LoopbackServer()
    defer { server.stop() }
    return try await body(server)
}

// MARK: - Loopback listener

/// The listening socket and the thread that accepts connections.
final class LoopbackListener: Sendable {
    let port: Int
    private let socket: StreamSocket
    /// Closing the sending direction stops the thread, which then closes the other end.
    private let stopSender: StreamSocket
    private let stopReceiver: StreamSocket
    private let isStopped = Locked(false)

    init() throws(LoopbackFailure) {
        socket = try StreamSocket.listening()
        do throws(LoopbackFailure) {
            port = try socket.port()
            (stopSender, stopReceiver) = try StreamSocket.pair()
        } catch {
            socket.close()
            throw error
        }
    }

    /// Starts to accept connections. The closure takes ownership of each socket.
    func start(_ take: @escaping @Sendable (StreamSocket) -> Void) throws(LoopbackFailure) {
        do throws(LoopbackFailure) {
            try startThread { [socket, stopReceiver] in
                LoopbackListener.accept(from: socket, until: stopReceiver, take)
                socket.close()
                stopReceiver.close()
            }
        } catch {
            isStopped.withLock { $0 = true }
            for socket in [socket, stopSender, stopReceiver] { socket.close() }
            throw error
        }
    }

    /// Stops the thread. Returns after the port is closed.
    func stop() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        stopSender.finishSending()
        var byte: UInt8 = 0
        _ = withUnsafeMutableBytes(of: &byte) { stopSender.receive(into: $0) }
        stopSender.close()
    }

    private static func accept(
        from socket: StreamSocket,
        until stop: StreamSocket,
        _ take: (StreamSocket) -> Void
    ) {
        while true {
            var polled = [
                pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&polled, 2, -1)
            if polled[1].revents != 0 { return }
            guard polled[0].revents != 0 else { continue }
            if let accepted = socket.accept() {
                take(accepted)
            } else if ![EAGAIN, EINTR, ECONNABORTED].contains(errno) {
                // Without a descriptor or memory, the connection stays in the backlog and the listening socket readable, so pause.
                var polledStop = pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&polledStop, 1, 10)
            }
        }
    }
}

/// An error that prevents a ``LoopbackServer`` from starting.
public struct LoopbackFailure: LocalizedError, Sendable, CustomStringConvertible, DescribedError {
    /// The failed system call and the error message of the system.
    public let description: String

    /// Creates a failure, by default with the current `errno`.
    init(_ call: String, errno code: Int32 = errno) {
        description = "The loopback server cannot start: \(call) failed with \(String(cString: strerror(code)))."
    }
}
