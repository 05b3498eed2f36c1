import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct PartialDownloadPlacingTests {
    private static let digest = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"

    @Test func incompleteFileIsNotPlaced() async throws {
        let folder = try DownloadFolder()
        let part = try await folder.beginPart()
        #expect(await .lengthMismatch == SluiceError.Code.thrown { _ = try await part.moveToDestination() })
        try await part.write("89", at: 8)
        #expect(await .lengthMismatch == SluiceError.Code.thrown { _ = try await part.moveToDestination() })
        part.updateResource(RemoteResource.digits.with { $0.length = nil })
        #expect(await .lengthMismatch == SluiceError.Code.thrown { _ = try await part.moveToDestination() })
        #expect(folder.text() == nil)
        try await part.write("567", at: 5)
        #expect(try await part.moveToDestination().length == 10)
        #expect(folder.text() == "0123456789")
    }

    @Test func downloadsReplaceEachOtherAtOneDestination() async throws {
        let folder = try DownloadFolder()
        let destination = DownloadDestination.file(folder.file, ifExists: .overwrite)
        for _ in 0..<8 {
            var parts: [PartialDownload] = []
            for number in 0..<24 {
                let part = try await PartialDownload.open(
                    key: "GET http://files.test/\(number)",
                    destination: destination,
                    lease: PartialDownloadLease()
                )
                try await part.begin(.digits)
                try await part.write("0123456789", at: 0)
                parts.append(part)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for part in parts { group.addTask { _ = try await part.moveToDestination() } }
                try await group.waitForAll()
            }
            #expect(folder.names == ["file.bin"])
            #expect(folder.text() == "0123456789")
        }
    }

    @Test func truncatedPartIsNotPlaced() async throws {
        let folder = try DownloadFolder()
        let part = try await folder.beginPart("0123456789")
        #expect(truncate(try folder.place().part, 4) == 0)
        #expect(await .lengthMismatch == SluiceError.Code.thrown { _ = try await part.moveToDestination() })
        #expect(folder.text() == nil)
    }

    @Test func checksumIsVerified() async throws {
        let folder = try DownloadFolder()
        let part = try await folder.beginPart("0123456789")
        let file = try await part.moveToDestination(sha256: Self.digest.uppercased())
        #expect(file.sha256 == Self.digest)
        #expect(folder.names == ["file.bin"])
    }

    @Test(arguments: ["", "84d8", String(repeating: "0", count: 64), "not hexadecimal"])
    func fileWithAnotherChecksumIsRemoved(_ expected: String) async throws {
        let folder = try DownloadFolder()
        let part = try await folder.beginPart("0123456789")
        let error = await #expect(throws: SluiceError.self) { try await part.moveToDestination(sha256: expected) }
        #expect(error?.code == .checksumMismatch)
        #expect(error?.description.contains(folder.file.path) == true)
        #expect(folder.names.isEmpty)
    }

    @Test func aChecksumIsReportedIfItWasVerified() async throws {
        let folder = try DownloadFolder()
        let part = try await folder.beginPart("0123456789")
        #expect(try await part.moveToDestination(sha256: Self.digest).sha256 == Self.digest)
        let other = try await folder.beginPart("0123456789", .suggested(in: folder.url))
        #expect(try await other.moveToDestination().sha256 == nil)
    }

    @Test func checksumOfALargeFileCoversAllBytes() async throws {
        let folder = try DownloadFolder()
        let part = try await folder.open()
        try await part.begin(RemoteResource.digits.with { $0.length = 1_000_000 })
        try await part.write([Data(repeating: UInt8(ascii: "a"), count: 1_000_000)], at: 0)
        // The example of FIPS 180-4 with a million times “a”.
        let expected = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        #expect(try await part.moveToDestination(sha256: expected).sha256 == expected)
    }

    @Test func checksumCanBeCancelled() async throws {
        let folder = try DownloadFolder()
        let part = try await folder.beginPart("0123456789")
        let code = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await SluiceError.Code.thrown { _ = try await part.moveToDestination(sha256: Self.digest) }
        }.value
        #expect(code == .cancelled)
        #expect(try await part.moveToDestination(sha256: Self.digest).length == 10)
    }

    @Test func emptyFileIsPlaced() async throws {
        let folder = try DownloadFolder()
        let part = try await folder.open()
        try await part.begin(RemoteResource.digits.with { $0.length = 0 })
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        let file = try await part.moveToDestination(sha256: digest)
        #expect(file.sha256 == digest)
        #expect(folder.text() == "")
    }

    @Test func fileCreatedMeanwhileIsKeptWithThePart() async throws {
        let folder = try DownloadFolder()
        let part = try await folder.beginPart("0123456789")
        try folder.write("precious")
        #expect(await .fileExists == SluiceError.Code.thrown { _ = try await part.moveToDestination() })
        #expect(folder.text() == "precious")
        await part.close()
        #expect(await .fileExists == SluiceError.Code.thrown { _ = try await folder.open() })

        let again = try await folder.open(.file(folder.file, ifExists: .overwrite))
        #expect(again.resource == .digits)
        #expect(again.completed.prefix == 10)
        #expect(try await again.moveToDestination().resumedBytes == 10)
        #expect(folder.text() == "0123456789")
        #expect(folder.names == ["file.bin"])
    }

    @Test func keepBothAppendsANumber() async throws {
        let folder = try DownloadFolder()
        try folder.write("precious")
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "file 2.bin"),
            withIntermediateDirectories: false
        )
        let part = try await folder.beginPart("0123456789", .file(folder.file, ifExists: .keepBoth))
        #expect(try await part.moveToDestination().url == folder.url.appending(path: "file 3.bin"))
        #expect(folder.text() == "precious")
        #expect(folder.text(of: "file 3.bin") == "0123456789")
    }

    @Test func concurrentDownloadsGetDifferentNames() async throws {
        let folder = try DownloadFolder()
        let urls = try await withThrowingTaskGroup(of: URL.self) { group in
            for index in 0..<20 {
                group.addTask {
                    let part = try await folder.beginPart(
                        "number \(index / 10)\(index % 10)!",
                        .suggested(in: folder.url)
                    )
                    return try await part.moveToDestination().url
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(urls.count == 20)
        #expect(folder.names.count == 20)
        #expect(Set(folder.names.map { folder.text(of: $0) ?? "" }).count == 20)
        #expect(folder.names.contains("digits 20.txt"))
    }

    @Test func temporaryFileIsInTheTemporaryFolder() async throws {
        let folder = try DownloadFolder()
        let part = try await PartialDownload.open(
            key: folder.url.path,
            destination: .temporary,
            lease: PartialDownloadLease()
        )
        try await part.begin(.digits)
        try await part.write("0123456789", at: 0)
        let file = try await part.moveToDestination()
        defer { try? FileManager.default.removeItem(at: file.url) }
        #expect(file.url.pathExtension == "txt")
        let temporary = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
        #expect(file.url.deletingLastPathComponent().resolvingSymlinksInPath().path == temporary)
        #expect(try Data(contentsOf: file.url) == Data("0123456789".utf8))
        let attributes = try FileManager.default.attributesOfItem(atPath: file.url.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func folderIsNeverReplaced() async throws {
        let folder = try DownloadFolder()
        let part = try await folder.beginPart("0123456789", .file(folder.file, ifExists: .overwrite))
        try FileManager.default.createDirectory(at: folder.file, withIntermediateDirectories: false)
        #expect(await .cannotWriteFile == SluiceError.Code.thrown { _ = try await part.moveToDestination() })
        await part.close()
        try FileManager.default.removeItem(at: folder.file)
        #expect(try await folder.open().moveToDestination().resumedBytes == 10)
    }

    private static let conflicts: [DownloadDestination.Conflict] = [.fail, .overwrite, .keepBoth]

    @Test(arguments: SpecialFile.allCases, conflicts)
    func specialFileIsNeverReplaced(_ kind: SpecialFile, _ conflict: DownloadDestination.Conflict) async throws {
        let folder = try DownloadFolder()
        let destination = DownloadDestination.file(folder.file, ifExists: conflict)
        guard try kind.create(at: folder.file) else { return }
        let error = await #expect(throws: SluiceError.self) { try await folder.open(destination) }
        #expect(error?.code == .cannotWriteFile)
        #expect(error?.description.contains(kind.reason) == true)
        #expect(kind.isPresent(at: folder.file))
        #expect(folder.names == ["file.bin"])
    }

    @Test(arguments: SpecialFile.allCases, conflicts)
    func specialFileCreatedMeanwhileIsNeverReplaced(
        _ kind: SpecialFile,
        _ conflict: DownloadDestination.Conflict
    ) async throws {
        let folder = try DownloadFolder()
        let part = try await folder.beginPart("0123456789", .file(folder.file, ifExists: conflict))
        guard try kind.create(at: folder.file) else { return }
        let error = await #expect(throws: SluiceError.self) { try await part.moveToDestination() }
        #expect(error?.code == .cannotWriteFile)
        #expect(error?.description.contains(kind.reason) == true)
        #expect(kind.isPresent(at: folder.file))
        await part.close()
        try FileManager.default.removeItem(at: folder.file)
        #expect(try await folder.open().moveToDestination().resumedBytes == 10)
    }

    @Test func symbolicLinkIsReplacedAndNotFollowed() async throws {
        let folder = try DownloadFolder()
        try folder.write("precious", to: "victim")
        try FileManager.default.createSymbolicLink(atPath: folder.file.path, withDestinationPath: "victim")
        #expect(await .fileExists == SluiceError.Code.thrown { _ = try await folder.open() })
        let part = try await folder.beginPart("0123456789", .file(folder.file, ifExists: .overwrite))
        _ = try await part.moveToDestination()
        #expect(folder.text() == "0123456789")
        #expect(folder.text(of: "victim") == "precious")
    }

    @Test func placedFileHasDefaultPermissions() async throws {
        let folder = try DownloadFolder()
        try folder.write("any", to: "any")
        _ = try await (folder.beginPart("0123456789")).moveToDestination()
        let modes = try ["any", "file.bin"].map {
            try FileManager.default.attributesOfItem(atPath: folder.url.appending(path: $0).path)[.posixPermissions]
                as? Int
        }
        #expect(modes[0] == modes[1])
    }

    @Test(arguments: [PartialDownloadLocation.renameExclusively, PartialDownloadLocation.linkExclusively])
    func exclusiveRenameFailsForAnExistingName(_ rename: @Sendable (String, String) -> Int32) throws {
        let folder = try DownloadFolder()
        let (from, to) = (folder.url.appending(path: "from").path, folder.url.appending(path: "to").path)
        try folder.write("new", to: "from")
        try folder.write("old", to: "to")
        #expect(rename(from, to) == EEXIST)
        #expect(folder.text(of: "to") == "old")
        try FileManager.default.removeItem(atPath: to)
        #expect(rename(from, to) == 0)
        #expect(folder.names == ["to"])
        #expect(folder.text(of: "to") == "new")
        #expect(rename(from, to) != 0)
    }
}
