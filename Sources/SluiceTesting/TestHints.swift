import SluiceHTTP
import SluiceJSON

// Arguments that people try first. None can be passed: each says what to write.

extension StubTransport {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"on(.get(\"/users\"), stub)\".")
    public func on(_ method: HTTPMethod, _ path: String, _ stub: Stub) {}

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Name the method: \"on(.get(\"/users\"), stub)\".")
    public func on(_ path: String, _ stub: Stub) {}

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"on(.get(\"/users\"), .sequence([first, second]))\".")
    public func on(_ matcher: RequestMatcher, _ first: Stub, _ second: Stub, _ others: Stub...) {}
}

extension LoopbackServer {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"on(.get, \"/users\", response)\".")
    public func on(_ matcher: RequestMatcher, _ response: LoopbackResponse) {}
}

extension LoopbackResponse {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".json(encoding: user)\".")
    public static func json(_ value: some Encodable, status: HTTPStatus = .ok) -> LoopbackResponse { .status(status) }
}

extension RecordedRequest {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"try decoded(as: JSON.self)\".")
    public func json() throws -> JSON { .null }
}
