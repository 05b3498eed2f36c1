import Foundation
import Sluice
import SluiceTesting
import Testing

/// The trailer section of a response, for all ways to receive its body.
@Suite struct TrailerTests {
    private static let trailers: HTTPHeaders = ["Digest": "x", "Server-Timing": "db;dur=5"]

    private func client(
        _ stub: Stub = .json(#"{"id":1,"name":"Ada"}"#),
        _ configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        let transport = StubTransport()
        transport.on(.any, stub.withTrailers(Self.trailers))
        return APIClient(baseURL: "http://shop.test") {
            $0.transport = transport
            configure(&$0)
        }
    }

    @Test(arguments: [false, true])
    func responseHasTrailers(isStreamed: Bool) async throws {
        let stub = Stub.json(#"{"id":1,"name":"Ada"}"#)
        let client = client(isStreamed ? stub.streamed(by: 4) : stub)
        let response = await client.codable.get("users/1", as: User.self).sender().response
        #expect(response.trailers == Self.trailers)
        #expect(try response.received().trailers == Self.trailers)
        #expect(response.head?.headers.contains("Digest") == false)
    }

    @Test func rejectedResponseHasTrailers() async {
        let response = await client(.status(.notFound)).data.get("x").sender().response
        #expect(response.failure?.code == .unacceptableStatus)
        #expect(response.trailers == Self.trailers)
    }

    @Test func cacheForwardsTrailersWithoutStoringThem() async throws {
        let client = client(.text("a", headers: ["Cache-Control": "max-age=60"])) {
            $0.cache = CacheStore(storage: nil)
        }
        let first = await client.string.get("x").sender().response
        let second = await client.string.get("x").sender().response
        #expect(first.trailers == Self.trailers)
        #expect(second.source != .server)
        #expect(second.trailers.isEmpty)
    }

    @Test func streamHasTrailersAtItsEnd() async throws {
        let response = try await client(.text("one\ntwo").streamed(by: 1)).stream("log").response()
        #expect(response.trailers == nil)
        _ = try await response.collect()
        #expect(response.trailers == Self.trailers)
    }

    @Test func downloadHasTrailersOfLastResponse() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "file")
        let response = await client(.data(Data("abc".utf8))).download("file", to: .file(file)).sender().response
        _ = try response.result.get()
        #expect(response.trailers == Self.trailers)
    }

    @Test func dumpOmitsTrailerValues() async throws {
        let client = client(.text("a"))
        let response = await client.string.get("x").sender().response
        var dumped = ""
        dump(response, to: &dumped)
        #expect(dumped.contains("trailers"))
        #expect(!dumped.contains("dur=5"))
    }
}
