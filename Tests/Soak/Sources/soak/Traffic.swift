import Foundation
import Sluice
import SluiceTesting

/// Sends requests of every kind, chosen at random, and checks the outcome of each.
final class Traffic: Sendable {
    struct Item: Codable, Sendable, Hashable {
        let id: Int
        let name: String
    }

    /// A kind of request, and the error codes that are expected; empty for success.
    struct Kind: Sendable {
        let name: String
        let codes: Set<SluiceError.Code>
        let work: @Sendable () async throws -> Void
    }

    private let faulty: FaultyServer
    private let kinds: [Kind]
    private let ledger: Ledger
    private let folder: URL

    struct UnexpectedResponse: Error, CustomStringConvertible {
        let description: String
    }

    init(_ urls: [String], trusting certificate: String, _ ledger: Ledger) throws {
        self.ledger = ledger
        let faulty = try FaultyServer()
        self.faulty = faulty
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-soak-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        let plain = APIClient(baseURL: faulty.server.url) {
            $0.timeouts = Timeouts(connect: .seconds(10), idle: .seconds(20), total: .seconds(60))
            $0.limits.body = 1 << 20
            $0.gates = [ConcurrencyLimit(16)]
        }
        let cached = APIClient(baseURL: faulty.server.url) {
            $0.cache = CacheStore(directory: folder.appending(path: "cache")) { $0.memory.count = 4 }
            $0.sharing = .safeMethods
        }
        let retrying = APIClient(baseURL: faulty.server.url) {
            $0.retry = RetryPolicy(maximumAttempts: 2)
        }
        let shortTimeout = APIClient(baseURL: faulty.server.url) { $0.timeouts.idle = .milliseconds(300) }
        var kinds = Traffic.successes(plain, cached) + Traffic.faults(plain, retrying, shortTimeout)
        kinds += Traffic.bodies(plain, folder)
        for url in urls {
            let secure = APIClient(baseURL: url) { $0.connection.tls.trust = .only(.file(certificate)) }
            let distrusting = APIClient(baseURL: url)
            kinds += Traffic.secure(secure, distrusting)
        }
        self.kinds = kinds
    }

    deinit {
        faulty.server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Sends requests one after another. Every fifth is cancelled in progress.
    func run(until end: ContinuousClock.Instant, seed: UInt64) async {
        var random = SeededGenerator(seed: seed)
        while ContinuousClock.now < end {
            guard let kind = kinds.randomElement(using: &random) else { return }
            if Int.random(in: 0..<5, using: &random) == 0 {
                await runAndCancel(kind, after: .microseconds(Int.random(in: 0..<4000, using: &random)))
            } else {
                await runToEnd(kind)
            }
        }
    }

    private func runToEnd(_ kind: Kind) async {
        do {
            try await kind.work()
            if kind.codes.isEmpty {
                ledger.note(kind.name, "answered")
            } else {
                ledger.noteUnexpected(kind.name, "Expected a failure.")
            }
        } catch {
            note(error, of: kind, orCancelled: false)
        }
    }

    private func runAndCancel(_ kind: Kind, after delay: Duration) async {
        let task = Task { try await kind.work() }
        try? await Task.sleep(for: delay)
        task.cancel()
        switch await task.result {
        case .success: ledger.note(kind.name, "answered before it was cancelled")
        case .failure(let error): note(error, of: kind, orCancelled: true)
        }
    }

    private func note(_ error: any Error, of kind: Kind, orCancelled: Bool) {
        let failure = (error as? APIError)?.error ?? error as? SluiceError
        if let failure, kind.codes.contains(failure.code) || orCancelled && failure.isCancellation {
            ledger.note(kind.name, "\(failure.code)")
        } else if orCancelled, error is CancellationError {
            ledger.note(kind.name, "cancelled")
        } else {
            ledger.noteUnexpected(kind.name, "\(error)")
        }
    }
}
