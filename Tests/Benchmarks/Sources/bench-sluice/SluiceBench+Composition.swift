import Sluice
import Synchronization

extension SluiceBench {
    func share(_ count: Int) async throws -> (time: Duration, transfers: Int)? {
        let transport = HeldTransport()
        let built = Counter()
        let client = APIClient(baseURL: "http://127.0.0.1:1") {
            $0.sharing = .safeMethods
            $0.transport = transport
            // The mapping is the last step before a request joins a shared transfer.
            $0.requestMapping = { request in
                built.add()
                return request
            }
        }
        let clock = ContinuousClock()
        let start = clock.now
        // A task group takes longer to release so many tasks than the requests take.
        let tasks = (0..<count).map { _ in Task { try await client.data.request("").sender().value } }
        while built.count < count { await Task.yield() }
        // The last requests are about to join.
        try await Task.sleep(for: .milliseconds(5))
        await transport.gate.open()
        for task in tasks { _ = try await task.value }
        return (clock.now - start, await transport.gate.transfers)
    }

    func runGraph(_ count: Int) async throws -> (time: Duration, steps: Int)? {
        let clock = ContinuousClock()
        let start = clock.now
        var graph = RequestGraph()
        var steps: [GraphStep<Int>] = []
        steps.reserveCapacity(count)
        // Rows of a hundred steps. Each step depends on one of the row before.
        for number in 0..<count {
            if number < 100 {
                steps.append(graph.add("step \(number)") { number })
            } else {
                steps.append(graph.add("step \(number)", after: steps[number - 100]) { $0 + 100 })
            }
        }
        let results = try await graph.run()
        let time = clock.now - start
        var ran = 0
        for (number, step) in steps.enumerated() where try results.value(of: step) == number { ran += 1 }
        return (time, ran)
    }
}

private final class Counter: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .relaxed) }
    func add() { value.add(1, ordering: .relaxed) }
}

/// A transport that answers once its gate is open.
private struct HeldTransport: Transport {
    actor Gate {
        private(set) var transfers = 0
        private var isOpen = false
        private var continuations: [CheckedContinuation<Void, Never>] = []

        func wait() async {
            transfers += 1
            if !isOpen { await withCheckedContinuation { continuations.append($0) } }
        }

        func open() {
            isOpen = true
            for continuation in continuations { continuation.resume() }
            continuations = []
        }
    }

    let gate = Gate()

    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        await gate.wait()
        return TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody())
    }
}
