/// A transport whose connections can be inspected.
package protocol PooledTransport: Transport {
    /// The connections, and the requests that wait for one.
    var connections: ConnectionSnapshot { get }

    /// Closes the idle connections, and the others as soon as their requests end.
    func retireConnections()
}
