import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// A sender's claim to its partial file. While the sender is about to release the file, the next sender waits for it.
final class PartialDownloadLease: Sendable {
    private let state = Locked(false)

    init() {}

    /// True if the sender will release its partial file soon.
    var isEnding: Bool { state.withLock { $0 } }

    /// Announces that the sender was cancelled or is done.
    func end() {
        state.withLock { $0 = true }
    }
}

/// The partial files that this process holds. A file lock does not show that its holder is about to release it.
final class PartialDownloadClaims: Sendable {
    static let shared = PartialDownloadClaims()

    private struct Claim {
        let lease: PartialDownloadLease
        var waiting: [Int: Waiter<Void>] = [:]
    }

    private enum ClaimResult { case granted, denied, ending }

    private let claims = Locked<[String: Claim]>([:])

    /// Claims a partial file, and waits if its holder is about to release it.
    ///
    /// - Parameters:
    ///   - path: The path of the partial file.
    ///   - lease: The lease of the claiming sender.
    /// - Returns: True if the claim was granted; false if another sender holds the file and is not about to end.
    /// - Throws: `cancelled` if the task or the lease ends first.
    func claim(_ path: String, for lease: PartialDownloadLease) async throws(SluiceError) -> Bool {
        while true {
            if Task.isCancelled || lease.isEnding { throw .cancelled }
            let result = claims.withLock { claims -> ClaimResult in
                if let claim = claims[path] { return claim.lease.isEnding ? .ending : .denied }
                claims[path] = Claim(lease: lease)
                return .granted
            }
            switch result {
            case .granted: return true
            case .denied: return false
            case .ending: await waitForRelease(of: path)
            }
        }
    }

    /// Claims a partial file that nobody holds, in order to remove it. Senders that want it wait for the release.
    ///
    /// - Parameter path: The path of the partial file.
    /// - Returns: The lease for the release; nil if a sender holds the file.
    func claimToRemove(_ path: String) -> PartialDownloadLease? {
        let lease = PartialDownloadLease()
        lease.end()
        return claims.withLock { claims in
            guard claims[path] == nil else { return nil }
            claims[path] = Claim(lease: lease)
            return lease
        }
    }

    /// Releases a partial file after it is closed. Does nothing if another lease holds it.
    func release(_ path: String, from lease: PartialDownloadLease) {
        let claim = claims.withLock { claims in
            claims[path]?.lease === lease ? claims.removeValue(forKey: path) : nil
        }
        for waiter in claim?.waiting.values ?? [:].values { waiter.resume() }
    }

    private func waitForRelease(of path: String) async {
        await claims.wait(cancelled: ()) { waiter in
            let isWaiting = claims.withLock { claims in
                // A new sender may hold the file by now, and is not about to release it.
                guard !Task.isCancelled, claims[path]?.lease.isEnding == true else { return false }
                claims[path]?.waiting[waiter.id] = waiter
                return true
            }
            if !isWaiting { waiter.resume() }
        } leave: { id in
            claims.withLock { $0[path]?.waiting.removeValue(forKey: id) }
        }
    }
}

// MARK: - Partial download sweep

/// The removal of partial files that no later send can resume and that no process holds.
///
/// A process that is killed leaves its partial files. One with a journal is kept for 30 days, because a later send of the
/// same download resumes it. All others are removed by the next download to the same folder, and in a large folder
/// by one that begins a minute later:
///
/// - the private partial file of a sender that found the usual one in use, or whose request is not repeatable;
/// - a partial file whose journal was never written;
/// - a journal without its partial file, after an hour;
/// - the temporary file of a journal.
///
/// The lock of a partial file shows that a process still holds it. The lock ends with the process.
struct PartialDownloadSweep {
    /// A name of a partial file, of a journal, or of the temporary file of a journal.
    struct Name: Equatable {
        enum Kind: Equatable { case part, journal, newJournal }

        let kind: Kind
        /// The common prefix of the names of the partial file and its journal.
        let stem: String
        /// True if the name has a random part, so that only one sender uses it.
        let isPrivate: Bool

