import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The article on parameters and bodies.
final class BodiesGuideTests: XCTestCase {
    enum Catalogue: Target {
        case items(Parameters)
        case save(Parameters)

        var baseURL: String { "https://shop.example" }
        var path: String { "items" }
        var task: MethodTask {
            switch self {
            case .items(let filter): .get(.parameters(filter))
            case .save(let values): .post(.json(values))
            }
        }
    }

    func testParametersOfATarget() async throws {
        let shop = APIClient()
        let settings: [String: any Encodable & Sendable] = ["theme": "dark", "size": 12]
        let open = shop.json.request(Catalogue.items(["state": "open", "page": 2]))
        let save = shop.json.request(Catalogue.save(Parameters(settings)))
        XCTAssertEqual(try open.httpRequest().path, "/items?page=2&state=open")
        let request = try save.httpRequest()
        XCTAssertEqual(request.method, .post)
        let body = try await request.body.collect(upTo: 1 << 10)
        XCTAssertEqual(try JSON(parsing: body), ["theme": "dark", "size": 12])
    }

    func testParameters() async throws {
        let server = try LoopbackServer()
        server.on("/users", .json("[]"))
        let shop = APIClient(baseURL: server.url)
        let city: String? = nil
        let search: APIRequest<[User], ShopError> = shop.get("users")
            .query(["q": "ada", "page": 1, "tags": ["new", "old"], "city": city])
            .query("sort", "name")
        let plain = URLEncodedFormEncoder(arrayEncoding: .noBrackets, boolEncoding: .literal)
        let filtered = shop.string.get("users").parameters(["new": true, "tag": ["a", "b"]], encoder: plain)
        let partner = APIClient(baseURL: "https://partner.example") {
            $0.formEncoder = URLEncodedFormEncoder(arrayEncoding: .noBrackets, boolEncoding: .literal)
        }
        let values: Parameters = ["new": true, "tag": ["a", "b"], "price": 10.0]
        XCTAssertEqual(
            try partner.data.get("users").query(values).httpRequest().path,
            "/users?new=true&price=10.0&tag=a&tag=b"
        )
        XCTAssertEqual(
            try shop.data.get("users").query(values).httpRequest().path,
            "/users?new=1&price=10.0&tag%5B%5D=a&tag%5B%5D=b"
        )
        _ = try await search.sender().value
        _ = try await filtered.sender().value
        XCTAssertEqual(
            server.requests.map(\.query),
            ["page=1&q=ada&tags%5B%5D=new&tags%5B%5D=old&sort=name", "new=true&tag=a&tag=b"]
        )
    }

    func testBodies() async throws {
        let server = try LoopbackServer()
        server.on("/echo") { .data($0.body) }
        let shop = APIClient(baseURL: server.url)
        let picture = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).png")
        try Data([1, 2, 3]).write(to: picture)
        defer { try? FileManager.default.removeItem(at: picture) }
        let json = shop.string.post("echo").json(User(id: 1, name: "Ada"), root: "user")
        let null = shop.string.post("echo").json(Parameters(["name": "Ada", "nick": nil], nilValues: .null))
        let form = shop.string.post("echo").form(["user": "ada", "remember": true])
        let nested = shop.string.post("echo").json(["user": ["name": "Ada", "age": 36] as Parameters])
        let bytes = shop.string.put("echo").data(Data("# Title".utf8), contentType: "text/markdown")
        let file = shop.string.put("echo").file(picture)
        let part = shop.string.put("echo").file(picture, range: 1..<3)
        let values: [String: Any] = ["name": "Ada", "tags": ["a", "b"]]
        let converted = shop.string.post("echo").json(try Parameters(any: values))
        let convertedText = try await converted.sender().value
        XCTAssertEqual(try JSON(parsing: convertedText), ["name": "Ada", "tags": ["a", "b"]])
        let jsonText = try await json.sender().value
        let nullText = try await null.sender().value
        let nestedText = try await nested.sender().value
        XCTAssertEqual(try JSON(parsing: nestedText), ["user": ["name": "Ada", "age": 36]])
        let formText = try await form.sender().value
        let bytesText = try await bytes.sender().value
        let fileText = try await file.sender().value
        let partText = try await part.sender().value
        XCTAssertEqual(try JSON(parsing: jsonText), ["user": ["id": 1, "name": "Ada"]])
        XCTAssertEqual(try JSON(parsing: nullText), ["name": "Ada", "nick": nil])
        XCTAssertEqual([formText, bytesText], ["remember=1&user=ada", "# Title"])
        XCTAssertEqual([fileText, partText], ["\u{1}\u{2}\u{3}", "\u{2}\u{3}"])
        let album: MultipartForm = [
            .text("Holidays", name: "title"),
            .file(picture, name: "picture"),
            .data(Data("…".utf8), name: "notes", fileName: "notes.txt", contentType: "text/plain"),
        ]
        let upload = shop.string.post("echo").multipart(album).query("public", true)
        let uploaded = try await upload.sender().value
        XCTAssertTrue(uploaded.contains("Holidays"))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .prettyPrinted
        let pages = AsyncStream { continuation in
            for page in ["a", "b", "c"] { continuation.yield(Data(page.utf8)) }
            continuation.finish()
        }
        let report: MultipartForm = [
            .json(User(id: 1, name: "Ada"), name: "author"),
            .json(["pages": 12], name: "metadata", encoder: encoder),
            .stream(pages, length: 3, name: "text", fileName: "report.txt", contentType: "text/plain"),
        ]
        let reported = try await shop.string.post("echo").multipart(report).sender().value
        for part in [#""name":"Ada""#, "\"pages\" : 12", "\r\n\r\nabc\r\n"] {
            XCTAssertTrue(reported.contains(part), reported)
        }
    }

    func testDestinations() async throws {
        let server = try LoopbackServer()
        server.on("/*") { .text($0.target) }
        let shop = APIClient(baseURL: server.url)
        let template: URITemplate = "users/{id}/repos{?page,tags*}"
        let repos = shop.string.get(template.expanding(["id": "ada", "page": 2, "tags": ["a", "b"]]))
        let mirrored = shop.string.get("motto").host("cdn.shop.example")
        let legacy = shop.string.get("users").urlBuilder(URLBuilder { base, path in "\(base)/index.php?route=\(path)" })
        let reposTarget = try await repos.sender().value
        let legacyTarget = try await legacy.sender().value
        XCTAssertEqual(reposTarget, "/users/ada/repos?page=2&tags=a&tags=b")
        XCTAssertEqual(legacyTarget, "/index.php?route=users")
        XCTAssertEqual(try mirrored.httpRequest().url, "http://cdn.shop.example/motto")
    }
}
