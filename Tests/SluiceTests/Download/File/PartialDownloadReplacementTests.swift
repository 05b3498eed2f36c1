import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

/// Partial files that another program removes or replaces while they are written.
@Suite struct PartialDownloadReplacementTests {
    private static let digest = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"

    /// The file in the place of the partial file.
    enum Replacement: CaseIterable, Sendable {
        case nothing, file, link, linkToThePart, hardLink, folder

        func apply(to path: String, in folder: DownloadFolder) throws {
            try FileManager.default.moveItem(atPath: path, toPath: folder.url.appending(path: "moved").path)
            switch self {
            case .nothing: break
            case .file: try Data("incomplete".utf8).write(to: URL(filePath: path))
            case .link: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "victim")
            case .linkToThePart: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "moved")
            case .hardLink:
                let victim = folder.url.appending(path: "victim").path
                try FileManager.default.linkItem(atPath: victim, toPath: path)
            case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
        }
    }

    /// The device and the file number at a path, of a symbolic link itself.
    private static func identity(_ path: String) -> [UInt64]? {
        var status = stat()
        return lstat(path, &status) == 0 ? [UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino)] : nil
    }

    private static let conflicts: [DownloadDestination.Conflict] = [.fail, .overwrite, .keepBoth]

    @Test(arguments: Replacement.allCases, conflicts)
    func replacedPartIsNeitherPlacedNorRemoved(
        _ replacement: Replacement,
        _ conflict: DownloadDestination.Conflict
    ) async throws {
        let folder = try DownloadFolder()
        let place = try folder.place()
        try folder.write("precious", to: "victim")
        let part = try await folder.beginPart("0123456789", .file(folder.file, ifExists: conflict))
        // No step of the journal is left in the queue.
        await #expect(throws: SluiceError.self) { try await part.write("x", at: 10) }
        try replacement.apply(to: place.part, in: folder)
        try Data("journal of another process".utf8).write(to: URL(filePath: place.journal))
        let identity = Self.identity(place.part)

        let error = await #expect(throws: SluiceError.self) { try await part.moveToDestination(sha256: Self.digest) }
        #expect(error?.code == .cannotWriteFile)
        #expect(error?.description.contains("removed or replaced") == true)
        #expect(folder.text() == nil)
        await part.close()
        #expect(Self.identity(place.part) == identity)
        #expect(folder.text(of: "victim") == "precious")
        let journal = try? String(contentsOfFile: place.journal, encoding: .utf8)
        #expect(journal == (replacement == .nothing ? nil : "journal of another process"))
    }

    @Test(arguments: Replacement.allCases.filter { $0 != .nothing })
    func replacedPartIsNotRemovedWhenTheDownloadIsDiscarded(_ replacement: Replacement) async throws {
        let folder = try DownloadFolder()
        let place = try folder.place()
        try folder.write("precious", to: "victim")
        let part = try await folder.beginPart()
        try replacement.apply(to: place.part, in: folder)
        let identity = Self.identity(place.part)
        await part.discard()
        #expect(identity != nil && Self.identity(place.part) == identity)
        #expect(folder.text(of: "victim") == "precious")
    }

    @Test func fileThatIsReportedIsTheVerifiedOneDespiteARace() async throws {
        for round in 0..<200 {
            let folder = try DownloadFolder()
            let path = try folder.place().part
            let part = try await folder.beginPart("0123456789", .file(folder.file, ifExists: .overwrite))
            let replacing = Task.detached {
                for _ in 0..<round { await Task.yield() }
                try? FileManager.default.moveItem(atPath: path, toPath: folder.url.appending(path: "moved").path)
                try? Data("abcdefghij".utf8).write(to: URL(filePath: path), options: .withoutOverwriting)
            }
            do throws(SluiceError) {
                _ = try await part.moveToDestination(sha256: Self.digest)
                #expect(folder.text() == "0123456789")
            } catch {
                #expect(error.code == .cannotWriteFile)
            }
            await replacing.value
            await part.close()
        }
    }

    @Test func filesAreComparedByIdentityAndLinksAreNotFollowed() async throws {
        let folder = try DownloadFolder()
        let place = try folder.place()
        let part = try await folder.beginPart("0123456789")
        #expect(part.descriptor.holder(of: place.part) == .thisFile)
        #expect(part.descriptor.holder(of: folder.file.path) == .noFile)
        try folder.write("another")
        #expect(part.descriptor.holder(of: folder.file.path) == .otherFile)
        try FileManager.default.removeItem(at: folder.file)
        try FileManager.default.createSymbolicLink(atPath: folder.file.path, withDestinationPath: place.part)
        #expect(part.descriptor.holder(of: folder.file.path) == .otherFile)
        await part.discard()
    }
}
