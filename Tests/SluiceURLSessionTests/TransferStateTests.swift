import SluiceHTTP
import Testing

@testable import SluiceURLSession

@Suite struct TransferStateTests {
    private let start = ContinuousClock.now

    private func state(_ method: HTTPMethod = .get, limits: ResponseLimits = ResponseLimits()) -> TransferState {
        let request = HTTPRequest(method: method, scheme: "http", authority: "host", path: "/")
        return TransferState(request: request, context: TransferContext(limits: limits), started: start)
    }

    private func receiving(_ headers: HTTPHeaders = [:], limits: ResponseLimits = ResponseLimits()) -> TransferState {
        var state = state(limits: limits)
        _ = state.receive(HTTPResponse(status: .ok, headers: headers), at: start)
        return state
    }

    @Test func deliversHeadThenBodyAndEndsOnce() {
        var state = state()
        #expect(state.receive(HTTPResponse(status: .ok), at: start).name == "answer")
        #expect(state.receive(bytes: 3, at: start).name == "deliver")
        #expect(state.receive(bytes: 0, at: start).name == "none")
        #expect(state.complete(nil, at: start).name == "finish")
        #expect(state.phase == .done)
        #expect(state.complete(nil, at: start).name == "none")
        #expect(state.receive(bytes: 3, at: start).name == "none")
    }

    @Test(arguments: [100, 102, 103])
    func ignoresInformationalHeads(_ status: Int) {
        var state = state()
        #expect(state.receive(HTTPResponse(status: HTTPStatus(rawValue: status)), at: start).name == "none")
        #expect(state.phase == .waiting)
        #expect(state.receive(HTTPResponse(status: .ok), at: start).name == "answer")
    }

    @Test func ignoresSecondHead() {
        var state = receiving()
        #expect(state.receive(HTTPResponse(status: .notFound), at: start).name == "none")
        #expect(state.head?.status == .ok)
    }

    @Test func switchingProtocolsIsFinalResponse() {
        var state = state()
        #expect(state.receive(HTTPResponse(status: 101), at: start).name == "answer")
    }

    @Test func endWithoutHeadIsLostConnection() {
        var state = state()
        #expect(state.complete(nil, at: start).name == "connectionLost")
    }

    @Test func acceptsHeadAtCompletion() {
        var state = state()
        let head = HTTPResponse(status: .found, headers: [.contentLength: "9"])
        #expect(state.complete(head, at: start).name == "answerAndFinish")
        #expect(state.phase == .done)
    }

    @Test(
        arguments: [
            ([.contentLength: "10"], "truncatedBody"), ([.contentLength: "3"], "finish"), ([:], "finish"),
            ([.contentLength: "10", .contentEncoding: "gzip"], "finish"),
        ] as [(HTTPHeaders, String)]
    )
    func detectsTruncatedBody(_ headers: HTTPHeaders, _ expected: String) {
        var state = receiving(headers)
        _ = state.receive(bytes: 3, at: start)
        #expect(state.complete(nil, at: start).name == expected)
    }

    @Test(
        arguments: [
            (HTTPMethod.get, [.contentLength: "11"], "bodyTooLarge"), (.get, [.contentLength: "10"], "answer"),
            (.head, [.contentLength: "11"], "answer"),
            (.get, ["X": String(repeating: "x", count: 90)], "headersTooLarge"),
        ] as [(HTTPMethod, HTTPHeaders, String)]
    )
    func enforcesLimitsOnHead(_ method: HTTPMethod, _ headers: HTTPHeaders, _ expected: String) {
        var state = state(method, limits: ResponseLimits(headers: 100, body: 10))
        #expect(state.receive(HTTPResponse(status: .ok, headers: headers), at: start).name == expected)
    }

    @Test func enforcesLimitOnBody() {
        var state = receiving(limits: ResponseLimits(body: 10))
        #expect(state.receive(bytes: 10, at: start).name == "deliver")
        #expect(state.receive(bytes: 1, at: start).name == "bodyTooLarge")
        #expect(state.receive(bytes: 1, at: start).name == "none")
    }

    @Test func reportsOnlyFirstFailure() {
        var state = receiving()
        #expect(state.fail(.cancelled).name == "cancelled")
        #expect(state.fail(SluiceError(.timedOut, "")).name == "none")
        #expect(state.abandon().name == "none")
    }

    @Test func failureContainsRequestAndHead() {
        var state = receiving()
        guard case .fail(let error) = state.fail(.cancelled) else { return #expect(Bool(false)) }
        #expect(error.request?.authority == "host")
        #expect(error.response?.status == .ok)
    }

    @Test func abandonStopsTask() {
        var state = receiving()
        #expect(state.abandon().name == "stop")
        #expect(state.phase == .done)
    }

    @Test(arguments: [(95, "truncatedBody"), (100, "finish")])
    func framingDoesNotCountAsBody(_ bytes: Int, _ expected: String) {
        var state = state()
        _ = state.receive(HTTPResponse(status: .ok, headers: ["Content-Length": "100"]), at: start)
        _ = state.receive(bytes: bytes, at: start)
        state.measure { $0.bytesReceived = Int64(bytes) + 9 }
        #expect(state.metrics.bytesReceived == Int64(bytes))
        #expect(state.complete(nil, at: start).name == expected)
    }

    @Test func encodedBodyHasTheBytesOfTheWire() {
        var state = state()
        let head = HTTPResponse(status: .ok, headers: ["Content-Length": "30", "Content-Encoding": "gzip"])
        _ = state.receive(head, at: start)
        _ = state.receive(bytes: 5, at: start)
        state.measure { $0.bytesReceived = 30 }
        #expect(state.metrics.bytesReceived == 30)
        #expect(state.complete(nil, at: start).name == "finish")
    }

    @Test func uploadThatBeginsAgainIsCountedAgain() {
        var state = state()
        state.begin(at: start)
        state.send(bytes: 7, at: start)
        state.beginUploadAgain(at: start)
        state.send(bytes: 5, at: start)
        #expect(state.metrics.bytesSent == 5)
    }

    @Test func metricsCountFromStart() {
        var state = state()
        state.begin(at: start)
        state.send(bytes: 7, at: start)
        _ = state.receive(HTTPResponse(status: .ok), at: start + .seconds(1))
        _ = state.receive(bytes: 5, at: start + .seconds(2))
        guard case .finish(let metrics) = state.complete(nil, at: start + .seconds(3)) else {
            return #expect(Bool(false))
        }
        #expect(metrics.firstByte == .seconds(1))
        #expect(metrics.total == .seconds(3))
        #expect(metrics.bytesSent == 7)
        #expect(metrics.bytesReceived == 5)
    }
}

extension TransferState.Action {
    /// The action's name, or the code of its error.
    var name: String {
        switch self {
        case .none: "none"
        case .answer: "answer"
        case .deliver: "deliver"
        case .finish: "finish"
        case .answerAndFinish: "answerAndFinish"
        case .fail(let error): error.code.description
        case .stop: "stop"
        }
    }
}
