import SluiceHTTP

// Names and arguments that people try first. None can be called: each says what to write.

extension GraphResults {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"try results.value(of: user)\".")
    public subscript<Value>(step: GraphStep<Value>) -> Value {
        get throws { try value(of: step) }
    }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Name the step that \"add\" returned: \"try results.value(of: user)\".")
    public subscript(step: String) -> any Sendable { step }
}

extension RequestGraph {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"try await graph.run()\", which returns the results of all steps.")
    public func sender() -> RequestGraph { self }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "A graph reports no progress. Count in the steps, or send a batch.")
    public var progress: Double { 0 }
}

extension ChainLink {
    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message: "The response may be a failure, and the closure cannot throw: switch over \"response.result\"."
    )
    public init<Request: TypedRequest>(
        _ request: Request,
        _ outcome: @escaping @Sendable (APIResponse<Request.Model, Request.ErrorModel>) throws -> Outcome
    ) { send = { _ in await withUnsafeContinuation { _ in } } }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message: "The closure gets a response, which may be a failure: switch over \"response.result\"."
    )
    @_disfavoredOverload
    public init<Request: TypedRequest>(_ request: Request, _ outcome: @escaping @Sendable (Request.Model) -> Outcome) {
        send = { _ in await withUnsafeContinuation { _ in } }
    }
}
