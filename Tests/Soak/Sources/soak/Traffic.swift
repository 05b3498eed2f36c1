import Foundation
import Sluice
import SluiceTesting

/// A kind of request, and the ways in which it may end.
struct Kind: Sendable {
    enum End: Sendable {
        case success
        case failure(Set<SluiceError.Code>)
        /// For a server that may be away.
        case either(Set<SluiceError.Code>)
    }

    let name: String
    let end: End
    let work: @Sendable () async throws -> Void

    init(_ name: String, _ end: End = .success, work: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.end = end
        self.work = work
    }

    var maySucceed: Bool {
        if case .failure = end { false } else { true }
    }

    func mayFail(with code: SluiceError.Code) -> Bool {
        switch end {
        case .success: false
        case .failure(let codes), .either(let codes): codes.contains(code)
        }
    }
}

/// A response with wrong contents.
struct UnexpectedResponse: Error, CustomStringConvertible {
    let description: String
}

func expect(_ isExpected: Bool, _ description: @autoclosure () -> String) throws {
    if !isExpected { throw UnexpectedResponse(description: description()) }
}

/// Runs work that takes a moment, and throws if it takes longer than 10 seconds.
func promptly(_ work: () async throws -> Void) async throws {
    let began = ContinuousClock.now
    let result: Result<Void, any Error>
    do { result = .success(try await work()) } catch { result = .failure(error) }
    let time = ContinuousClock.now - began
    try expect(time < .seconds(10), "The end came after \(time).")
    try result.get()
}

/// Sends requests of every kind, chosen at random, and checks the outcome of each.
final class Traffic: Sendable {
    private let faulty: FaultyServer
    private let kinds: [Kind]
    private let ledger: Ledger
    private let chaos: Chaos
    private let folder: URL
    private let client: APIClient

    init(_ options: Options, _ chaos: Chaos, _ ledger: Ledger) throws {
        self.ledger = ledger
        self.chaos = chaos
        let faulty = try FaultyServer()
        self.faulty = faulty
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-soak-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        let clients = Clients(faulty.server.url, folder, chaos)
        client = clients.plain
        kinds =
            ExchangeKinds.all(clients) + FaultKinds.all(clients) + BodyKinds.all(clients, folder)
            + GateKinds.all(clients) + ChaosKinds.all(clients, options, folder, chaos.smallFolder)
    }

    /// Sends the first request, with which the engine starts. It needs descriptors, which the chaos takes at times.
    func start() async throws {
        _ = try await client.data.get("chunked").sender().value
    }

    func stop() {
        faulty.server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Closes the idle connections, and returns the lowest figures of the process during some time.
    ///
    /// - Parameters:
    ///   - time: The time during which samples are made.
    ///   - first: An earlier sample. If the figures are within its limits, the time is over.
    /// - Returns: The lowest figures.
    func rest(for time: Duration, comparedTo first: Sample? = nil) async -> Sample {
        let end = ContinuousClock.now + time
        var lowest = Sample.now(after: 0, sent: 0)
        while ContinuousClock.now < end {
            // All clients share the transport, and connect again.
            await APIClient().drain()
            lowest = lowest.lowest(.now(after: 0, sent: 0))
            if let first, Verdict(first: first, last: lowest, ledger).isGood { break }
            try? await Task.sleep(for: .milliseconds(100))
        }
        return lowest
    }

    /// Returns the number of transfers that are still in progress after a few seconds without requests.
    func transfersLeft() async -> Int {
        for _ in 0..<100 where transfersInProgress > 0 {
            try? await Task.sleep(for: .milliseconds(100))
        }
        return transfersInProgress
    }

    /// The transfers of all clients, because they share a transport.
    private var transfersInProgress: Int {
        let connections = client.connections
        return connections.origins.flatMap(\.connections).reduce(connections.waiting) { $0 + $1.requests }
    }

    /// Sends requests one after another. Every fifth is cancelled in progress.
    func run(until end: ContinuousClock.Instant, seed: UInt64) async {
        var random = SeededGenerator(seed: seed)
        while ContinuousClock.now < end {
            guard let kind = kinds.randomElement(using: &random) else { return }
            let isCancelled = Int.random(in: 0..<5, using: &random) == 0
            let delay = isCancelled ? Duration.microseconds(Int.random(in: 0..<4000, using: &random)) : nil
            let request = ledger.begin(kind.name)
            await run(kind, cancelledAfter: delay)
            ledger.end(request)
        }
    }

    private func run(_ kind: Kind, cancelledAfter delay: Duration?) async {
        let starvation = chaos.starvation
        let task = Task { try await kind.work() }
        if let delay {
            try? await Task.sleep(for: delay)
            task.cancel()
        }
        let result = await task.result
        let isStarved = starvation == nil || starvation != chaos.starvation
        switch result {
        case .success where kind.maySucceed: ledger.note(kind.name, "answered")
        case .success: ledger.noteUnexpected(kind.name, "Expected a failure.")
        case .failure(let error):
            let code = ((error as? APIError)?.error ?? error as? SluiceError)?.code
            if let code, kind.mayFail(with: code) || delay != nil && code == .cancelled {
                ledger.note(kind.name, "\(code)")
            } else if delay != nil, error is CancellationError {
                ledger.note(kind.name, "cancelled")
            } else if isStarved, code != .internalFailure {
                // Without descriptors, all may fail, the checks too. What fails says why.
                ledger.note("without descriptors", code.map { "\($0)" } ?? "\(type(of: error))")
            } else {
                ledger.noteUnexpected(kind.name, "\(error)")
            }
        }
    }
}
