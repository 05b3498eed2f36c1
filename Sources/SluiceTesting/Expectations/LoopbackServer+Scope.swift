/// Runs a test with its own server, and stops the server afterwards, even if the test throws.
///
/// ```swift
/// try await withLoopbackServer { server in
///     server.on("/motto", .text("Onwards"))
///     …
/// }
/// ```
///
/// - Parameter body: The test.
/// - Returns: The value that the test returns.
/// - Throws: The error that the test throws, or a ``LoopbackFailure``.
public func withLoopbackServer<Value>(_ body: (LoopbackServer) async throws -> Value) async throws -> Value {
    let server = try LoopbackServer()
    defer { server.stop() }
    return try await body(server)
}
