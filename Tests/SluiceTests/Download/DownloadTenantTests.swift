import Sluice
import SluiceTesting
import XCTest

/// Downloads to folders in which other programs create, replace and remove files.
final class DownloadTenantTests: XCTestCase {
    func testDownloadWhosePartialFileWasReplacedFails() async throws {
        for replaces in [false, true] {
            let fixture = try DownloadFixture()
            let signal = LoopbackSignal()
            fixture.server.on("/file", .resource(fixture.resource).paused(after: 500_000, until: signal))
            try Data("precious".utf8).write(to: fixture.file)
            let sender = fixture.client.download("file", to: .file(fixture.file, ifExists: .overwrite)).sender()
            let response = Task { await sender.response }
            await fixture.wait(for: 500_000, of: sender)
            let name = try XCTUnwrap(fixture.names.first { $0.hasSuffix(".sluicepart") })
            let part = fixture.folder.appending(path: name)
            try FileManager.default.removeItem(at: part)
            if replaces { try Data("of another process".utf8).write(to: part) }
            signal.fire()
            let failure = await response.value.failure
            XCTAssertEqual(failure?.code, .cannotWriteFile)
            XCTAssertEqual(failure?.step, .file)
            XCTAssertEqual(fixture.saved, Data("precious".utf8))
            XCTAssertEqual(try? Data(contentsOf: part), replaces ? Data("of another process".utf8) : nil)
        }
    }

    func testTemporaryFileIsReadableByItsOwnerOnly() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/file", .resource(fixture.resource))
        let url = try await fixture.client.download("file", to: .temporary).sender().responseURL
        defer { try? FileManager.default.removeItem(at: url) }
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        XCTAssertEqual((attributes[.posixPermissions] as? NSNumber)?.intValue, 0o600)
        XCTAssertEqual(try Data(contentsOf: url), fixture.contents)
    }

    func testDownloadToASpecialFileFailsBeforeSending() async throws {
        for kind in SpecialFile.allCases {
            let fixture = try DownloadFixture(bytes: 10)
            fixture.server.on("/file", .resource(fixture.resource))
            guard try kind.create(at: fixture.file) else { continue }
            let download = fixture.client.download("file", to: .file(fixture.file, ifExists: .overwrite))
            let failure = await download.sender().response.failure
            XCTAssertEqual(failure?.code, .cannotWriteFile)
            XCTAssertTrue(failure?.description.contains(kind.reason) == true, "\(kind)")
            XCTAssertTrue(kind.isPresent(at: fixture.file), "\(kind)")
            XCTAssertEqual(fixture.server.requestCount, 0)
        }
    }
}
