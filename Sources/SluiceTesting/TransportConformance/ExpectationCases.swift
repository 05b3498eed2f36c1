import SluiceFoundation
import SluiceHTTP

extension TransportConformance {
    /// Cases for bodies that are sent after a 100 (Continue) response (RFC 9110 §10.1.1).
    static let expectationCases: [Case] = [
        Case("A body that waits for 100 arrives complete, and 100 and 103 are skipped") { trial in
            trial.server.on("/", .informational(103, headers: ["Link": "</a>"], then: .text("ok")))
            for body in [RequestBody.data(.pattern(100)), .data(.pattern(3_000_000)), .once(3_000_000)] {
                let answer = try await trial.sendExpectingContinue(body)
                try trial.expectEqual(answer.head.status, .ok, "The status")
                try trial.expectEqual(answer.head.headers["Link"], nil, "A field of the informational response")
                try trial.expectEqual(answer.text, "ok", "The response")
                try trial.expectEqual(trial.server.requests.last?.headers[.expect], "100-continue", "The Expect field")
            }
            try trial.expectEqual(trial.server.requests.map(\.body.count), [100, 3_000_000, 3_000_000], "The lengths")
        },
        Case("A refusal in place of 100 is the response, and the next request works") { trial in
            for status: HTTPStatus in [413, .unauthorized, .ok] {
                trial.server.onExpectation { _ in .refused(.text("no", status: status)) }
                for body in [RequestBody.data(.pattern(100)), .data(.pattern(3_000_000)), .once(3_000_000)] {
                    let answer = try await trial.sendExpectingContinue(body)
                    try trial.expectEqual(answer.head.status, status, "The status")
                    try trial.expectEqual(answer.text, "no", "The response")
                    try trial.expectEqual(trial.server.requests.last?.body.count, 0, "The length of the received body")
                    let next = try await trial.get(.text("next"))
                    try trial.expectEqual(next.text, "next", "The response to the next request")
                }
            }
        },
        Case("A server that does not send 100 gets the body after the wait") { trial in
            trial.server.on("/", .text("ok"))
            trial.server.onExpectation { _ in .ignored }
            let context = TransferContext(timeouts: Timeouts(continueWait: .milliseconds(50)))
            let answer = try await trial.sendExpectingContinue(.once(300_000), context)
            try trial.expectEqual(answer.text, "ok", "The response")
            try trial.expectEqual(trial.server.requests.map(\.body.count), [300_000], "The length of the received body")
        },
        Case("A server that rejects Expect with 417 gets the body without it") { trial in
            trial.server.on("/", .text("ok"))
            trial.server.onExpectation { _ in .refused(.text("what?", status: 417)) }
            for body in [RequestBody.data(.pattern(100)), .data(.pattern(3_000_000)), .once(3_000_000)] {
                let answer = try await trial.sendExpectingContinue(body)
                try trial.expectEqual(answer.head.status, .ok, "The status")
                try trial.expectEqual(answer.text, "ok", "The response")
                let asked = trial.server.requests.suffix(2).map { $0.headers.contains(.expect) }
                try trial.expectEqual(asked, [true, false], "The presence of Expect in each request")
                try trial.expectEqual(
                    trial.server.requests.last.map { Int64($0.body.count) },
                    body.length,
                    "The length"
                )
            }
        },
        Case("A request without content has no Expect field") { trial in
            trial.server.on("/", .text("ok"))
            for body in [RequestBody.none, .data(Data())] {
                let answer = try await trial.sendExpectingContinue(body)
                try trial.expectEqual(answer.text, "ok", "The response")
                try trial.expectEqual(trial.server.requests.last?.headers[.expect], nil, "The Expect field")
            }
        },
    ]
}

extension RequestBody {
    fileprivate static func once(_ count: Int) -> RequestBody {
        .stream(ScriptedChunks(chunks: [.pattern(count)]), length: Int64(count))
    }
}

extension ConformanceTrial {
    fileprivate func sendExpectingContinue(_ body: RequestBody, _ context: TransferContext? = nil) async throws
        -> Answer
    {
        // The wait is longer than the time limit of a case, so no case passes because the wait ended.
        let context = context ?? TransferContext(timeouts: Timeouts(continueWait: .seconds(600)))
        return try await exchange(request(.put, headers: ["Expect": "100-continue"], body: body), context: context)
    }
}
