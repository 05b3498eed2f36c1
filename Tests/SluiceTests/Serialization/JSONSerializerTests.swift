import Foundation
import Sluice
import SluiceTesting
import XCTest

final class JSONSerializerTests: XCTestCase {
    private struct Member: JSONDecodable, Equatable {
        let id: Int
        let city: String?

        init(json: JSON) throws {
            id = try json.value(at: "id")
            city = try json.optionalValue(at: "address.city")
        }
    }

    func testDecodesJSONDecodableModels() async throws {
        let server = try LoopbackServer()
        server.on("/users", .json(#"[{"id":1,"address":{"city":"London"}},{"id":2}]"#))
        let client = APIClient(baseURL: server.url)
        let users = try await client.json.request("users", as: [Member].self).sender().value
        XCTAssertEqual(users.map(\.id), [1, 2])
        XCTAssertEqual(users.map(\.city), ["London", nil])
    }

    func testDecodesModelAtKeyPath() async throws {
        let server = try LoopbackServer()
        server.on("/page", .json(#"{"code":0,"data":{"items":[{"id":3}],"total":1}}"#))
        let client = APIClient(baseURL: server.url)
        let members: [Member] = try await client.json.request("page").keyPath("data.items").sender().value
        XCTAssertEqual(members.map(\.id), [3])
        let json = try await client.json.request("page", as: JSON.self).sender().value
        XCTAssertEqual(json.data.total.int, 1)
        XCTAssertEqual(json[path: "data.items[0].id"], 3)
    }

    func testSendsJSONValueAsBody() async throws {
        let server = try LoopbackServer()
        server.on("/echo", .echo)
        let body: JSON = ["name": "Ada", "tags": ["a", nil], "id": JSON(UInt64.max)]
        let request = APIClient(baseURL: server.url).json.request("echo", as: JSON.self)
        let echo = try await request.post().json(body).sender().value
        XCTAssertEqual(try JSON(parsing: echo["text"].stringValue), body)
    }

    func testFailureOfATextNamesTheKindOfRequestForTexts() async throws {
        let server = try LoopbackServer()
        server.on("/motto", .text("festina lente"))
        let client = APIClient(baseURL: server.url)
        func failure<Model>(as model: Model.Type) async -> String where Model: Decodable & Sendable {
            let result = await client.get("motto", as: model).sender().result
            guard case .failure(let error) = result else { return "" }
            return "\(error)"
        }
        let (text, data) = await (failure(as: String.self), failure(as: Data.self))
        XCTAssertTrue(text.contains("create the request with “client.string”"), text)
        XCTAssertTrue(data.contains("create the request with “client.data”"), data)
        let names = await failure(as: [String].self)
        XCTAssertTrue(names.contains("not valid JSON") && !names.contains("create the request"), names)
    }

    func testFailureNamesTypeAndPath() async throws {
        let server = try LoopbackServer()
        server.on("/users", .json(#"{"data":[{"id":1},{"id":"secret"}]}"#))
        let client = APIClient(baseURL: server.url)
        let error = await client.json.request("users", as: [Member].self).keyPath("data").sender().result.failure
        XCTAssertEqual(error?.code, .decodingFailed)
        XCTAssertEqual(error?.error.step, .serialization)
        XCTAssertEqual(
            error?.error.reason,
            "The response could not be decoded as Array<Member>: at “data[1].id”, expected a whole number that fits Int, found a string."
        )
        let failure = error?.underlyingError as? DecodingFailure
        XCTAssertEqual(failure?.codingPath, "data[1].id")
        XCTAssertEqual((failure?.cause as? JSONDecodingFailure)?.found, .string)
        XCTAssertEqual(error?.description.contains("secret"), false)
    }

    func testNumberIsAKeyOfADictionary() async throws {
        struct User: Codable {
            let id: Int
        }
        struct Directory: Codable {
            let users: [String: [User]]
        }
        let server = try LoopbackServer()
        server.on("/users", .json(#"{"users":{"101":[{"id":"x"}]}}"#))
        let client = APIClient(baseURL: server.url)
        let error = await client.codable.request("users", as: Directory.self).sender().result.failure
        let failure = error?.underlyingError as? DecodingFailure
        XCTAssertEqual(failure?.codingPath, "users.101[0].id")
        XCTAssertEqual(error?.error.reason.contains("found a string"), true, error?.error.reason ?? "")
    }

    func testInvalidJSONIsError() async throws {
        let server = try LoopbackServer()
        server.on("/empty", .data(Data()))
        server.on("/broken", .json("{\"a\":1,\n}"))
        let users = APIClient(baseURL: server.url).json
        let empty = await users.request("empty", as: JSON.self).sender().result.failure
        XCTAssertEqual(empty?.error.reason, "The response could not be decoded as JSON: the body is empty.")
        let broken = await users.request("broken", as: JSON.self).sender().result.failure
        XCTAssertEqual(broken?.code, .decodingFailed)
        XCTAssertEqual(broken?.error.reason.hasSuffix("(line 2, column 1)."), true, broken?.error.reason ?? "")
        XCTAssertTrue((broken?.underlyingError as? DecodingFailure)?.cause is JSONSyntaxError)
    }

    func testJSONModelIsReadByTheClientsDecoder() async throws {
        final class Unwrapping: JSONDecoder, @unchecked Sendable {
            override func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
                try super.decode(type, from: data.dropFirst(2))
            }
        }
        let server = try LoopbackServer()
        server.on("/relaxed", .data(Data("{a: 1}".utf8)))
        server.on("/wrapped", .data(Data(#"//{"a":1}"#.utf8)))
        server.on("/wide", .data(try XCTUnwrap(#"{"a":1}"#.data(using: .utf16LittleEndian))))
        let relaxed = JSONDecoder()
        relaxed.allowsJSON5 = true
        for (path, decoder) in [("relaxed", relaxed), ("wrapped", Unwrapping()), ("wide", JSONDecoder())] {
            let client = APIClient(baseURL: server.url) { $0.modelDecoder = decoder }
            let json = try await client.get(path, as: JSON.self).sender().value
            XCTAssertEqual(json, ["a": 1], path)
        }
    }

    func testEmptyModelAcceptsAnyBody() async throws {
        let server = try LoopbackServer()
        server.on("/none", .status(204))
        server.on("/text", .text("OK"))
        let client = APIClient(baseURL: server.url)
        let none = try await client.empty.request("none").sender().value
        let text: Empty = try await client.json.request("text").sender().value
        let codable: Empty = try await client.codable.request("none").sender().value
        XCTAssertEqual([none, text], [codable, codable])
    }
}
