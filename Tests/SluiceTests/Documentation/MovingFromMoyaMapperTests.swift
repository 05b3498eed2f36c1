import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The guide for users of MoyaMapper.
final class MovingFromMoyaMapperTests: XCTestCase {
    struct Company: Codable, Sendable, DefaultInitializable {
        var id = ""
        var name = ""
        var isOpen = false
        var catchPhrase = "none"

        enum CodingKeys: String, CodingKey {
            case id, isOpen, catchPhrase
            case name = "nickname"
        }
    }

    private func shopServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        let acme = #"{"id":"1","nickname":"Acme","isOpen":true,"catchPhrase":"Beep"}"#
        server.on("/company", .json(#"{"retStatus":"000","retBody":\#(acme)}"#))
        server.on("/companies", .json(#"{"retStatus":"000","retBody":[\#(acme)]}"#))
        server.on("/refused", .json(#"{"retStatus":"900","retMsg":"Sold out."}"#))
        server.on("/careless", .json(#"{"id":1,"nickname":"Acme","is_open":"true","catch_phrase":null}"#))
        return server
    }

    func testEnvelopes() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url) {
            $0.envelope = Envelope(status: "retStatus", success: "000", message: "retMsg", payload: "retBody")
        }
        let company: Company = try await shop.get("company").sender().value
        let companies: [Company] = try await shop.get("companies").sender().value
        XCTAssertEqual([company.name, companies.first?.name], ["Acme", "Acme"])
        let outcome = try await shop.codable.get("refused", as: Company.self).outcome().sender().value
        let (isSuccess, tip) = outcome.summary
        print(isSuccess, tip ?? "", outcome.payload?.name ?? "")
        XCTAssertEqual(tip, "Sold out.")
        let response = await shop.data.get("companies").sender().response
        let name = try response.string(at: "retBody[0].nickname")
        let first = try response.json(at: "retBody[0]")
        let raw = try response.rawJSON(at: "retBody")
        print(name, first.id.intValue, raw)
        XCTAssertEqual(name, "Acme")
    }

    func testModels() async throws {
        let server = try shopServer()
        let careless = APIClient(baseURL: server.url) {
            $0.modelDecoder = LenientJSONDecoder(keyDecodingStrategy: .convertFromSnakeCase)
        }
        let lenient: Company = try await careless.get("careless").sender().value
        XCTAssertEqual([lenient.id, lenient.name, lenient.catchPhrase], ["1", "Acme", "none"])
        XCTAssertTrue(lenient.isOpen)
        let json = try JSON(parsing: #"{"list":[{"id":1,"nickname":"Acme"}]}"#)
        let acme: Company = try json["list"][0].decoded(by: LenientJSONDecoder())
        let list: [Company] = try json["list"].decoded(by: LenientJSONDecoder())
        XCTAssertEqual([acme.name, list.first?.name], ["Acme", "Acme"])
    }

    func testValuesInTheCache() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = CacheStore(directory: folder)
        try await store.set("ada", for: "user")
        try await store.set([1.5, 2.5], for: "numbers", expiration: .days(7))
        try await store.memory.set(true, for: "isNew")
        let user: String? = try await store.value(for: "user")
        let isNew: Bool? = try await store.memory.value(for: "isNew")
        try await store.remove("user")
        try await store.removeAll()
        XCTAssertEqual(user, "ada")
        XCTAssertEqual(isNew, true)
    }

    func testFirstLaunchDataSource() async throws {
        let server = try shopServer()
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let cached = APIClient(baseURL: server.url) { $0.cache = CacheStore(directory: folder) }
        let sender = cached.data.get("companies").dataSource(.firstLaunch, key: .methodURL).sender()
        for await response in sender.responses {
            print(response.source.isCache ? "cache" : "server", response.status ?? 0)
        }
        XCTAssertEqual(server.requests(to: "/companies").count, 1)
    }
}
