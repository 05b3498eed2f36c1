import FleetReport
import Sluice
import Synchronization

/// A process of the fleet, with users that ask for orders and pages without a pause.
struct Service: Sendable {
    let number: Int
    let client: FleetClient
    let log: EventLog
    private let counts = Counts()

    private static let orderUsers = 4
    private static let pageUsers = 3

    init(number: Int, client: FleetClient, log: EventLog) {
        (self.number, self.client, self.log) = (number, client, log)
    }

    /// Serves its users until SIGTERM. Requests in progress are cancelled, and what is not yet in the cache on Redis is written.
    func run() async {
        await withTaskGroup { group in
            for _ in 0..<Self.orderUsers { group.addTask { await requestOrders() } }
            for _ in 0..<Self.pageUsers { group.addTask { await requestPages() } }
            group.addTask { await reportCounts() }
            group.addTask { await reportFallback() }
            await Termination.wait()
            group.cancelAll()
        }
        await client.cache.flush()
        writeCounts()
    }

    private func requestOrders() async {
        while !Task.isCancelled {
            let order = Int.random(in: 0..<1_000_000)
            await count { counts throws(APIError) in
                let text = try await client.orders.string.get("orders/\(order)").sender().value
                counts.orders += 1
                if text != UpstreamText.order(order) { counts.wrong += 1 }
            }
        }
    }

    private func requestPages() async {
        while !Task.isCancelled {
            let page = Int.random(in: 0..<FleetRules().pages)
            await count { counts throws(APIError) in
                let text = try await client.pages.string.get("pages/\(page)").sender().value
                counts.pages += 1
                if !UpstreamText.isPage(page, text) { counts.wrong += 1 }
            }
            // A user who reads.
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Adds the counts of a request, or the code of its error.
    private func count(_ request: (inout ServiceCounts) async throws(APIError) -> Void) async {
        var added = ServiceCounts()
        do throws(APIError) {
            try await request(&added)
        } catch {
            // A request that this process cancelled at its end has no user.
            if Task.isCancelled { return }
            added.errors["\(error.authorizationError.map { "\($0.code)" } ?? "\(error.code)")"] = 1
        }
        counts.add(added)
        if !added.errors.isEmpty { try? await Task.sleep(for: .milliseconds(50)) }
    }

    private func reportCounts() async {
        while (try? await Task.sleep(for: .seconds(1))) != nil { writeCounts() }
    }

    private func writeCounts() {
        log.write(FleetEvent(.counts, at: EventLog.now, service: number, counts: counts.take()))
    }

    /// Reports when the rate limit begins and ends to use its fallback.
    private func reportFallback() async {
        var isFallback = false
        while (try? await Task.sleep(for: .milliseconds(10))) != nil {
            if (client.limit.failure != nil) == isFallback { continue }
            isFallback.toggle()
            log.write(FleetEvent(isFallback ? .fallbackStarted : .fallbackEnded, at: EventLog.now, service: number))
        }
    }

    /// The counts since the last report.
    private final class Counts: Sendable {
        private let state = Mutex(ServiceCounts())

        func add(_ more: ServiceCounts) {
            state.withLock { $0 += more }
        }

        func take() -> ServiceCounts {
            state.withLock { counts in
                defer { counts = ServiceCounts() }
                return counts
            }
        }
    }
}
