import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The articles on uploads, progress and downloads.
final class TransfersGuideTests: XCTestCase {
    private struct Bar: Sendable {
        let shown = Shared(0.0)

        func update(_ fraction: Double) {
            shown.change { $0 = fraction }
        }
    }

    func testUploadProgress() async throws {
        let server = try LoopbackServer()
        server.on("/assets", .text("thanks"))
        let films = APIClient(baseURL: server.url)
        let film = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).mp4")
        try Data(repeating: 7, count: 3_000_000).write(to: film)
        defer { try? FileManager.default.removeItem(at: film) }
        let bar = Bar()
        let sender = films.data.upload("assets", .file(film, contentType: "video/mp4")).sender()
        async let receipt = sender.value
        for await progress in sender.uploadProgress {
            bar.update(progress.fractionCompleted ?? 0)
        }
        print(try await receipt.count)
        for await progress in sender.downloadProgress {
            print(progress.completed, progress.total ?? 0, progress.bytesPerSecond ?? 0, progress.timeLeft ?? .zero)
        }
        XCTAssertEqual(bar.shown.read, 1)
        let careful = films.data.upload("assets", .file(film)).expectsContinue()
        _ = try await careful.sender().value
        XCTAssertEqual(server.requests.map(\.body.count), [3_000_000, 3_000_000])
        server.on("/parts/2", .text("thanks"))
        try Data(repeating: 7, count: 5_000_003).write(to: film)
        let part = films.data.upload("parts/2", .file(film, range: 5_000_000..<5_000_003)).put()
        _ = try await part.sender().value
        XCTAssertEqual(server.requests.last?.method, .put)
        XCTAssertEqual(server.requests.last?.body, Data([7, 7, 7]))
        let preview = films.data.request("previews/1").priority(.high)
        XCTAssertEqual(preview.draft.path, "previews/1")
    }

    private struct Asset: Codable, Sendable {
        let id: Int
    }

    func testUploadsOfAllTypes() async throws {
        let server = try LoopbackServer()
        server.on("/assets", .json(#"{"id":1}"#))
        server.on("/assets/1", .json(#"{"id":1}"#))
        let films = APIClient(baseURL: server.url)
        let film = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).mp4")
        try Data("film".utf8).write(to: film)
        defer { try? FileManager.default.removeItem(at: film) }
        let poster = Data("poster".utf8)
        let frames = AsyncStream { continuation in
            for frame in ["a", "b", "c"] { continuation.yield(Data(frame.utf8)) }
            continuation.finish()
        }
        let bytes: APIRequest<Asset, APIError> = films.upload("assets", .data(poster, contentType: "image/png"))
        let stream: APIRequest<Asset, APIError> = films.upload("assets", .stream(frames, length: 3))
        let form: APIRequest<Asset, APIError> = films.upload("assets/1", .multipart([.file(film, name: "film")])).put()
        for request in [bytes, stream, form] { _ = try await request.sender().value }
        XCTAssertEqual(server.requests.map(\.method), [.post, .post, .put])
        XCTAssertEqual(server.requests.prefix(2).map { String(decoding: $0.body, as: UTF8.self) }, ["poster", "abc"])
    }

    func testDownloads() async throws {
        let fixture = try DownloadFixture(bytes: 0)
        let folder = fixture.folder
        let latest = folder.appending(path: "latest.tar.gz")
        fixture.server.on("/archive.tar.gz", .resource(LoopbackResource(Data("hello".utf8), eTag: "\"1\"")))
        let mirror = fixture.client
        let downloads = DownloadDestination.suggested(in: folder)
        let file = try await mirror.download("archive.tar.gz", to: downloads).sender().responseURL
        XCTAssertEqual(file.lastPathComponent, "archive.tar.gz")
        let backup = DownloadDestination.file(latest, ifExists: .overwrite)
        let sender = mirror.download("archive.tar.gz", to: backup)
            .sha256("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
            .segments(4)
            .sender()
        Task { for await progress in sender.downloadProgress { print(progress.completed, progress.timeLeft ?? .zero) } }
        let archive = try await sender.value
        print(archive.url, archive.length, archive.resumedBytes)
        fixture.server.on("/archive.tar.gz", .status(.notFound))
        let own = mirror.download("archive.tar.gz", to: .temporary, error: ShopError.self)
        do {
            print(try await own.sender().value.url)
        } catch {
            // No cast: this is a ShopError.
            print(error.message)
        }
        XCTAssertEqual(fixture.names, ["archive.tar.gz", "latest.tar.gz"])
    }

    private struct Report: Codable, Sendable, Equatable {
        let rows: Int
    }

    func testModels() async throws {
        let fixture = try DownloadFixture(bytes: 0)
        fixture.server.on("/reports/7", .json(#"{"rows":3}"#))
        fixture.server.on("/log", .text("a\nb\n"))
        fixture.server.on(.post, "/export") { .data($0.body) }
        let shop = fixture.client
        let table = fixture.folder.appending(path: "table.csv")
        let export = shop.data.post("export").json(["year": 2026]).download(to: .file(table, ifExists: .overwrite))
        _ = try await export.sender().value
        XCTAssertEqual(try Data(contentsOf: table), Data(#"{"year":2026}"#.utf8))
        let report: DownloadAPIRequest<Report, ShopError> = shop.get("reports/7", as: Report.self)
            .query("format", "json")
            .download(to: .temporary)
            .decoded()
        let response = await report.sender().response
        XCTAssertEqual(try response.result.get(), Report(rows: 3))
        if let url = response.file?.url { try FileManager.default.removeItem(at: url) }
        let log = fixture.file
        let lines = try await shop.download("log", to: .file(log))
            .serialized { file, _ in try String(contentsOf: file.url, encoding: .utf8).split(separator: "\n").count }
            .sender().value
        XCTAssertEqual(lines, 2)
    }
}
