import SluiceFoundation
import SluiceHTTP

extension TransportConformance {
    /// Cases for cancelled tasks.
    static let cancellationCases: [Case] = [
        Case("A task cancelled before it sends fails with cancelled and sends nothing") { trial in
            trial.server.on("/", .text("never to be seen"))
            try await trial.expectFailure(.cancelled) {
                try await Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    _ = try await trial.exchange(trial.request())
                }.value
            }
            // The server has processed everything sent before the check that the transport still works.
            try trial.expectEqual(trial.server.requests(to: "/").count, 0, "The number of requests")
        },
        Case("A task cancelled while it waits for the head fails with cancelled and closes the connection") { trial in
            try await trial.expectCancellation { reached in
                trial.server.on("/") { _ in
                    reached()
                    return .hang
                }
                _ = try await trial.exchange(trial.request())
            }
        },
        Case("A task cancelled while it reads the body fails with cancelled and closes the connection") { trial in
            for response in [LoopbackResponse.partial(.pattern(10), announced: 20), .endless(chunk: .pattern(10_000))] {
                trial.server.on("/", response)
                try await trial.expectCancellation { reached in
                    let response = try await trial.transport.send(trial.request(), context: TransferContext())
                    for try await _ in response.body { reached() }
                }
            }
        },
        Case("A task cancelled while it collects the body fails with cancelled and closes the connection") { trial in
            try await trial.expectCancellation { reached in
                trial.server.on("/", .headersThenHang())
                let response = try await trial.transport.send(trial.request(), context: TransferContext())
                reached()
                _ = try await response.body.collect()
            }
        },
        Case("A task cancelled while the request body waits for its next chunk closes the connection") { trial in
            trial.server.on("/", .text("never to be seen"))
            try await trial.expectCancellation { reached in
                let chunks = ScriptedChunks(chunks: [.pattern(10)], end: .hang(reached: reached))
                _ = try await trial.exchange(trial.request(.put, body: .stream(chunks)))
            }
            try trial.expectEqual(trial.server.requests(to: "/").count, 0, "The number of complete requests")
        },
        Case("A hundred tasks cancelled at once close all their connections") { trial in
            trial.server.on("/", .hang)
            let tasks = (0..<100).map { _ in
                Task { () async throws(SluiceError) in try await trial.exchange(trial.request()) }
            }
            await trial.wait(for: "a request to reach the server") { await trial.server.waitForRequests(1) }
            for task in tasks { task.cancel() }
            for task in tasks {
                guard case .failure(let error) = await task.result else {
                    throw ConformanceFailure(trial.caseName, "A request without a response succeeded.")
                }
                try trial.expectEqual((error as? SluiceError)?.code, .cancelled, "The error's code")
            }
            await trial.waitForConnectionsToClose()
            try await trial.expectTransportWorks()
        },
    ]
}

extension ConformanceTrial {
    /// Cancels a task as soon as it calls `reached`, and expects the error `cancelled`.
    fileprivate func expectCancellation(
        _ body: @escaping @Sendable (_ reached: @escaping @Sendable () -> Void) async throws -> Void
    ) async throws {
        let (moments, moment) = AsyncStream<Void>.makeStream()
        let task = Task {
            // Yield also on an early failure, so that the error is reported instead of a time-out.
            defer { moment.yield() }
            try await body { moment.yield() }
        }
        await wait(for: "the transfer to start") {
            for await _ in moments { break }
        }
        task.cancel()
        try await expectFailure(.cancelled) { try await task.value }
        await wait(for: "the transport to close the connection of the cancelled task") {
            await server.waitForOpenConnections { $0 == 0 }
        }
    }
}

// MARK: - Timeout cases

extension TransportConformance {
    /// Cases for slow servers.
    static let timeoutCases: [Case] = [
        timingOut("No response within the total time", with: .timedOut, total, .hang),
        timingOut("No body within the total time", with: .timedOut, total, .headersThenHang()),
        timingOut(
            "A body that arrives too slowly for the total time",
            with: .timedOut,
            total,
            .data(.pattern(1000)).throttled(pieceSize: 1, every: .milliseconds(20))
        ),
        timingOut("No response within the idle time", with: .idleTimedOut, idle, .hang),
        timingOut("No body within the idle time", with: .idleTimedOut, idle, .headersThenHang()),
        timingOut(
            "No further part of a body within the idle time",
            with: .idleTimedOut,
            idle,
            .partial(.pattern(9), announced: 99)
        ),
        Case("A time-out while the request body waits for its next chunk fails with timedOut") { trial in
            trial.server.on("/", .text("never to be seen"))
            let chunks = ScriptedChunks(chunks: [.pattern(10)], end: .hang(reached: {}))
            try await trial.expectFailure(.timedOut) {
                let request = trial.request(.put, body: .stream(chunks))
                _ = try await trial.exchange(request, context: TransferContext(timeouts: total))
            }
        },
        Case("A slow body that never pauses for the idle time arrives complete") { trial in
            let context = TransferContext(timeouts: Timeouts(idle: .milliseconds(1000)))
            let answer = try await trial.get(
                .data(.pattern(1000)).throttled(pieceSize: 67, every: .milliseconds(100)),
                context: context
            )
            try trial.expectEqual(answer.body.count, 1000, "The body's length")
        },
        Case("Time in which the caller does not read is not idle time") { trial in
            let context = TransferContext(timeouts: Timeouts(idle: .milliseconds(500)))
            trial.server.on("/", .data(.pattern(20_000_000)))
            let response = try await trial.transport.send(trial.request(), context: context)
            await trial.wait(for: "the server to pause") {
                await trial.server.waitForStalledConnections { $0 == 1 }
            }
            try await Task.sleep(for: .milliseconds(1000))
            try trial.expectEqual(try await response.body.collect().count, 20_000_000, "The body's length")
        },
    ]

    private static let total = Timeouts(idle: nil, total: .milliseconds(250))
    private static let idle = Timeouts(idle: .milliseconds(250))

    private static func timingOut(
        _ name: String,
        with code: SluiceError.Code,
        _ timeouts: Timeouts,
        _ response: LoopbackResponse
    ) -> Case {
        Case("\(name) fails with \(code) and closes the connection") { trial in
            let start = ContinuousClock.now
            try await trial.expectFailure(code) {
                _ = try await trial.get(response, context: TransferContext(timeouts: timeouts))
            }
            let took = ContinuousClock.now - start
            try trial.expect(took >= .milliseconds(240), "The time-out of 250 ms came too early, after \(took).")
            try trial.expect(took < .seconds(5), "The time-out of 250 ms came too late, after \(took).")
            await trial.wait(for: "the transport to close the connection that timed out") {
                await trial.server.waitForOpenConnections { $0 == 0 }
            }
        }
    }
}
