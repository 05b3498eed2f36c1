/// Gives a test a server of its own, which is stopped when the test is over, whether it throws or not.
///
/// ```swift
/// try await withLoopbackServer { server in
///     server.on("/motto", .text("Onwards"))
///     …
/// }
/// ```
///
/// - Parameter body: The test.
/// - Returns: What the test returns.
/// - Throws: What the test throws, or a ``LoopbackFailure``.
public func withLoopbackServer<Value>(_ body: (LoopbackServer) async throws -> Value) async throws -> Value {
    let server = try LoopbackServer()
    defer { server.stop() }
    return try await body(server)
}
