import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct PartialDownloadResumptionTests {
    @Test func closedPartIsResumed() async throws {
        let folder = try DownloadFolder()
        let first = try await folder.open()
        #expect(first.resource == nil)
        #expect(first.completed.isEmpty)
        try await first.begin(.digits)
        try await first.write("01234", at: 0)
        try await first.write("789", at: 7)
        await first.close()
        #expect(folder.names.count == 2)
        #expect(folder.names.allSatisfy { $0.hasPrefix(".") })

        let second = try await folder.open()
        #expect(second.resource == .digits)
        #expect(second.completed.ranges == [0..<5, 7..<10])
        try await second.write("56", at: 5)
        let file = try await second.moveToDestination()
        #expect(file == DownloadedFile(url: folder.file, length: 10, resumedBytes: 8))
        #expect(folder.names == ["file.bin"])
        #expect(folder.text() == "0123456789")
    }

    @Test func partIsResumedToItsJournalAfterACrash() async throws {
        let folder = try DownloadFolder()
        let part = try await folder.beginPart()
        // A change of the resource makes a journal write due at once.
        part.updateResource(RemoteResource.digits.with { $0.name = "other" })
        let place = try folder.place()
        await eventually { (try? String(contentsOfFile: place.journal, encoding: .utf8))?.contains("other") == true }
        let journal = try Data(contentsOf: URL(filePath: place.journal))
        try await part.write("567", at: 5)
        await part.discard()
        #expect(folder.names.isEmpty)

        try folder.writeLeftovers(part: "01234567", journal: journal)
        let resumed = try await folder.open()
        #expect(resumed.resource?.name == "other")
        #expect(resumed.completed.ranges == [0..<5])
        await resumed.discard()
        #expect(folder.names.isEmpty)
    }

    @Test func droppedPartReleasesItsClaim() async throws {
        let folder = try DownloadFolder()
        do {
            let part = try await folder.beginPart()
            #expect(part.completed.count == 5)
        }
        let next = try await folder.beginPart("0")
        await next.close()
        #expect(folder.names.count == 2)
    }

    @Test func beginRemovesEarlierBytes() async throws {
        let folder = try DownloadFolder()
        await (try folder.beginPart("abcdefgh")).close()
        let part = try await folder.open()
        #expect(part.completed.prefix == 8)
        let other = RemoteResource.digits.with { $0.validator = .entityTag("\"new\"") }
        try await part.begin(other)
        #expect(part.resource == other)
        #expect(part.completed.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: try folder.place().journal))
        try await part.write("0123456789", at: 0)
        #expect(try await part.moveToDestination().resumedBytes == 0)
        #expect(folder.text() == "0123456789")
    }

    /// Resources whose partial file cannot be resumed.
    private static let resources: [(RemoteResource, String)] = [
        (RemoteResource.digits.with { $0.validator = nil }, "01234"),
        (.digits, ""),
    ]

    @Test(arguments: resources)
    func partThatCannotBeResumedIsRemoved(_ resource: RemoteResource, _ text: String) async throws {
        let folder = try DownloadFolder()
        let part = try await folder.open()
        try await part.begin(resource)
        try await part.write(text, at: 0)
        await part.close()
        #expect(folder.names.isEmpty)
    }

    @Test func partPathDependsOnKeyAndDestination() async throws {
        let folder = try DownloadFolder()
        let own = try folder.place()
        let others = try [
            PartialDownloadLocation(key: "GET http://files.test/other.bin", destination: .file(folder.file)),
            PartialDownloadLocation(
                key: DownloadFolder.key,
                destination: .file(folder.url.appending(path: "other.bin"))
            ),
            PartialDownloadLocation(key: DownloadFolder.key, destination: .suggested(in: folder.url)),
            PartialDownloadLocation(key: DownloadFolder.key, destination: .temporary),
        ]
        #expect(Set((others + [own]).map(\.part)).count == 5)
        // The way to resolve a conflict does not change the path.
        #expect(try folder.place(.file(folder.file, ifExists: .overwrite)).part == own.part)
        #expect(try folder.place(.file(folder.file, ifExists: .keepBoth, createsDirectories: false)).part == own.part)
    }

    @Test func closedPartRefusesWrites() async throws {
        let folder = try DownloadFolder()
        let part = try await folder.beginPart()
        await part.close()
        await part.close()
        await part.discard()
        #expect(folder.names.count == 2)
        #expect(await .internalFailure == SluiceError.Code.thrown { try await part.write("5", at: 5) })
        #expect(await .internalFailure == SluiceError.Code.thrown { try await part.begin(.digits) })
        #expect(await .internalFailure == SluiceError.Code.thrown { _ = try await part.moveToDestination() })
        part.updateResource(.digits)
        #expect(try await folder.open().completed.prefix == 5)
    }
}
