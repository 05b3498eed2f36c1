import Sluice
import SluiceTesting
import XCTest

final class ImageSerializerTests: XCTestCase {
    func testReadsImageOfAnyContentType() async throws {
        let server = try LoopbackServer()
        let images = APIClient(baseURL: server.url).image
        for sample in ImageSample.all {
            server.on("/avatar", .data(sample.data, contentType: "application/octet-stream"))
            let avatar = try await images.request("avatar").sender().value
            XCTAssertEqual(avatar.format, sample.format)
            XCTAssertEqual(avatar.width, sample.width)
            XCTAssertEqual(avatar.height, sample.height)
            XCTAssertEqual(avatar.data, sample.data)
        }
    }

    func testInvalidImageIsErrorWithReason() async throws {
        let server = try LoopbackServer()
        server.on("/page", .data(Data("<html>".utf8), contentType: "image/png"))
        server.on("/nothing", .data(Data(), contentType: "image/png"))
        let images = APIClient(baseURL: server.url).image
        let page = await images.request("page").sender().result.failure
        XCTAssertEqual(page?.code, .decodingFailed)
        XCTAssertEqual(page?.error.step, .serialization)
        XCTAssertEqual(
            page?.error.reason,
            "The data is not a valid image: it does not begin with the signature of PNG, JPEG, GIF or WebP."
        )
        XCTAssertNil((page?.underlyingError as? ImageFailure)?.format)
        XCTAssertNotNil(page?.underlyingError as? ImageFailure)
        let nothing = await images.request("nothing").sender().result.failure
        XCTAssertEqual(nothing?.code, .decodingFailed)
        XCTAssertEqual(nothing?.error.reason, "The response is not a valid image: its body is empty.")
    }
}
