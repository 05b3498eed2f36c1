import Foundation
import SluiceHTTP
import Testing

@Suite struct FileLockTests {
    /// Runs work with the path of a file that does not exist.
    private func withPath(_ work: (String) throws -> Void) rethrows {
        let path = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).lock").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try work(path)
    }

    private func take(_ path: String) -> FileLock? {
        if case .taken(let lock) = FileLock.attempt(path) { lock } else { nil }
    }

    private func isBusy(_ path: String) -> Bool {
        if case .busy = FileLock.attempt(path) { true } else { false }
    }

    @Test func lockExcludesOthersUntilItIsReleased() throws {
        try withPath { path in
            for _ in 0..<3 {
                let lock = try #require(take(path))
                withExtendedLifetime(lock) {
                    #expect(isBusy(path))
                    #expect(isBusy(path))
                }
            }
            #expect(take(path) != nil)
        }
    }

    @Test func lockFileIsPrivateAndStays() throws {
        try withPath { path in
            #expect(take(path) != nil)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(attributes[.size] as? Int == 0)
        }
    }

    @Test func linksAndMissingFoldersAreRefused() throws {
        try withPath { path in
            guard case .failed(ENOENT) = FileLock.attempt("\(path)/x") else {
                Issue.record("a file in a missing folder was locked")
                return
            }
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "\(path).target")
            guard case .failed(ELOOP) = FileLock.attempt(path) else {
                Issue.record("a symbolic link was followed")
                return
            }
            #expect(!FileManager.default.fileExists(atPath: "\(path).target"))
        }
    }

    @Test func oneOfManyThreadsHoldsTheLock() async {
        let path = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).lock").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let holders = Locked((now: 0, most: 0, total: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<500 {
                        guard let lock = take(path) else { continue }
                        withExtendedLifetime(lock) {
                            holders.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.total + 1) }
                            holders.withLock { $0.now -= 1 }
                        }
                    }
                }
            }
        }
        #expect(holders.withLock { $0.most } == 1)
        #expect(holders.withLock { $0.total } > 0)
    }
}
