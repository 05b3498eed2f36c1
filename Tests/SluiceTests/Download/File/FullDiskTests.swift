import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

/// A file system of one megabyte, mounted by `.ci/run`.
private enum SmallFileSystem {
    static let path = ProcessInfo.processInfo.environment["SLUICE_SMALL_FILE_SYSTEM"]
    /// True if the file system is mounted or servers are required. In the second case the tests fail without it.
    static let canRun = path != nil || ProcessInfo.processInfo.environment["SLUICE_REQUIRE_SERVERS"] == "1"

    static func folder() throws -> DownloadFolder {
        try DownloadFolder(in: URL(filePath: try #require(path, "SLUICE_SMALL_FILE_SYSTEM names no folder.")))
    }
}

@Suite(
    .serialized,
    .enabled(if: SmallFileSystem.canRun, "SLUICE_SMALL_FILE_SYSTEM names no folder on a file system of 1 MiB.")
)
struct FullDiskTests {
    private static let size = 3 << 20
    private static var resource: RemoteResource {
        RemoteResource.digits.with { $0.length = nil }
    }

    /// Writes until there is no space.
    private static func fill(_ part: PartialDownload) async -> SluiceError? {
        do throws(SluiceError) {
            for offset in stride(from: 0, to: size, by: 64 << 10) {
                try await part.write([Data(repeating: 7, count: 64 << 10)], at: Int64(offset))
            }
            return nil
        } catch {
            return error
        }
    }

    @Test func fullDiskFailsTheWriteAndKeepsWrittenBytes() async throws {
        let folder = try SmallFileSystem.folder()
        let part = try await folder.open()
        try await part.begin(Self.resource)
        let error = await Self.fill(part)
        #expect(error?.code == .insufficientSpace)
        #expect(error?.description.contains(folder.file.path) == true)
        let count = part.completed.prefix
        #expect(count > 0 && count <= 1 << 20)
        #expect(folder.text() == nil)
        await part.close()
        // There may have been no space for a journal. Without it, the partial file is removed.
        let isKept = folder.names.count == 2
        #expect(isKept || folder.names.isEmpty)
        let again = try await folder.open()
        #expect(isKept ? (1...count).contains(again.completed.prefix) : again.completed.isEmpty)
        await again.discard()
        #expect(folder.names.isEmpty)
    }

    @Test func resumesDownloadAfterDiskFull() async throws {
        let folder = try SmallFileSystem.folder()
        let ballast = folder.url.appending(path: "ballast")
        try Data(count: 512 << 10).write(to: ballast)
        let part = try await folder.open()
        try await part.begin(Self.resource)
        try await part.write("01234", at: 0)
        part.updateResource(Self.resource.with { $0.name = "other" })
        let journal = try folder.place().journal
        await eventually { (try? String(contentsOfFile: journal, encoding: .utf8))?.contains("other") == true }
        #expect(await Self.fill(part)?.code == .insufficientSpace)
        await part.close()
        try FileManager.default.removeItem(at: ballast)
        let again = try await folder.open()
        #expect(again.completed.prefix >= 5)
        try await again.write([Data(repeating: 9, count: 600 << 10)], at: 0)
        again.updateResource(Self.resource.with { $0.length = max(600 << 10, again.completed.end) })
        #expect(try await again.moveToDestination().length >= 600 << 10)
        #expect(folder.names == ["file.bin"])
    }

    @Test func fileLargerThanFreeSpaceFailsAtOnce() async throws {
        let folder = try SmallFileSystem.folder()
        let part = try await folder.open()
        let needed = await SluiceError.Code.thrown {
            try await part.begin(RemoteResource.digits.with { $0.length = 2 << 20 })
        }
        #expect(needed == .insufficientSpace)
        await part.close()
        #expect(folder.names.isEmpty)
    }
}
