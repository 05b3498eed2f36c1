/// A transport whose connections can be inspected and prepared.
package protocol PooledTransport: Transport {
    /// The connections, and the requests that wait for one.
    var connections: ConnectionSnapshot { get }

    /// Opens connections for later requests.
    ///
    /// - Parameters:
    ///   - request: A request to the origin. It is not sent.
    ///   - count: The number of connections that are to be open. One of HTTP/2 suffices.
    ///   - context: The connection options and the connect time-out.
    /// - Returns: The number of open connections to the origin.
    /// - Throws: The error of the first attempt that failed, if no connection is open.
    func connect(to request: HTTPRequest, count: Int, context: TransferContext) async throws(SluiceError) -> Int

    /// Reads the files of TLS options again. Connections with other contents take no further requests.
    ///
    /// - Parameter options: The options.
    /// - Throws: ``SluiceError/Code/tlsFailed`` if files cannot be used. The contents in use then stay.
    func reloadCertificates(of options: ConnectionOptions) async throws(SluiceError)

    /// Closes the idle connections, and the others as soon as their requests end.
    func retireConnections()
}
