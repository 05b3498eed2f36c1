import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct PartialDownloadJournalTests {
    private static func journal(_ change: (inout PartialDownloadJournal) -> Void = { _ in }) -> PartialDownloadJournal {
        var journal = PartialDownloadJournal(
            resource: .digits,
            completed: ByteRanges([0..<5]),
            synced: ByteRanges([0..<3]),
            bootID: "this"
        )
        change(&journal)
        return journal
    }

    private static let judgements:
        [(journal: PartialDownloadJournal, length: Int64, bootID: String?, trusted: [Range<Int64>]?)] =
            [
                (journal(), 5, "this", [0..<5]),
                (journal(), 9, "this", [0..<5]),
                // The partial file is shorter than the journal says.
                (journal(), 4, "this", nil),
                (journal(), 0, "this", nil),
                // After a restart of the system, only the synchronized bytes count.
                (journal(), 5, "other", [0..<3]),
                (journal(), 4, "other", [0..<3]),
                (journal(), 2, "other", nil),
                (journal(), 5, nil, [0..<3]),
                (journal { $0.bootID = nil }, 5, nil, [0..<3]),
                (journal { $0.synced = ByteRanges() }, 5, "other", []),
                (journal { $0.version = 2 }, 5, "this", nil),
                (journal { $0.version = 0 }, 5, "this", nil),
                (journal { $0.resource.length = 4 }, 5, "this", nil),
                (journal { $0.resource.length = -1 }, 5, "this", nil),
                (journal { $0.resource.length = nil }, 5, "this", [0..<5]),
                (journal { $0.completed = ByteRanges([0..<1, 8 ..< .max]) }, 5, "this", nil),
            ]

    @Test(arguments: judgements)
    func trustedRangesFollowFromLengthAndBootID(
        _ journal: PartialDownloadJournal,
        _ length: Int64,
        _ bootID: String?,
        _ trusted: [Range<Int64>]?
    ) throws {
        #expect(journal.trusted(partLength: length, bootID: bootID)?.ranges == trusted)
        #expect(
            try JSONDecoder().decode(PartialDownloadJournal.self, from: JSONEncoder().encode(journal.with(1)))
                == journal.with(1)
        )
    }

    @Test func bootIDIsConstant() {
        #if os(Linux)
        #expect(BootID.current?.utf8.count == 36)
        #endif
        #expect(BootID.current == BootID.current)
    }

    /// Invalid journals, each next to a partial file of ten bytes.
    private static let untrusted: [(name: String, contents: Data)] = {
        var now = journal { $0.bootID = BootID.current }
        let good = encoded(now)
        now.version = 2
        let newer = encoded(now)
        let text = String(decoding: good, as: UTF8.self)
        return [
            ("empty", Data()),
            ("cut short", good.prefix(good.count / 2)),
            ("without its last byte", good.dropLast()),
            ("garbage", Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 151) })),
            ("zeros", Data(count: good.count)),
            ("newer", newer),
            ("newer with another format", Data(#"{"version":2,"blocks":"gzip"}"#.utf8)),
            ("no ranges", Data(text.replacing("[[0,5]]", with: "[[5,0]]").utf8)),
            ("negative", Data(text.replacing("[[0,5]]", with: "[[-5,5]]").utf8)),
            ("too much", Data(text.replacing("[[0,5]]", with: "[[0,11]]").utf8)),
            ("far too much", Data(text.replacing("[[0,5]]", with: "[[0,9223372036854775808]]").utf8)),
            ("nested", Data(repeating: UInt8(ascii: "["), count: 500_000)),
            ("too large", good + Data(repeating: UInt8(ascii: " "), count: 2 << 20)),
            ("of another boot", encoded(journal { ($0.bootID, $0.synced) = ("other", ByteRanges()) })),
            ("nothing", encoded(journal { ($0.bootID, $0.completed) = (BootID.current, ByteRanges()) })),
        ]
    }()

    private static func encoded(_ journal: PartialDownloadJournal) -> Data {
        (try? JSONEncoder().encode(journal)) ?? Data()
    }

    @Test(arguments: untrusted)
    func untrustedJournalRestartsTheDownload(_ name: String, _ contents: Data) async throws {
        let folder = try DownloadFolder()
        try folder.writeLeftovers(part: "XXXXXXXXXX", journal: contents)
        let part = try await folder.open()
        #expect(part.resource == nil, "\(name)")
        #expect(part.completed.isEmpty, "\(name)")
        #expect(folder.names.count == 1, "\(name)")
        try await part.begin(.digits)
        try await part.write("0123456789", at: 0)
        #expect(try await part.moveToDestination().resumedBytes == 0)
        #expect(folder.text() == "0123456789")
        #expect(folder.names == ["file.bin"])
    }

    @Test func onlySyncedRangesAreTrustedAfterAReboot() async throws {
        let folder = try DownloadFolder()
        try folder.writeLeftovers(part: "012", journal: Self.encoded(Self.journal { $0.bootID = "other" }))
        let part = try await folder.open()
        #expect(part.completed.ranges == [0..<3])
        try await part.write("3456789", at: 3)
        #expect(try await part.moveToDestination().resumedBytes == 3)
        #expect(folder.text() == "0123456789")
    }

    /// A disk that is removed while the system runs loses what was not synced. The length of the file may be there.
    @Test func onlySyncedRangesOfAFileWithAHoleAreTrusted() async throws {
        let folder = try DownloadFolder()
        let (synced, whole) = (64 << 10, 1 << 20) as (Int64, Int64)
        let journal = Self.journal {
            $0.bootID = BootID.current
            $0.resource.length = nil
            ($0.completed, $0.synced) = (ByteRanges([0..<whole]), ByteRanges([0..<synced]))
        }
        for hasHole in [true, false] {
            try folder.writeLeftovers(part: String(repeating: "x", count: 64 << 10), journal: Self.encoded(journal))
            let file = try FileHandle(forUpdating: URL(filePath: folder.place().part))
            try file.seek(toOffset: hasHole ? UInt64(whole - 4096) : UInt64(synced))
            try file.write(contentsOf: Data(repeating: 0x78, count: hasHole ? 4096 : Int(whole - synced)))
            try file.close()
            let part = try await folder.open()
            #expect(part.completed.ranges == [0..<(hasHole ? synced : whole)])
            await part.discard()
        }
    }

    @Test func journalWithoutPartialFileIsIgnored() async throws {
        let folder = try DownloadFolder()
        try folder.writeLeftovers(part: "", journal: Self.encoded(Self.journal { $0.bootID = BootID.current }))
        try FileManager.default.removeItem(atPath: folder.place().part)
        #expect(try await folder.open().completed.isEmpty)
    }

    @Test func journalCannotChangeTheFolder() async throws {
        let folder = try DownloadFolder()
        let destination = DownloadDestination.suggested(in: folder.url.appending(path: "inner"))
        let first = try await folder.beginPart("0123456789", destination)
        await first.close()
        let place = try folder.place(destination)
        let journal = try String(contentsOfFile: place.journal, encoding: .utf8)
        try Data(journal.replacing("digits.txt", with: #"..\/evil"#).utf8).write(to: URL(filePath: place.journal))
        let part = try await folder.open(destination)
        #expect(part.resource?.name == "../evil")
        #expect(try await part.moveToDestination().url.path == folder.url.path + "/inner/evil")
        #expect(folder.names == ["inner"])
    }
}

extension PartialDownloadJournal {
    fileprivate func with(_ version: Int) -> PartialDownloadJournal {
        var journal = self
        journal.version = version
        return journal
    }
}
