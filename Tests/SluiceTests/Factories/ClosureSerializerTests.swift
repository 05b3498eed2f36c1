import Sluice
import SluiceTesting
import XCTest

/// Models and errors that closures make from responses, downloads and failures.
final class ClosureSerializerTests: XCTestCase {
    private struct CartError: ErrorSerializable {
        var status: Int?
        var isEmptyCart = false

        init(_ failure: RequestFailure) {
            status = failure.response?.status.rawValue
        }

        init(isEmptyCart: Bool) {
            self.isEmptyCart = isEmptyCart
        }
    }

    private struct Odd: Error {}

    private var server: LoopbackServer?

    override func tearDown() { server = nil }

    private func shop(_ response: LoopbackResponse) throws -> APIClient {
        let server = try LoopbackServer()
        server.on("/*", response)
        self.server = server
        return APIClient(baseURL: server.url)
    }

    private static func cartError(_ failure: RequestFailure) -> CartError {
        failure.response?.status == .notFound ? CartError(isEmptyCart: true) : CartError(failure)
    }

    func testModelComesFromAClosure() async throws {
        let shop = try shop(.text("3;4;5"))
        let numbers = try await shop.serialized { response in
            String(decoding: response.body, as: UTF8.self).split(separator: ";").compactMap { Int($0) }
        }.get("numbers").sender().value
        XCTAssertEqual(numbers, [3, 4, 5])
    }

    func testErrorOfAClosureFailsTheRequest() async throws {
        let shop = try shop(.text("x"))
        let odd = await shop.serialized { _ -> Int in throw Odd() }.get("x").sender().result.failure
        XCTAssertEqual(odd?.code, .decodingFailed)
        XCTAssertTrue(odd?.underlyingError is Odd)
        XCTAssertEqual(odd?.response?.status, .ok)
        let own = await shop.serialized { _ -> Int in throw SluiceError(.validationFailed, "It is odd.") }
            .get("x").sender().result.failure
        XCTAssertEqual(own?.code, .validationFailed)
    }

    func testErrorModelComesFromAClosure() async throws {
        let shop = try shop(.json("{}", status: .notFound))
        let request = shop.get("cart", as: User.self).serializingErrors(by: Self.cartError)
        do {
            _ = try await request.sender().value
            XCTFail("The request did not fail.")
        } catch {
            XCTAssertTrue(error.isEmptyCart)
        }
        let posted: APIRequest<User, CartError> = shop.post("cart", as: User.self)
            .serializingErrors(by: Self.cartError).json(["id": 1])
        let refused = await posted.sender().result.failure
        XCTAssertEqual(refused?.isEmptyCart, true)
        let outcome = await request.keyPath("user").sender().response
        XCTAssertEqual(outcome.failure?.code, .unacceptableStatus)
    }

    func testErrorClosureAppliesToDownloadsAndStreams() async throws {
        let fixture = try DownloadFixture(bytes: 0)
        fixture.server.on("/*", .json("{}", status: .notFound))
        let request = fixture.client.data.get("cart").serializingErrors { failure in Self.cartError(failure) }
        let download = await request.download(to: .file(fixture.file)).sender().result
        XCTAssertThrowsError(try download.get()) { XCTAssertEqual(($0 as? CartError)?.isEmptyCart, true) }
        let decoded = await request.download(to: .file(fixture.file)).serialized { file, _ in file.length }
            .sender().result
        XCTAssertThrowsError(try decoded.get()) { XCTAssertEqual(($0 as? CartError)?.isEmptyCart, true) }
        do {
            for try await _ in request.stream().bytes {}
            XCTFail("The stream did not fail.")
        } catch {
            XCTAssertTrue(error.isEmptyCart)
        }
    }

    func testDownloadedFileIsConvertedByAClosure() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/rows", .text("a\nb\nc\n"))
        let rows = try await fixture.client.download("rows", to: .file(fixture.file))
            .serialized { file, response in
                XCTAssertEqual(response.head.status, .ok)
                return try String(contentsOf: file.url, encoding: .utf8).split(separator: "\n").count
            }
            .sender().value
        XCTAssertEqual(rows, 3)
        let failed = await fixture.client.download("rows", to: .file(fixture.folder.appending(path: "again")))
            .serialized { _, _ -> Int in throw Odd() }.sender().response
        XCTAssertEqual(failed.failure?.code, .decodingFailed)
        XCTAssertTrue(failed.failure?.underlyingError is Odd)
    }
}
