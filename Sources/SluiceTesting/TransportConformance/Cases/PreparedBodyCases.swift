import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TransportConformance {
    /// Cases for request bodies that are created just before they are sent.
    static let preparedBodyCases: [Case] = [
        Case("A body that is made first arrives with its length") { trial in
            let file = try TemporaryFile(.pattern(300_000))
            defer { file.remove() }
            let chunks = ScriptedChunks(chunks: [.pattern(300_000)])
            for made in [HTTPBody.data(.pattern(300_000)), .file(file.url), .stream(chunks, length: 300_000)] {
                let body = HTTPBody.deferred(isReplayable: false) { made }
                try await trial.expectArrival(of: body, as: .pattern(300_000), isChunked: false)
            }
        },
        Case("A body that is made first and has no length arrives chunked") { trial in
            let body = HTTPBody.deferred(isReplayable: false) { .stream(ScriptedChunks(chunks: [.pattern(1000)])) }
            try await trial.expectArrival(of: body, as: .pattern(1000), isChunked: true)
        },
        Case("A body that cannot be made fails with bodyUnavailable before a byte is sent") { trial in
            let error = try await trial.expectNothingSent(.bodyUnavailable) {
                _ = try await trial.exchange(trial.unsent { throw ScriptedChunks.Broken() })
            }
            let cause = error.underlyingError
            try trial.expect(
                cause is ScriptedChunks.Broken,
                "What was thrown should be the underlying error, but that is \(String(describing: cause))."
            )
        },
        Case("A body whose making fails with an error of the SDK's fails with that one") { trial in
            try await trial.expectNothingSent(.bodyLengthMismatch) {
                _ = try await trial.exchange(trial.unsent { throw SluiceError(.bodyLengthMismatch, "Not that long.") })
            }
        },
        Case("A task cancelled while its body is made fails with cancelled and sends nothing") { trial in
            try await trial.expectNothingSent(.cancelled) {
                let (moments, moment) = AsyncStream<Void>.makeStream()
                let task = Task {
                    defer { moment.yield() }
                    let request = trial.unsent {
                        moment.yield()
                        return try await trial.never()
                    }
                    _ = try await trial.exchange(request)
                }
                await trial.wait(for: "the body to be asked for") { for await _ in moments { break } }
                task.cancel()
                try await task.value
            }
        },
        Case("A body that is not made within the total time fails with timedOut and sends nothing") { trial in
            let context = TransferContext(timeouts: Timeouts(total: .milliseconds(250)))
            let start = ContinuousClock.now
            try await trial.expectNothingSent(.timedOut) {
                _ = try await trial.exchange(trial.unsent { try await trial.never() }, context: context)
            }
            let took = ContinuousClock.now - start
            try trial.expect(took >= .milliseconds(240), "The time-out of 250 ms came after \(took) already.")
            try trial.expect(took < .seconds(5), "The time-out of 250 ms came after \(took) only.")
        },
        Case("The time in which a body is made is part of the total time") { trial in
            trial.server.on("/", .hang)
            let context = TransferContext(timeouts: Timeouts(total: .seconds(3)))
            let start = ContinuousClock.now
            try await trial.expectFailure(.timedOut) {
                let body = HTTPBody.deferred(isReplayable: false) {
                    try await Task.sleep(for: .seconds(2))
                    return .data(.pattern(10))
                }
                _ = try await trial.exchange(trial.request(.put, body: body), context: context)
            }
            let took = ContinuousClock.now - start
            try trial.expect(took < .milliseconds(4700), "The time-out of 3 s came after \(took) only.")
            try trial.expectEqual(trial.server.requests(to: "/").count, 1, "The number of requests")
        },
    ]
}

extension ConformanceTrial {
    fileprivate func unsent(_ prepare: @escaping HTTPBody.Preparation) -> HTTPRequest {
        request(.put, "/unsent", body: .deferred(isReplayable: false, prepare))
    }

    fileprivate func never() async throws -> HTTPBody {
        try await Task.sleep(for: .seconds(3600))
        return .none
    }

    @discardableResult
    fileprivate func expectNothingSent(
        _ code: SluiceError.Code,
        _ body: () async throws -> Void
    ) async throws -> SluiceError {
        let error = try await expectFailure(code, body)
        // The server has processed everything sent before the check that the transport still works.
        try expectEqual(server.log.counts.heads, 1, "The number of heads that reached the server")
        return error
    }
}
