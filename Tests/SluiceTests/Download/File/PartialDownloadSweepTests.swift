import Foundation
import SluiceTesting
import Testing

@testable import Sluice

/// The partial files of killed processes are removed by the next download, unless they can be resumed or are in use.
@Suite struct PartialDownloadSweepTests {
    private static let digest = "0123456789abcdef"

    @Test(arguments: [
        (".0123456789abcdef.sluicepart", ".0123456789abcdef", false),
        (".0123456789abcdef.1y2p0ij32e8e7.sluicepart", ".0123456789abcdef.1y2p0ij32e8e7", true),
        (".0123456789abcdef.0.sluicejournal.new", ".0123456789abcdef.0", true),
        (".0123456789abcdef.sluicejournal.new", ".0123456789abcdef", false),
        (".0123456789abcdef.sluicejournal", ".0123456789abcdef", false),
    ])
    func namesOfPartialFilesAreRecognized(_ text: String, _ stem: String, _ isPrivate: Bool) throws {
        let name = try #require(PartialDownloadSweep.Name(text))
        #expect(name.stem == stem)
        #expect(name.isPrivate == isPrivate)
        #expect(name.kind == (text.hasSuffix(".new") ? .newJournal : text.hasSuffix("part") ? .part : .journal))
    }

    @Test(arguments: [
        "", ".", ".sluicepart", "a.sluicepart", "0123456789abcdef.sluicepart", ".0123456789abcde.sluicepart",
        ".0123456789abcdeg.sluicepart", ".0123456789ABCDEF.sluicepart", ".0123456789abcdef..sluicepart",
        ".0123456789abcdef.a.b.sluicepart", ".0123456789abcdef.A.sluicepart", ".0123456789abcdef.sluicepart.bak",
        ".0123456789abcdef.12345678901234.sluicepart", ".0123456789abcdef.sluicejournals", "file.bin",
        ".0123456789abcdef.ä.sluicepart", ".notes.sluicejournal.new",
    ])
    func otherNamesAreNotRecognized(_ text: String) {
        #expect(PartialDownloadSweep.Name(text) == nil)
    }

    @Test func namesOfEveryLocationAreRecognized() throws {
        let folder = try DownloadFolder()
        for _ in 0..<200 {
            let location = try folder.place().unique
            for path in [location.part, location.newJournal] {
                let name = PartialDownloadSweep.Name(URL(filePath: path).lastPathComponent)
                #expect(name?.isPrivate == true, "\(path)")
            }
        }
        #expect(PartialDownloadSweep.Name(URL(filePath: try folder.place().part).lastPathComponent)?.isPrivate == false)
    }

    @Test func journalsWithoutAPartialFileAreRemovedAfterAnHour() throws {
        let folder = try DownloadFolder()
        for name in [".0123456789abcdef.sluicejournal", ".fedcba9876543210.sluicejournal"] {
            try folder.write("{}", to: name)
        }
        try folder.write("01234", to: ".fedcba9876543210.sluicepart")
        PartialDownloadSweep(folder: folder.url.path, claims: .shared).run()
        #expect(folder.names.count == 3)
        PartialDownloadSweep(folder: folder.url.path, claims: .shared, now: time(nil) + 3700).run()
        #expect(folder.names == [".fedcba9876543210.sluicejournal", ".fedcba9876543210.sluicepart"])
    }

    /// A file that another process may have left.
    private struct Leftover {
        enum State: CaseIterable { case abandoned, held, link, pipe, folder }

        let stem: String
        let isPrivate: Bool
        let state: State
        let hasJournal: Bool
        let hasNewJournal: Bool

        init(_ number: Int, _ random: inout SeededGenerator) {
            let digest = String(number, radix: 16)
            isPrivate = Bool.random(using: &random)
            stem =
                "." + String(repeating: "f", count: 16 - digest.count) + digest
                + (isPrivate ? "." + String(UInt64.random(in: .min ... .max, using: &random), radix: 36) : "")
            state = Bool.random(using: &random) ? .abandoned : State.allCases.randomElement(using: &random) ?? .held
            hasJournal = !isPrivate && Bool.random(using: &random)
            hasNewJournal = state == .abandoned && !hasJournal && Bool.random(using: &random)
        }

        var isSwept: Bool { state == .abandoned && !hasJournal }

