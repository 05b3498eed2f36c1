import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct PartialDownloadSharingTests {
    @Test func concurrentDownloadsHaveSeparateParts() async throws {
        let folder = try DownloadFolder()
        let first = try await folder.beginPart("01234")
        let second = try await folder.beginPart("abc")
        #expect(folder.partCount == 2)
        #expect(second.completed.prefix == 3)
        await second.close()
        #expect(folder.partCount == 1)
        let third = try await folder.beginPart("0123456789")
        #expect(try await third.moveToDestination().length == 10)
        #expect(folder.text() == "0123456789")
        await first.close()
        let resumed = try await folder.open(.file(folder.file, ifExists: .overwrite))
        #expect(resumed.completed.prefix == 5)
        await resumed.discard()
        #expect(folder.names == ["file.bin"])
    }

    @Test func partLockedByAnotherProcessIsNotUsed() async throws {
        let folder = try DownloadFolder()
        await (try folder.beginPart()).close()
        let descriptor = try FileHandle(forUpdating: URL(filePath: folder.place().part))
        #expect(flock(descriptor.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
        let own = try await folder.open()
        #expect(own.completed.isEmpty)
        try await own.begin(.digits)
        await own.close()
        #expect(folder.partCount == 1)
        // A process that another test starts at this moment has a copy of the descriptor, which would keep the lock.
        #expect(flock(descriptor.fileDescriptor, LOCK_UN) == 0)
        try descriptor.close()
        #expect(try await folder.open().completed.prefix == 5)
    }

    @Test func hungDiskHoldsUpNeitherTasksNorOtherDownloads() async throws {
        let folder = try DownloadFolder()
        // More than the threads that run tasks, and fewer than the threads that Dispatch creates at most.
        let count = min(200, max(64, 4 * ProcessInfo.processInfo.activeProcessorCount))
        var parts: [PartialDownload] = []
        for index in 0..<count {
            let destination = DownloadDestination.file(folder.url.appending(path: "hung \(index)"))
            parts.append(try await folder.open(destination))
        }
        let disk = DispatchSemaphore(value: 0)
        let deadline = DispatchTime.now() + 20
        let blocked = Shared(0)
        let hung = parts.map { part in
            Task {
                try await part.perform { _ in
                    blocked.change { $0 += 1 }
                    return disk.wait(timeout: deadline) == .success
                }
            }
        }
        await eventually { blocked.read == count }
        let other = try await folder.beginPart("0123456789")
        #expect(try await other.moveToDestination().length == 10)
        #expect(await Task.detached { folder.text() }.value == "0123456789")
        for _ in parts { disk.signal() }
        var isInTime = true
        for task in hung { isInTime = try await task.value && isInTime }
        #expect(isInTime, "Tasks waited for work on files.")
        for part in parts { await part.discard() }
        #expect(folder.names == ["file.bin"])
    }

    @Test func openAfterCancellationWaitsAndResumes() async throws {
        let folder = try DownloadFolder()
        let lease = PartialDownloadLease()
        let first = try await folder.open(lease: lease)
        try await first.begin(.digits)
        try await first.write("01234", at: 0)
        lease.end()
        let next = Task { try await folder.open() }
        let isDone = Task { (try? await next.value) != nil }
        #expect(await TaskRace.isDone(isDone) == false)
        try await first.write("56", at: 5)
        await first.close()
        let second = try await next.value
        #expect(second.completed.prefix == 7)
        await second.discard()
    }

    @Test func oneOfManyWaitersResumes() async throws {
        let folder = try DownloadFolder()
        let lease = PartialDownloadLease()
        let first = try await folder.open(lease: lease)
        try await first.begin(.digits)
        try await first.write("01234", at: 0)
        lease.end()
        let waiters = (0..<10).map { _ in Task { try await folder.open() } }
        for waiter in waiters {
            let isDone = Task { (try? await waiter.value) != nil }
            #expect(await TaskRace.isDone(isDone) == false)
        }
        await first.close()
        var parts: [PartialDownload] = []
        for waiter in waiters { parts.append(try await waiter.value) }
        #expect(parts.filter { !$0.completed.isEmpty }.count == 1)
        for part in parts { await part.discard() }
        #expect(folder.names.isEmpty)
    }

    @Test func waitingOpenCanBeCancelled() async throws {
        let folder = try DownloadFolder()
        let lease = PartialDownloadLease()
        let first = try await folder.open(lease: lease)
        lease.end()
        let next = Task { await SluiceError.Code.thrown { _ = try await folder.open() } }
        #expect(await TaskRace.isDone(next) == false)
        next.cancel()
        #expect(await next.value == .cancelled)
        await first.close()
    }

    @Test func openWithAnEndedLockFails() async throws {
        let folder = try DownloadFolder()
        let lease = PartialDownloadLease()
        lease.end()
        #expect(await .cancelled == SluiceError.Code.thrown { _ = try await folder.open(lease: lease) })
        #expect(folder.names.isEmpty)
        #expect(try await folder.open().completed.isEmpty)
    }

    @Test func claimIsHeldOnceAtATime() async throws {
        let claims = PartialDownloadClaims()
        let holders = Shared(0)
        let given = Shared(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let lease = PartialDownloadLease()
                    guard try await claims.claim("a", for: lease) else { return }
                    let count = holders.change { count in
                        count += 1
                        return count
                    }
                    #expect(count == 1)
                    given.change { $0 += 1 }
                    if index.isMultiple(of: 2) { await Task.yield() }
                    lease.end()
                    if index.isMultiple(of: 3) { await Task.yield() }
                    holders.change { $0 -= 1 }
                    claims.release("a", from: lease)
                    // The lock no longer owns the claim.
                    claims.release("a", from: lease)
                }
            }
            try await group.waitForAll()
        }
        #expect(given.read >= 1)
        #expect(try await claims.claim("a", for: PartialDownloadLease()))
    }

    /// Obstacles in the place of the partial file.
    enum Obstacle: CaseIterable, Sendable {
        case link, danglingLink, folder, pipe
    }

    @Test(arguments: Obstacle.allCases)
    func obstacleInPlaceOfThePartIsLeftAlone(_ obstacle: Obstacle) async throws {
        let folder = try DownloadFolder()
        let path = try folder.place().part
        try folder.write("precious", to: "victim")
        let victim = folder.url.appending(path: "victim").path
        switch obstacle {
        case .link: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: victim)
        case .danglingLink: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
        case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        }
        let part = try await folder.beginPart("0123456789")
        #expect(try await part.moveToDestination().length == 10)
        #expect(folder.text() == "0123456789")
        #expect(folder.text(of: "victim") == "precious")
        #expect(folder.names.count == 3)
        // The claim has been released.
        try FileManager.default.removeItem(atPath: path)
        await (try folder.beginPart("01", .file(folder.file, ifExists: .overwrite))).close()
        #expect(try await folder.open(.file(folder.file, ifExists: .overwrite)).completed.prefix == 2)
    }

    @Test func symbolicLinkInPlaceOfTheJournalIsNotFollowed() async throws {
        let folder = try DownloadFolder()
        let place = try folder.place()
        try folder.write("precious", to: "victim")
        for path in [place.journal, place.newJournal] {
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "victim")
        }
        let part = try await folder.beginPart()
        await part.close()
        #expect(folder.text(of: "victim") == "precious")
        #expect(try await folder.open().completed.prefix == 5)
    }

    @Test func placedDownloadIsNotOpenedAsPart() async throws {
        // Simulates a crash between the two steps of renaming through a hard link.
        let folder = try DownloadFolder()
        await (try folder.beginPart("0123456789")).close()
        let place = try folder.place()
        #expect(link(place.part, folder.file.path) == 0)
        let part = try await folder.open(.file(folder.file, ifExists: .overwrite))
        #expect(part.completed.isEmpty)
        try await part.begin(.digits)
        try await part.write("x", at: 0)
        #expect(folder.text() == "0123456789")
        await part.discard()
    }
}
