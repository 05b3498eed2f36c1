import Sluice

extension SluiceBench {
    func release(_ count: Int) async throws -> (time: Duration, satisfactions: Int)? {
        let constraint = ManualConstraint()
        let client = APIClient(baseURL: "http://127.0.0.1:1") {
            $0.constraints = [constraint]
            $0.transport = ImmediateTransport()
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { _ = try await client.data.request("").sender().value } }
            while await constraint.checks < count { await Task.yield() }
            let clock = ContinuousClock()
            let start = clock.now
            await constraint.open()
            try await group.waitForAll()
            return (clock.now - start, await constraint.satisfactions)
        }
    }
}

/// A constraint that `open()` satisfies.
private actor ManualConstraint: Constraint {
    private(set) var checks = 0
    private(set) var satisfactions = 0
    private var isOpen = false
    private var continuations: [CheckedContinuation<Void, Never>] = []

    func isSatisfied(for request: RequestContext) -> Bool {
        checks += 1
        return false
    }

    func satisfy(for request: RequestContext) async {
        satisfactions += 1
        if !isOpen { await withCheckedContinuation { continuations.append($0) } }
    }

    func open() {
        isOpen = true
        for continuation in continuations { continuation.resume() }
        continuations = []
    }
}

/// A transport that answers at once.
private struct ImmediateTransport: Transport {
    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody())
    }
}
