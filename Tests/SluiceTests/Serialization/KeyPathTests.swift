import Sluice
import SluiceTesting
import XCTest

/// Models inside a body, and responses without a body.
final class KeyPathTests: XCTestCase {
    /// The servers of the test. A server stops when it is deallocated.
    private var servers: [LoopbackServer] = []

    override func tearDown() {
        servers = []
    }

    private func client(_ body: String) throws -> APIClient {
        let server = try LoopbackServer()
        servers.append(server)
        server.on("/*", .json(body))
        return APIClient(baseURL: server.url)
    }

    private static let page = #"{"data":{"items":[{"id":1,"name":"Ada"},{"id":2,"name":"Grace"}]}}"#

    func testDecodesModelsAtKeyPaths() async throws {
        let client = try client(Self.page)
        let users: [User] = try await client.codable.request("users").keyPath("data.items").sender().value
        XCTAssertEqual(users.map(\.name), ["Ada", "Grace"])
        let first: User = try await client.codable.request("users").keyPath("data.items[0]").sender().value
        let last: User = try await client.codable.request("users").keyPath("data>items[-1]").sender().value
        let name: String = try await client.codable.request("users").keyPath("data.items[1].name").sender().value
        XCTAssertEqual([first.name, last.name, name], ["Ada", "Grace", "Grace"])
        let id: Int = try await client.json.request("users").keyPath("data.items[1].id").sender().value
        XCTAssertEqual(id, 2)
    }

    func testMissingKeyPathNamesLastFoundElement() async throws {
        let client = try client(Self.page)
        for (path, words) in [
            ("data.items[5]", ["data.items", "2", "[5]"]), ("data.item", ["data", "item"]),
            ("data.items[0].name.first", ["data.items[0].name", "string"]),
        ] as [(JSONPath, [String])] {
            let error = await client.codable.request("users", as: User.self).keyPath(path).sender().result.failure
            XCTAssertEqual(error?.code, .decodingFailed)
            for word in words { XCTAssertEqual(error?.description.contains(word), true, "\(error?.description ?? "")") }
            XCTAssertEqual(error?.response?.status, .ok)
        }
    }

    func testFailureBelowKeyPathNamesField() async throws {
        let error = try await client(#"{"data":[{"id":"one","name":"Ada"}]}"#)
            .codable.request("users", as: [User].self).keyPath("data").sender().result.failure
        XCTAssertEqual(error?.code, .decodingFailed)
        XCTAssertEqual(error?.description.contains("“data[0].id”"), true, "\(error?.description ?? "")")
    }

    func testEmptyBodyIsErrorUnlessAllowed() async throws {
        let client = try client("")
        let error = await client.codable.request("x", as: User?.self).sender().result.failure
        XCTAssertEqual(error?.code, .decodingFailed)
        XCTAssertEqual(error?.description.contains("empty"), true)
        let none: User? = try await client.codable.request("x").allowingEmptyBody().sender().value
        let list: [User] = try await client.codable.request("x").allowingEmptyBody().sender().value
        let dictionary: [String: Int] = try await client.codable.request("x").allowingEmptyBody().sender().value
        XCTAssertNil(none)
        XCTAssertEqual(list, [])
        XCTAssertEqual(dictionary, [:])
        let user = await client.codable.request("x", as: User.self).allowingEmptyBody().sender().result.failure
        XCTAssertEqual(user?.code, .decodingFailed)
    }

    func testDecodesScalars() async throws {
        let number: Int = try await client("42").codable.request("x").sender().value
        let flag: Bool = try await client("true").codable.request("x").sender().value
        let fraction: Double = try await client("0.5").json.request("x").sender().value
        XCTAssertEqual(number, 42)
        XCTAssertTrue(flag)
        XCTAssertEqual(fraction, 0.5)
    }

    func testEmptyTextAndDataStayEmpty() async throws {
        let client = try client("")
        let text = try await client.string.request("x").allowingEmptyBody().sender().value
        let data = try await client.data.request("x").allowingEmptyBody().sender().value
        XCTAssertEqual(text, "")
        XCTAssertEqual(data.count, 0)
    }

    func testTextAtKeyPathIsUnescaped() async throws {
        let client = try client(#"{"a":[{"t":"grün\n\u00e9"},{"t":1.10},{"t":null}]}"#)
        let text = try await client.string.request("x").keyPath("a[0].t").sender().value
        let number = try await client.string.request("x").keyPath("a[1].t").sender().value
        XCTAssertEqual([text, number], ["grün\né", "1.10"])
        let error = await client.string.request("x").keyPath("a[2].t").sender().result.failure
        XCTAssertEqual(error?.description.contains("a[2].t"), true)
    }
}
