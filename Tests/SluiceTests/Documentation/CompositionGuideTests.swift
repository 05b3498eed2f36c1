import Sluice
import SluiceTesting
import XCTest

/// The article on several requests.
final class CompositionGuideTests: XCTestCase {
    private struct Repo: Decodable, Sendable { let name: String }
    private struct Report: Decodable, Sendable { let pages: Int }
    private struct Order: Decodable, Sendable {
        let id: Int
        let isPending: Bool
    }

    private func gitHub() throws -> (LoopbackServer, APIClient) {
        let server = try LoopbackServer()
        server.on("/user", .json(#"{"id":1,"name":"Ada"}"#))
        server.on("/users/Ada", .json(#"{"id":1,"name":"Ada"}"#))
        server.on("/users/Grace", .json(#"{"id":2,"name":"Grace"}"#))
        server.on("/user/1", .json(#"{"id":1,"name":"Ada"}"#))
        server.on("/user/2", .json(#"{"id":2,"name":"Grace"}"#))
        server.on("/user/1/repos", .json(#"[{"name":"engine"}]"#))
        server.on("/users/Ada/repos", .json(#"[{"name":"engine"}]"#))
        server.on("/zen", .text("Let it flow."))
        addTeardownBlock { server.stop() }
        return (server, APIClient(baseURL: server.url))
    }

    func testBatches() async throws {
        let (server, github) = try gitHub()
        let userRequest: APIRequest<User, ShopError> = github.codable.get("user")
        let reposRequest: APIRequest<[Repo], APIError> = github.codable.get("users/Ada/repos")
        let (user, repos) = try await github.batch(userRequest, reposRequest)
        XCTAssertEqual(user.name, "Ada")
        XCTAssertEqual(repos.map(\.name), ["engine"])
        let ids = [1, 2]
        do {
            let users = try await github.batch(ids.map { github.codable.get("user/\($0)", as: User.self) })
            XCTAssertEqual(users.map(\.id), [1, 2])
        }
        let requests: [APIRequest<User, APIError>] = ["Ada", "Grace", "Nobody"].map {
            github.codable.get("users/\($0)")
        }
        do {
            let sender = github.batchSender(requests, maximumInFlight: 4, failsFast: false)
            async let results = sender.results
            for await progress in sender.progress {
                print("\(progress.completed) of \(progress.total), \(progress.bytesReceived) bytes")
            }
            let users = await results.compactMap { try? $0.get() }
            XCTAssertEqual(users.map(\.id), [1, 2])
        }
        XCTAssertEqual(server.requestCount, 7)
    }

    func testChains() async throws {
        let server = try LoopbackServer()
        server.on("/orders", .json(#"{"id":3,"isPending":true}"#))
        server.on("/orders/3", .json(#"{"id":3,"isPending":true}"#), .json(#"{"id":3,"isPending":false}"#))
        let shop = APIClient(baseURL: server.url)
        let order: APIRequest<Order, ShopError> = shop.codable.post("orders")
        let chain = shop.chain(order) { response in
            guard let order = try? response.result.get(), order.isPending else { return nil }
            return shop.codable.get("orders/\(order.id)")
        }
        for try await response in chain {
            print(response.status ?? 0)
        }
        let bar = Task {
            for await progress in chain.progress { print(progress.request, progress.download.completed) }
        }
        await bar.value
        XCTAssertEqual(server.requests.map(\.target), ["/orders", "/orders/3", "/orders/3"])
    }

    func testChainsOfSeveralModels() async throws {
        let server = try LoopbackServer()
        server.on("/orders/3", .json(#"{"id":3,"isPending":true}"#))
        server.on("/orders/3/buyer", .json(#"{"id":1,"name":"Ada"}"#))
        let shop = APIClient(baseURL: server.url)
        enum Step: Sendable {
            case order(Order), user(User), failed(APIError)
        }

        let first = ChainLink<Step>(shop.get("orders/3", as: Order.self)) { response in
            switch response.result {
            case .success(let order): .order(order)
            case .failure(let error): .failed(error)
            }
        }
        let steps = shop.chain(first) { step in
            guard case .order(let order) = step else { return nil }
            return ChainLink(shop.get("orders/\(order.id)/buyer", as: User.self)) { response in
                switch response.result {
                case .success(let user): .user(user)
                case .failure(let error): .failed(error)
                }
            }
        }
        for try await step in steps { print(step) }
        XCTAssertEqual(server.requests.map(\.target), ["/orders/3", "/orders/3/buyer"])
    }

    func testGraphs() async throws {
        let (_, github) = try gitHub()
        var graph = RequestGraph()
        let user = graph.add("user", github.codable.get("user", as: User.self))
        let repos = graph.add("repos", after: user) { user in
            github.codable.get("user/\(user.id)/repos", as: [Repo].self)
        }
        let motto = graph.add("motto", github.string.get("zen"))
        let summary = graph.add("summary", after: user, repos, motto) { user, repos, motto in
            "\(user.name) has \(repos.count) repositories. \(motto)"
        }
        print(try await graph.run().value(of: summary))
        let text = try await graph.run().value(of: summary)
        XCTAssertEqual(text, "Ada has 1 repositories. Let it flow.")

        graph.add("lost", github.string.get("lost"))
        let results = try await graph.run(maximumInFlight: 8, failsFast: false)
        for failure in results.failures {
            print(failure.step ?? "", failure.error)
        }
        XCTAssertEqual(results.failures.map(\.step), ["lost"])
    }

    func testCircularGraphFails() async throws {
        let rate = GraphStep<String>("rate")
        var report = RequestGraph()
        let total = report.add("total", after: rate) { rate in "the total at \(rate)" }
        report.add(rate, after: total) { total in "the rate for \(total)" }
        do {
            _ = try await report.run()
        } catch {
            print(error.defects)  // ["Steps depend on each other in a cycle: “total” → “rate” → “total”."]
        }
        do {
            _ = try await report.run()
            XCTFail("The graph was accepted.")
        } catch {
            XCTAssertEqual(error.defects, ["Steps depend on each other in a cycle: “total” → “rate” → “total”."])
        }
    }

    func testSharing() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/reports", .after(signal, .json(#"{"pages":3}"#)))
        let feed = APIClient(baseURL: server.url) {
            $0.sharing = .safeMethods.ignoring("X-Request-ID")
        }
        let query = ["year": 1843]
        let report = feed.codable.post("reports", as: Report.self).json(query).shared()
        let (first, second) = (report.sender(), report.sender())
        async let one = first.value.pages
        async let other = second.value.pages
        await server.waitForRequests(1)
        signal.fire()
        let counts = try await [one, other]
        XCTAssertEqual(counts, [3, 3])
    }
}
