#if os(Linux)
/// A connection of a pool, with HTTP/1.1 or HTTP/2.
enum PooledConnection: Sendable, Identifiable {
    case http1(Connection)
    case http2(HTTP2Connection)

    var id: ObjectIdentifier {
        switch self {
        case .http1(let connection): ObjectIdentifier(connection)
        case .http2(let connection): ObjectIdentifier(connection)
        }
    }

    var group: ConnectionPool.State.GroupID {
        switch self {
        case .http1(let connection): connection.group
        case .http2(let connection): connection.group
        }
    }

    /// The handler of the connection's socket.
    var handler: any LoopHandler {
        switch self {
        case .http1(let connection): connection
        case .http2(let connection): connection
        }
    }

    /// Sends a request on this connection.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - thread: The thread of a loop, if the caller runs on one.
    /// - Returns: False if the connection cannot take the request. Nothing was sent then.
    func begin(_ call: Call, on thread: LoopThread?) -> Bool {
        switch self {
        case .http1(let connection): connection.begin(call, on: connection.isOf(thread) ? thread : nil)
        case .http2(let connection): connection.begin(call, on: connection.isOf(thread) ? thread : nil)
        }
    }

    /// Closes a connection that the pool has removed from its idle connections.
    func closeIdle() {
        switch self {
        case .http1(let connection): connection.closeIdle()
        case .http2(let connection): connection.closeIdle()
        }
    }
}
#endif