        /// Creates the files. Returns the descriptor that holds the file.
        func create(in folder: DownloadFolder) throws -> FileHandle? {
            let url = folder.url.appending(path: "\(stem).sluicepart")
            if hasJournal { try folder.write("{}", to: "\(stem).sluicejournal") }
            if hasNewJournal { try folder.write("{}", to: "\(stem).sluicejournal.new") }
            switch state {
            case .abandoned: try folder.write("01234", to: url.lastPathComponent)
            case .held:
                try folder.write("01234", to: url.lastPathComponent)
                let handle = try FileHandle(forUpdating: url)
                #expect(flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
                return handle
            case .link: try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: "victim")
            case .pipe: #expect(mkfifo(url.path, 0o600) == 0)
            case .folder: try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            }
            return nil
        }
    }

    @Test func nextDownloadSweepsWhatNobodyHolds() async throws {
        for seed in 0..<20 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let folder = try DownloadFolder()
            try folder.write("precious", to: "victim")
            try folder.write("precious", to: ".0123456789abcdef.sluicepart.bak")
            let leftovers = (0..<20).map { Leftover($0, &random) }
            let handles = try leftovers.compactMap { try $0.create(in: folder) }
            let part = try await folder.beginPart("0123456789", .file(folder.file, ifExists: .overwrite))
            _ = try await part.moveToDestination()
            let kept = leftovers.filter { !$0.isSwept }.flatMap { leftover in
                ["\(leftover.stem).sluicepart"] + (leftover.hasJournal ? ["\(leftover.stem).sluicejournal"] : [])
            }
            let names = kept + ["victim", ".0123456789abcdef.sluicepart.bak", "file.bin"]
            #expect(folder.names == names.sorted(), "seed \(seed)")
            #expect(folder.text(of: "victim") == "precious")
            // The holders end, and the next download sweeps their files.
            for handle in handles {
                // A process that another test is starting may have a copy of the descriptor.
                flock(handle.fileDescriptor, LOCK_UN)
                try handle.close()
            }
            let next = try await folder.open(.file(folder.file, ifExists: .overwrite))
            await next.discard()
            let swept = leftovers.filter { $0.state == .held && !$0.hasJournal }.map { "\($0.stem).sluicepart" }
            #expect(folder.names == names.filter { !swept.contains($0) }.sorted(), "seed \(seed)")
        }
    }

    @Test func resumablePartialFilesAreKeptForThirtyDays() async throws {
        let folder = try DownloadFolder()
        await (try folder.beginPart()).close()
        let names = folder.names
        #expect(names.count == 2)
        let age = PartialDownloadSweep.maximumAge
        PartialDownloadSweep(folder: folder.url.path, claims: .shared, now: time(nil) + age - 60).run()
        #expect(folder.names == names)
        let part = try await folder.open()
        PartialDownloadSweep(folder: folder.url.path, claims: .shared, now: time(nil) + age + 60).run()
        #expect(folder.names == names, "a sender holds it")
        await part.close()
        PartialDownloadSweep(folder: folder.url.path, claims: .shared, now: time(nil) + age + 60).run()
        #expect(folder.names.isEmpty)
    }

    @Test func largeFolderIsSweptOnceAMinute() async throws {
        let folder = try DownloadFolder()
        for number in 0..<PartialDownloadSweep.largeFolder { try folder.write("", to: "\(number)") }
        let leftover = ".0123456789abcdef.1.sluicepart"
        let now = time(nil)
        for (offset, isSwept) in [(0, true), (59, false), (60, true), (61, false), (-1, true)] as [(time_t, Bool)] {
            try folder.write("01234", to: leftover)
            PartialDownloadSweep(folder: folder.url.path, claims: .shared, now: now + offset).runIfDue()
            #expect(folder.names.contains(leftover) != isSwept, "after \(offset) seconds")
        }
    }

    @Test func secondProcessAtTheSameDestinationLeavesNothing() async throws {
        let folder = try DownloadFolder()
        // The first process holds the usual partial file, so the second one has used a private one. Both are killed.
        await (try folder.beginPart()).close()
        let first = try FileHandle(forUpdating: URL(filePath: folder.place().part))
        #expect(flock(first.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
        let location = try folder.place().unique
        try Data("012".utf8).write(to: URL(filePath: location.part))
        let second = try FileHandle(forUpdating: URL(filePath: location.part))
        #expect(flock(second.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
        let third = try await folder.open()
        await third.discard()
        #expect(folder.partCount == 2, "both are still in use")
        for handle in [first, second] {
            // A process that another test is about to start has the descriptor until its exec, and with it the lock.
            flock(handle.fileDescriptor, LOCK_UN)
            try handle.close()
        }
        let next = try await folder.open()
        #expect(next.completed.prefix == 5, "the journal of the first one is resumed")
        #expect(folder.partCount == 1)
        await next.discard()
        #expect(folder.names.isEmpty)
    }

    @Test func partialFileOfANonRepeatableDownloadHasNoJournal() async throws {
        let folder = try DownloadFolder()
        let part = try await PartialDownload.open(
            key: "POST http://files.test/export",
            destination: .file(folder.file),
            lease: PartialDownloadLease(),
            isRepeatable: false
        )
        try await part.begin(.digits)
        try await part.write("01234", at: 0)
        let name = try #require(folder.names.first.flatMap(PartialDownloadSweep.Name.init))
        #expect(name.isPrivate, "a killed process leaves a file that the next download removes")
        await part.close()
        #expect(folder.names.isEmpty)
    }

    @Test func concurrentOpensDuringSweepsSucceed() async throws {
        let folder = try DownloadFolder()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    // Half of the downloads use the same usual partial file, and half of them a private one each.
                    let part = try await PartialDownload.open(
                        key: "GET http://files.test/\(number % 6)",
                        destination: .suggested(in: folder.url),
                        lease: PartialDownloadLease(),
                        isRepeatable: number.isMultiple(of: 2)
                    )
                    try await part.begin(.digits)
                    try await part.write("0123456789", at: 0)
                    #expect(try await part.moveToDestination().length == 10)
                }
            }
            try await group.waitForAll()
        }
        #expect(folder.names.count == 60)
        #expect(folder.partCount == 0)
    }
}
