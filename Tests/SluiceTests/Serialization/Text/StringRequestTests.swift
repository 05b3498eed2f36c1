import Sluice
import SluiceTesting
import XCTest

final class StringRequestTests: XCTestCase {
    func testDecodesTextInCharsetOfResponse() async throws {
        let server = try LoopbackServer()
        let hello = Data([0xCF, 0xF0, 0xE8, 0xE2, 0xE5, 0xF2])
        server.on("/ru", .data(hello, contentType: #"text/plain; charset="Windows-1251""#))
        server.on("/en", .text("Hello – ü"))
        let pages = APIClient(baseURL: server.url).string
        let (russian, english) = try await (pages.request("ru").sender().value, pages.request("en").sender().value)
        XCTAssertEqual(russian, "Привет")
        XCTAssertEqual(english, "Hello – ü")
    }

    func testDecodesTextInDefaultCharset() async throws {
        let server = try LoopbackServer()
        server.on("/ru", .data(Data([0xCF, 0xF0, 0xE8]), contentType: "text/plain"))
        let pages = APIClient(baseURL: server.url).serialized { try $0.string(defaultCharset: "windows-1251") }
        let russian = try await pages.get("ru").sender().value
        XCTAssertEqual(russian, "При")
    }

    func testInvalidTextIsErrorWithOffset() async throws {
        let server = try LoopbackServer()
        server.on("/bad", .data(Data([0x41, 0xFF]), contentType: "text/plain"))
        let pages = APIClient(baseURL: server.url).string
        let error = await pages.request("bad").sender().result.failure
        XCTAssertEqual(error?.code, .decodingFailed)
        XCTAssertEqual((error?.underlyingError as? TextFailure)?.offset, 1)
        XCTAssertEqual(error?.status, .ok)
    }
}
