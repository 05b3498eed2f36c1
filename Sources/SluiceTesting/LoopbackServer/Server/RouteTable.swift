import SluiceHTTP

/// The routes of a server, which select the response to a request.
final class RouteTable: Sendable {
    enum Answer: Sendable {
        case turns([LoopbackResponse])
        case closure(@Sendable (LoopbackRequest) throws -> LoopbackResponse)
    }

    private struct Route {
        let method: HTTPMethod?
        let answer: Answer
        var turn = 0
    }

    private struct State {
        var exact: [String: [Route]] = [:]
        var prefixed: [String: [Route]] = [:]
        var expectation: (@Sendable (LoopbackRequest) -> LoopbackExpectation)?
        var requestInterruption: RequestInterruption?
    }

    private let state = Locked(State())

    func add(_ method: HTTPMethod?, _ path: String, _ answer: Answer) {
        state.withLock { state in
            let route = Route(method: method, answer: answer)
            if path.hasSuffix("*") {
                RouteTable.insert(route, into: &state.prefixed[String(path.dropLast()), default: []])
            } else {
                RouteTable.insert(route, into: &state.exact[path, default: []])
            }
        }
    }

    /// Removes all routes and closures, which may hold references to the server.
    func removeAll() {
        // Released outside the lock, because the end of a reference may run any code.
        _ = state.withLock { state in
            let removed = state
            state = State()
            return removed
        }
    }

    func onExpectation(_ respond: @escaping @Sendable (LoopbackRequest) -> LoopbackExpectation) {
        state.withLock { $0.expectation = respond }
    }

    func expectation(of request: LoopbackRequest) -> LoopbackExpectation {
        state.withLock { $0.expectation }?(request) ?? .continue
    }

    func interruptRequests(_ rule: RequestInterruption?) {
        state.withLock { $0.requestInterruption = rule }
    }

    /// Returns the way to end a connection after `count` bytes of an incomplete request, or nil to continue.
    func interruption(afterReading count: Int) -> LoopbackResponse.Interruption? {
        state.withLock { $0.requestInterruption?.takeTurn(afterReading: count) }
    }

    /// Selects the response to a request, and returns a closure that creates it.
    ///
    /// The response is selected before the request is counted, so that requests that a test sends one after another get the responses of a
    /// sequence in their order.
    func responder(to request: LoopbackRequest) -> () -> LoopbackResponse {
        let answer: Answer? = state.withLock { state in
            if let answer = RouteTable.take(request.method, from: &state.exact[request.path]) { return answer }
            guard !state.prefixed.isEmpty else { return nil }
            let matching = state.prefixed.keys.filter(request.path.hasPrefix).sorted { $0.count > $1.count }
            for prefix in matching {
                if let answer = RouteTable.take(request.method, from: &state.prefixed[prefix]) { return answer }
            }
            return nil
        }
        return {
            switch answer {
            case .turns(let responses): responses.first ?? .notRouted(request)
            case .closure(let respond): .answering(request, respond)
            case nil: .notRouted(request)
            }
        }
    }

    /// Adds a route. A route for all methods stays after the routes for one method.
    private static func insert(_ route: Route, into routes: inout [Route]) {
        routes.removeAll { $0.method == route.method }
        if route.method == nil { routes.append(route) } else { routes.insert(route, at: 0) }
    }

    /// Returns the answer of the matching route. For a sequence, returns only its next response.
    private static func take(_ method: HTTPMethod, from routes: inout [Route]?) -> Answer? {
        guard let index = routes?.firstIndex(where: { $0.method == nil || $0.method == method }),
            let route = routes?[index]
        else { return nil }
        guard case .turns(let responses) = route.answer, responses.count > 1 else { return route.answer }
        if route.turn < responses.count - 1 { routes?[index].turn += 1 }
        return .turns([responses[route.turn]])
    }
}

extension LoopbackResponse {
    /// Returns the response of a route's closure, or status 500 with the text of the error that it throws.
    fileprivate static func answering(
        _ request: LoopbackRequest,
        _ respond: (LoopbackRequest) throws -> LoopbackResponse
    ) -> LoopbackResponse {
        do {
            return try respond(request)
        } catch {
            return .text("The closure of the route threw an error: \(error)", status: .internalServerError)
        }
    }

    fileprivate static func notRouted(_ request: LoopbackRequest) -> LoopbackResponse {
        .json(
            encoding: [
                "error": "There is no route for this request.", "method": request.method.rawValue, "path": request.path,
            ],
            status: .notFound
        )
    }
}

/// A rule that interrupts connections while a request is read.
struct RequestInterruption: Sendable {
    let count: Int
    let interruption: LoopbackResponse.Interruption
    /// The number of further connections to interrupt, or nil for all.
    var times: Int?

    /// Returns the way to end a connection after `count` bytes of its request, or nil to continue. Counts against `times`.
    mutating func takeTurn(afterReading count: Int) -> LoopbackResponse.Interruption? {
        guard count >= self.count, times != 0 else { return nil }
        times = times.map { $0 - 1 }
        return interruption
    }
}
