import Sluice

extension SluiceBench {
    func release(_ count: Int) async throws -> (time: Duration, satisfactions: Int)? {
        let door = Door()
        let client = APIClient(baseURL: "http://127.0.0.1:1") {
            $0.constraints = [door]
            $0.transport = Answering()
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { _ = try await client.data.request("").sender().value } }
            while await door.asked < count { await Task.yield() }
            let clock = ContinuousClock()
            let start = clock.now
            await door.open()
            try await group.waitForAll()
            return (clock.now - start, await door.satisfactions)
        }
    }
}

/// A condition that a call satisfies.
private actor Door: Constraint {
    private(set) var asked = 0
    private(set) var satisfactions = 0
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func isSatisfied(for request: RequestContext) -> Bool {
        asked += 1
        return false
    }

    func satisfy(for request: RequestContext) async {
        satisfactions += 1
        if !isOpen { await withCheckedContinuation { waiting.append($0) } }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}

/// A transport that answers at once.
private struct Answering: Transport {
    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody())
    }
}