        /// Parses the name of a file; nil for all names that downloads do not create.
        init?(_ name: String) {
            let endings: [(String, Kind)] = [
                (".sluicepart", .part), (".sluicejournal", .journal), (".sluicejournal.new", .newJournal),
            ]
            guard let (ending, kind) = endings.first(where: { name.hasSuffix($0.0) }), name.hasPrefix(".") else {
                return nil
            }
            self.kind = kind
            stem = String(name.dropLast(ending.count))
            let parts = stem.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
            guard let digest = parts.first, (1...2).contains(parts.count), digest.utf8.count == 16,
                digest.utf8.allSatisfy({ Self.isDigit($0, below: 16) })
            else { return nil }
            isPrivate = parts.count == 2
            guard isPrivate else { return }
            let random = parts[1].utf8
            guard (1...13).contains(random.count), random.allSatisfy({ Self.isDigit($0, below: 36) }) else {
                return nil
            }
        }

        /// Returns true for a lowercase digit of a number with a base.
        private static func isDigit(_ byte: UInt8, below base: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 10 < base
            default: false
            }
        }
    }

    /// The age in seconds at which a resumable partial file is removed. The URL of a download may hold a signature, so that
    /// no later send has the same key.
    static let maximumAge = 30 * 86_400

    let folder: String
    let claims: PartialDownloadClaims
    /// The current time, as that of the files.
    var now = time(nil)

    /// The number of names from which a folder is swept once a minute only. Otherwise, the cost of many downloads to one
    /// folder would be quadratic.
    static let largeFolder = 1_000
    /// The large folders, and when each was swept.
    private static let sweptLarge = Locked<[String: time_t]>([:])

    /// Removes the files, unless the folder is large and was swept within the last minute. Blocks.
    func runIfDue() {
        let isDue = Self.sweptLarge.withLock { swept in
            guard let last = swept[folder] else { return true }
            if last <= now, now < last + 60 { return false }
            swept[folder] = nil
            return true
        }
        guard isDue, run() >= Self.largeFolder else { return }
        Self.sweptLarge.withLock { swept in
            if swept.count >= 256 { swept = [:] }
            swept[folder] = now
        }
    }

    /// Removes the files. Blocks. Does nothing about a file that cannot be read or removed.
    ///
    /// - Returns: The number of names in the folder.
    @discardableResult
    func run() -> Int {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return 0 }
        let found = names.compactMap(Name.init)
        guard !found.isEmpty else { return names.count }
        let existing = Set(names)
        for name in found {
            switch name.kind {
            case .part where name.isPrivate: removePrivate(name)
            // A journal makes the partial file resumable.
            case .part: removeUnclaimed(name, hasJournal: existing.contains("\(name.stem).sluicejournal"))
            // A younger one may be that of a partial file which was created meanwhile.
            case .journal where !existing.contains("\(name.stem).sluicepart"):
                let journal = path(name.stem, ".sluicejournal")
                if isOld(journal, age: 3600) { unlink(journal) }
            case .journal: break
            // The owner of a private file creates this one only while the partial file exists.
            case .newJournal where name.isPrivate && !existing.contains("\(name.stem).sluicepart"):
                unlink(path(name.stem, ".sluicejournal.new"))
            case .newJournal: break
            }
        }
        return names.count
    }

    private func path(_ stem: String, _ ending: String) -> String {
        folder == "/" ? "/\(stem)\(ending)" : "\(folder)/\(stem)\(ending)"
    }

    private func removePrivate(_ name: Name) {
        let part = path(name.stem, ".sluicepart")
        guard let descriptor = PartialDownloadDescriptor.openAbandoned(part) else { return }
        unlink(path(name.stem, ".sluicejournal.new"))
        unlink(part)
        descriptor.close()
    }

    private func removeUnclaimed(_ name: Name, hasJournal: Bool) {
        let part = path(name.stem, ".sluicepart")
        if hasJournal, !isOld(part) { return }
        // Senders of this process that want the file wait until it is removed, and then create it.
        guard let lease = claims.claimToRemove(part) else { return }
        defer { claims.release(part, from: lease) }
        guard let descriptor = PartialDownloadDescriptor.openAbandoned(part) else { return }
        // Another process may have written the journal or the file, and ended, since they were read.
        if access(path(name.stem, ".sluicejournal"), F_OK) != 0 || isOld(part) {
            // A journal without its partial file would remain for an hour.
            for ending in [".sluicejournal.new", ".sluicejournal", ".sluicepart"] { unlink(path(name.stem, ending)) }
        }
        descriptor.close()
    }

    private func isOld(_ path: String, age: Int = maximumAge) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        #if canImport(Darwin)
        return status.st_mtimespec.tv_sec < now - age
        #else
        return status.st_mtim.tv_sec < now - age
        #endif
    }
}
