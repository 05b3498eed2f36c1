import SluiceHTTP

extension APIClient {
    /// The connections of the client's transport, and the requests that wait for one, at this moment.
    ///
    /// ```swift
    /// let orders = client.connections["https://orders.internal"]
    /// gauge.set(orders?.waiting ?? 0)
    /// ```
    ///
    /// Clients that share a transport, as those that set none do, share its connections, so the snapshot is the same for
    /// all of them. Reading it takes a lock for a few microseconds and costs requests nothing. With `URLSession`, which
    /// does not report its connections, and with a transport of your own, the snapshot is empty.
    public var connections: ConnectionSnapshot { pooledTransport?.connections ?? ConnectionSnapshot() }

    /// The transport, if its connections can be inspected.
    var pooledTransport: (any PooledTransport)? { pipeline.configuration.transport as? any PooledTransport }
}
