import Sluice
import SluiceTesting
import XCTest

final class ChainProgressTests: XCTestCase {
    private func client(_ server: LoopbackServer) -> APIClient {
        addTeardownBlock { server.stop() }
        return APIClient(baseURL: server.url)
    }

    func testProgressFollowsEachRequestOfTheChain() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        let half = Data(repeating: 1, count: 500)
        server.on("/first", .text("12345"))
        server.on("/second", .script(.write(head), .write(half), .wait(for: signal), .write(half)))
        let client = client(server)
        let first: APIRequest<Data, APIError> = client.data.post("first").data(Data("abc".utf8))
        let chain = client.chain(first) { response in
            response.request?.path == "/first" ? client.data.get("second") : nil
        }
        let seen = Task {
            var seen: [(request: Int, upload: TransferProgress, download: TransferProgress)] = []
            for await progress in chain.progress {
                seen.append(progress)
                if progress.request == 2, progress.download.completed == 500 { signal.fire() }
            }
            return seen
        }
        var sizes: [Int] = []
        for try await response in chain { sizes.append(response.body.count) }
        XCTAssertEqual(sizes, [5, 1000])
        let states = await seen.value
        let requests = states.map { $0.request }
        XCTAssertEqual(requests, requests.sorted())
        XCTAssertTrue(states.contains { $0.request == 2 && $0.download.fractionCompleted == 0.5 })
        XCTAssertEqual(states.last?.request, 2)
        XCTAssertEqual(states.last?.download.completed, 1000)
        // After the chain, the progress is the final state.
        let late = await chain.progress.reduce(into: []) { $0.append($1.download) }
        XCTAssertEqual(late, states.suffix(1).map { $0.download })
    }

    func testProgressOfTheBodyIsThatOfTheCurrentRequest() async throws {
        let server = try LoopbackServer()
        server.on("/first", .text("12345"))
        let client = client(server)
        let first: APIRequest<Data, APIError> = client.data.post("first").data(Data("abc".utf8))
        let chain = client.chain(first) { _ in nil }
        for try await _ in chain {}
        var states = chain.progress.makeAsyncIterator()
        let last = await states.next(isolation: nil)
        XCTAssertEqual(last?.request, 1)
        XCTAssertEqual(last?.upload.completed, 3)
        XCTAssertEqual(last?.download.completed, 5)
        let end = await states.next(isolation: nil)
        XCTAssertNil(end)
    }

    func testProgressEndsWithALoopThatIsLeft() async throws {
        let server = try LoopbackServer()
        server.on("/*", .text("ok"))
        let client = client(server)
        let chain = client.chain(client.string.get("first")) { _ in client.string.get("second") }
        let last = Task { await chain.progress.reduce(into: 0) { $0 = $1.request } }
        for try await _ in chain { break }
        let request = await last.value
        XCTAssertEqual(request, 1)
        // Another iteration sends the requests again, with its own progress.
        var again = chain.makeAsyncIterator()
        _ = try await again.next(isolation: nil)
        _ = try await again.next(isolation: nil)
        var states = chain.progress.makeAsyncIterator()
        let second = await states.next(isolation: nil)?.request
        XCTAssertEqual(second, 2)
        XCTAssertEqual(server.requestCount, 3)
    }

    func testProgressEndsForAChainThatFailsAndForOneThatIsNeverSent() async throws {
        let server = try LoopbackServer()
        server.on("/*", .text("ok"))
        let client = client(server)
        let endless = client.chain(client.string.get("job"), limit: 2) { _ in client.string.get("job") }
        do {
            for try await _ in endless {}
            XCTFail("The chain did not fail.")
        } catch {
            XCTAssertEqual(error.code, .chainTooLong)
        }
        let failed = await endless.progress.reduce(into: []) { $0.append($1.request) }
        XCTAssertEqual(failed, [2])
        let unsent = client.chain(client.string.get("job")) { _ in nil }.progress
        let only = await unsent.reduce(into: []) { $0.append($1.request) }
        XCTAssertEqual(only, [0])
    }

    func testChainsOfSeveralModelsHaveProgress() async throws {
        let server = try LoopbackServer()
        server.on("/login", .text("t0ken"))
        server.on("/user", .json(#"{"id":1,"name":"Ada"}"#))
        let client = client(server)
        let login = ChainLink<String>(client.string.post("login")) { (try? $0.result.get()) ?? "" }
        let chain = client.chain(login) { outcome in
            outcome != "t0ken"
                ? nil : ChainLink(client.get("user", as: User.self)) { (try? $0.result.get().name) ?? "" }
        }
        let names = try await chain.reduce(into: []) { $0.append($1) }
        XCTAssertEqual(names, ["t0ken", "Ada"])
        let last = await chain.progress.reduce(into: 0) { $0 = $1.request }
        XCTAssertEqual(last, 2)
    }
}
