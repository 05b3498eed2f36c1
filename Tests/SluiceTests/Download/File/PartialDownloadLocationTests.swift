import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct PartialDownloadLocationTests {
    @Test func foldersAreCreated() async throws {
        let folder = try DownloadFolder()
        let url = folder.url.appending(path: "a/b/c/file.bin")
        let part = try await folder.beginPart("0123456789", .file(url))
        #expect(try await part.moveToDestination().url == url)
        #expect(folder.text(of: "a/b/c/file.bin") == "0123456789")
    }

    @Test func foldersAreNotCreatedIfDisabled() async throws {
        let folder = try DownloadFolder()
        let url = folder.url.appending(path: "a/file.bin")
        let error = await #expect(throws: SluiceError.self) {
            try await folder.open(.file(url, createsDirectories: false))
        }
        #expect(error?.code == .cannotWriteFile)
        #expect(error?.description.contains("\(folder.url.path)/a”") == true)
        #expect(folder.names.isEmpty)
    }

    @Test func concurrentDownloadsCreateAFolder() async throws {
        let folder = try DownloadFolder()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let inner = folder.url.appending(path: "a/b/c/d")
                    _ = try await folder.beginPart("0123456789", .suggested(in: inner)).moveToDestination()
                }
            }
            try await group.waitForAll()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path + "/a/b/c/d").count == 20)
    }

    /// Paths that are not file paths, below a folder that contains a file and a folder.
    private static let paths = [
        "file.bin/inner.bin", "file.bin/a/b/inner.bin", "folder", "folder/", "other/", "folder/..", "folder/.",
        "nul%00.bin", String(repeating: "n", count: 300), String(repeating: "n", count: 300) + "/a",
        String(repeating: "a/", count: 5000) + "a",
    ]

    @Test(arguments: paths, [DownloadDestination.Conflict.fail, .overwrite])
    func invalidFilePathFailsAtOnce(_ path: String, _ conflict: DownloadDestination.Conflict) async throws {
        let folder = try DownloadFolder()
        try folder.write("a file")
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "folder"),
            withIntermediateDirectories: false
        )
        let url = try #require(URL(string: "file://\(folder.url.path)/\(path)"))
        let error = await #expect(throws: SluiceError.self) { try await folder.open(.file(url, ifExists: conflict)) }
        #expect(error?.code == .cannotWriteFile, "\(error.debugDescription)")
        #expect(folder.names == ["file.bin", "folder"])
    }

    @Test func fileInPlaceOfTheFolderFails() async throws {
        let folder = try DownloadFolder()
        try folder.write("a file")
        #expect(
            await .cannotWriteFile == SluiceError.Code.thrown { _ = try await folder.open(.suggested(in: folder.file)) }
        )
    }

    @Test func webURLAsDestinationFails() async throws {
        let folder = try DownloadFolder()
        let url = try #require(URL(string: "https://example.com/a?token=s3cret"))
        let error = await #expect(throws: SluiceError.self) { try await folder.open(.file(url)) }
        #expect(error?.code == .cannotWriteFile)
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test func existingFileFailsAtOnce() async throws {
        let folder = try DownloadFolder()
        try folder.write("precious")
        let error = await #expect(throws: SluiceError.self) { try await folder.open() }
        #expect(error?.code == .fileExists)
        #expect(error?.description.contains(folder.file.path) == true)
        #expect(folder.names == ["file.bin"])
    }

    @Test func unwritableFolderFails() async throws {
        let folder = try DownloadFolder()
        let inner = folder.url.appending(path: "inner")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: inner.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: inner.path) }
        // Root can write to all folders except those of the system.
        let closed = access(inner.path, W_OK) == 0 ? URL(filePath: "/proc/sluice-download") : inner
        let error = await #expect(throws: SluiceError.self) { try await folder.open(.suggested(in: closed)) }
        #expect(error?.code == .cannotWriteFile)
        #expect(error?.description.contains(closed.path) == true)
    }

    @Test func relativePathIsInTheWorkingFolder() throws {
        let place = try PartialDownloadLocation(key: "", destination: .file(URL(filePath: "some file.bin")))
        #expect(place.folder == FileManager.default.currentDirectoryPath)
        #expect(place.path(of: place.name(of: nil)) == FileManager.default.currentDirectoryPath + "/some file.bin")
        let root = try PartialDownloadLocation(key: "", destination: .file(URL(filePath: "/a.bin")))
        #expect(root.folder == "/")
        #expect(root.path(of: root.name(of: nil)) == "/a.bin")
    }
}
