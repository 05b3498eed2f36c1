import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

/// A journal that cannot be removed never describes bytes of another version.
@Suite(.enabled(if: FileAttribute.isSettable, "Only root can set attributes, and only some file systems have them."))
struct PartialDownloadAttributeTests {
    private static let other = RemoteResource.digits.with { $0.validator = .entityTag("\"new\"") }

    @Test func bytesAreKeptIfTheJournalCannotBeRemoved() async throws {
        let folder = try DownloadFolder()
        await (try folder.beginPart()).close()
        let journal = try folder.place().journal
        try FileAttribute.immutable.set(of: journal)
        defer { try? FileAttribute.immutable.remove(from: journal) }
        let part = try await folder.open()
        #expect(await SluiceError.Code.thrown { try await part.begin(Self.other) } == .cannotWriteFile)
        #expect(part.completed.ranges == [0..<5])
        await part.close()
        try FileAttribute.immutable.remove(from: journal)
        let next = try await folder.open()
        #expect(next.resource == .digits)
        try await next.write("56789", at: 5)
        _ = try await next.moveToDestination()
        #expect(folder.text() == "0123456789")
    }

    @Test func journalIsEmptiedWhereNoFileCanBeRemoved() async throws {
        let folder = try DownloadFolder()
        await (try folder.beginPart()).close()
        try FileAttribute.appendOnly.set(of: folder.url.path)
        defer { try? FileAttribute.appendOnly.remove(from: folder.url.path) }
        let part = try await folder.open()
        #expect(part.completed.count == 5)
        try await part.begin(Self.other)
        try await part.write("abcd", at: 0)
        await part.discard()
        #expect(try folder.status(of: URL(filePath: folder.place().journal).lastPathComponent).st_size == 0)
        #expect(try folder.status(of: URL(filePath: folder.place().part).lastPathComponent).st_size == 0)
        let next = try await folder.open()
        #expect(next.resource == nil)
        await next.discard()
    }
}

/// An attribute of a file that restricts root as well.
private enum FileAttribute: String {
    case immutable = "i"
    /// Files can be added to a folder, but not be removed or renamed.
    case appendOnly = "a"

    /// True if this process can set attributes in the temporary folder.
    static let isSettable: Bool = {
        guard let folder = try? DownloadFolder(), (try? appendOnly.set(of: folder.url.path)) != nil else {
            return false
        }
        return (try? appendOnly.remove(from: folder.url.path)) != nil
    }()

    func set(of path: String) throws { try Self.run("+\(rawValue)", path) }
    func remove(from path: String) throws { try Self.run("-\(rawValue)", path) }

    private static func run(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/chattr")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileWriteNoPermission) }
    }
}
