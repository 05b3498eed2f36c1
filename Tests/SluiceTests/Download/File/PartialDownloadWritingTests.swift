import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice

@Suite struct PartialDownloadWritingTests {
    private static func pattern(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    }

    /// Cuts bytes into slices of random sizes, including zero, whose indices do not begin at 0.
    private static func pieces(_ data: Data, _ random: inout SeededGenerator) -> [Data] {
        var pieces: [Data] = []
        var rest = data[...]
        while !rest.isEmpty {
            let count = [0, 1, 7, 13, 15, 100, 3000].randomElement(using: &random) ?? 1
            pieces.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return pieces
    }

    @Test(arguments: UInt64(1)...4)
    func concurrentWritesFillTheFile(_ seed: UInt64) async throws {
        let folder = try DownloadFolder()
        let whole = Self.pattern(1 << 20)
        let part = try await folder.open()
        try await part.begin(RemoteResource.digits.with { $0.length = Int64(whole.count) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: seed * 8 + UInt64(writer))
                    let size = whole.count / 8
                    for quarter in 0..<4 {
                        let start = writer * size + quarter * size / 4
                        let pieces = Self.pieces(whole[start..<start + size / 4], &random)
                        try await part.write(pieces, at: Int64(start))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(part.completed.ranges == [0..<Int64(whole.count)])
        let file = try await part.moveToDestination()
        #expect(file.length == Int64(whole.count))
        #expect(try Data(contentsOf: folder.file) == whole)
    }

    private static let outside: [(Int64, String)] = [
        (10, "x"), (9, "xy"), (11, "x"), (-1, "x"), (.max, "x"), (.min, "x"), (.max - 1, "xyz"),
    ]

    @Test(arguments: outside)
    func writeOutsideTheResourceFails(_ offset: Int64, _ text: String) async throws {
        let folder = try DownloadFolder()
        let part = try await folder.beginPart()
        #expect(await .lengthMismatch == SluiceError.Code.thrown { try await part.write(text, at: offset) })
        #expect(part.completed.ranges == [0..<5])
    }

    @Test func writesAreUnlimitedWithoutALength() async throws {
        let folder = try DownloadFolder()
        let part = try await folder.open()
        try await part.begin(RemoteResource.digits.with { $0.length = nil })
        try await part.write("0123456789ABCDEF", at: 0)
        #expect(await .lengthMismatch == SluiceError.Code.thrown { try await part.write("x", at: .max) })
        #expect(try await part.moveToDestination().length == 16)
        #expect(folder.text() == "0123456789ABCDEF")
    }

    @Test func emptyWritesHaveNoEffect() async throws {
        let folder = try DownloadFolder()
        let part = try await folder.beginPart("")
        try await part.write([], at: 0)
        try await part.write([Data(), Data()], at: 10)
        #expect(part.completed.isEmpty)
        await part.close()
    }

    @Test func insufficientSpaceFailsAtOnce() async throws {
        let folder = try DownloadFolder()
        let part = try await folder.open()
        let error = await #expect(throws: SluiceError.self) {
            try await part.begin(RemoteResource.digits.with { $0.length = .max })
        }
        #expect(error?.code == .insufficientSpace)
        #expect(error?.description.contains(folder.file.path) == true)
        await part.close()
        #expect(folder.names.isEmpty)
    }

    @Test(arguments: [0o644, 0o666, 0o755, 0o4777, 0o400, 0o600])
    func partialFileThatOthersCanReadBecomesPrivate(_ mode: Int) async throws {
        let folder = try DownloadFolder()
        await (try folder.beginPart()).close()
        let path = try folder.place().part
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        // A file that its owner cannot write is opened by root only. Others use a private one.
        let part = try await folder.open()
        for name in folder.names where name.hasSuffix(".sluicepart") {
            let status = try folder.status(of: name)
            #expect(status.st_mode & ~S_IFMT == 0o600 || status.st_mode & ~S_IFMT == 0o400)
            #expect(part.completed.isEmpty || status.st_mode & ~S_IFMT == 0o600)
        }
        #expect(mode & 0o200 == 0 || part.completed.prefix == 5)
        await part.discard()
    }

    /// Returns a partial file with all its bytes, and a function in place of the one that writes it to the disk.
    private static func wholePart(
        in folder: DownloadFolder,
        _ sync: @escaping @Sendable (Int32) -> Int32
    ) async throws -> PartialDownload {
        let place = try folder.place()
        let opening = PartialDownloadDescriptor.open(place.part, isNew: true, syncFile: sync)
        guard case .opened(let descriptor) = opening else { throw CocoaError(.fileWriteUnknown) }
        let queue = PartialDownload.makeQueue()
        let part = PartialDownload(location: place, descriptor: descriptor, lease: nil, queue: queue)
        try await part.begin(.digits)
        try await part.write("0123456789", at: 0)
        return part
    }

    @Test func cancellationDuringTheSyncKeepsTheFileAtTheDestination() async throws {
        let folder = try DownloadFolder()
        try folder.write("old")
        let sender = PartialDownloadLease()
        let part = try await Self.wholePart(in: folder) { _ in
            sender.end()
            return 0
        }
        #expect(await .cancelled == SluiceError.Code.thrown { _ = try await part.moveToDestination(sender: sender) })
        #expect(folder.text() == "old")
        #expect(folder.partCount == 1)
        await part.discard()
    }

    @Test func fileIsReadableByOthersOnlyAfterItWasSynced() async throws {
        let folder = try DownloadFolder()
        let modes = Shared<[mode_t?]>([])
        let part = try await Self.wholePart(in: folder) { number in
            var status = stat()
            let isKnown = fstat(number, &status) == 0
            modes.change { $0.append(isKnown ? status.st_mode & ~S_IFMT : nil) }
            return 0
        }
        _ = try await part.moveToDestination()
        #expect(!modes.read.isEmpty)
        #expect(modes.read.allSatisfy { $0 == 0o600 })
        try folder.write("any", to: "any")
        #expect(try folder.status(of: "file.bin").st_mode == folder.status(of: "any").st_mode)
    }

    @Test func partialFilesAreAccessibleToTheirOwnerOnly() async throws {
        let folder = try DownloadFolder()
        await (try folder.beginPart()).close()
        for name in folder.names {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.url.appending(path: name).path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }
}
