import SluiceTesting
import XCTest

@testable import Sluice

final class BatchProgressTests: XCTestCase {
    func testProgressIsSharedByManyLoops() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/fast", .text("12345"))
        server.on("/slow", .after(signal, .text("1234567")))
        let client = APIClient(baseURL: server.url)
        let upload: APIRequest<String, APIError> = client.string.post("slow").data(Data("abc".utf8))
        let sender = client.batchSender([client.string.get("fast"), upload])
        let loops = (0..<3).map { _ in
            Task {
                var seen: [BatchProgress] = []
                for await progress in sender.progress {
                    seen.append(progress)
                    if progress.completed == 1 { signal.fire() }
                }
                return seen
            }
        }
        let values = try await sender.value
        XCTAssertEqual(values, ["12345", "1234567"])
        for loop in loops {
            let seen = await loop.value
            XCTAssertEqual(seen.first?.total, 2)
            XCTAssertEqual(seen.last, BatchProgress(succeeded: 2, total: 2, bytesSent: 3, bytesReceived: 12))
            XCTAssertEqual(seen.map(\.completed), seen.map(\.completed).sorted())
        }
        let late = await sender.progress.reduce(into: []) { $0.append($1) }
        XCTAssertEqual(late.map(\.fractionCompleted), [1])
    }

    func testProgressReportsBytesBeforeCompletion() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        let half = Data(repeating: 1, count: 500)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        server.on("/slow", .script(.write(head), .write(half), .wait(for: signal), .write(half)))
        let client = APIClient(baseURL: server.url)
        let requests: [APIRequest<Data, APIError>] = [client.data.get("slow")]
        let sender = client.batchSender(requests)
        async let values = sender.value
        var seen: [BatchProgress] = []
        for await progress in sender.progress {
            seen.append(progress)
            if progress.bytesReceived == 500 { signal.fire() }
        }
        XCTAssertTrue(seen.contains { $0.bytesReceived == 500 && $0.completed == 0 })
        let count = try await values.first?.count
        XCTAssertEqual(count, 1000)
    }

    func testProgressEndsForCancelledAndUnsentBatches() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let client = APIClient(baseURL: server.url)
        let requests: [APIRequest<Data, APIError>] = [client.data.get("hang"), client.data.get("hang")]
        let sender = client.batchSender(requests)
        let progress = Task { await sender.progress.reduce(into: nil) { $0 = $1 } }
        let task = Task { await sender.results }
        await server.waitForRequests(2)
        task.cancel()
        let last = await progress.value
        XCTAssertEqual(last, BatchProgress(total: 2))

        let unsent = client.batchSender(requests).progress
        let only = await unsent.reduce(into: []) { $0.append($1) }
        XCTAssertEqual(only, [BatchProgress(total: 2)])
        XCTAssertEqual(server.requestCount, 2)
    }
}
