import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where a cache in SQLite lies: the database with its log and its index of the log, and a lock beside them. Every function blocks; an error
/// is a number of `errno`, 0 for none.
struct CacheFiles: Sendable {
    /// Which file it is, whatever its name.
    struct Identity: Sendable, Hashable {
        let device: UInt64
        let number: UInt64
    }

    let directory: String
    private let name: String

    init(directory: URL, name: String) {
        self.directory = directory.path
        // A name and no path.
        let plain = String(
            decoding: name.utf8.map { $0 == 0 || $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 },
            as: UTF8.self
        )
        self.name = plain.isEmpty ? "cache" : plain
    }

    var database: String { "\(directory)/\(name).sqlite" }

    /// What SQLite keeps beside a database, by what it appends to its name.
    private static let companions = ["-wal", "-shm", "-journal"]
    /// How many databases are kept that were set aside; the oldest go.
    private static let asideLimit = 2

    /// The database's; nil if there is none.
    var identity: Identity? {
        var status = stat()
        guard stat(database, &status) == 0 else { return nil }
        return Identity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
    }

    /// Whether there is a log that has something in it, or might have.
    var hasLog: Bool { logSize.map { $0 > 0 } ?? (errno != ENOENT) }

    /// How many bytes the log has; nil where there is none to be seen.
    var logSize: Int64? {
        var status = stat()
        return stat(database + "-wal", &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Makes the folder, and those it is in, for this user only.
    func makeDirectory() -> Int32 {
        var missing: [String] = []
        var path = directory
        var status = stat()
        while stat(path, &status) != 0 {
            guard errno == ENOENT else { return errno }
            missing.append(path)
            path = SystemFile.folder(of: path)
            if missing.last == path { return ENOENT }
        }
        for path in missing.reversed() where mkdir(path, S_IRWXU) != 0 && errno != EEXIST { return errno }
        return 0
    }

    /// Makes an empty database for this user only, if there is none.
    ///
    /// Without connections: closing a file that SQLite has open too would give its locks back.
    func makeDatabase() -> Int32 {
        let descriptor = open(database, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)
        guard descriptor >= 0 else { return errno == EEXIST ? 0 : errno }
        // What lies beside it is another's, which was removed.
        for companion in Self.companions { unlink(database + companion) }
        close(descriptor)
        return 0
    }

    /// Renames the database and what belongs to it, and removes the oldest of those that were set aside before.
    ///
    /// - Parameter lock: Held, so that no two do it at once.
    /// - Returns: Where it is now, or the error.
    func setAside(with lock: CacheLock) -> (path: String, error: Int32) {
        var seconds = timespec()
        clock_gettime(CLOCK_REALTIME, &seconds)
        let path = "\(directory)/\(asidePrefix)\(seconds.tv_sec)-\(String(UInt32.random(in: .min ... .max), radix: 36))"
        // First the database: a log without one is nothing, but a database without its log is another.
        guard rename(database, path) == 0 else { return (path, errno) }
        for companion in Self.companions { rename(database + companion, path + companion) }
        removeOldest()
        return (path, 0)
    }

    /// Removes the database and what belongs to it.
    ///
    /// - Parameter lock: Held, so that nobody opens it meanwhile.
    /// - Returns: The error.
    func remove(with lock: CacheLock) -> Int32 {
        guard unlink(database) == 0 else { return errno }
        for companion in Self.companions { unlink(database + companion) }
        return 0
    }

    private var asidePrefix: String { "\(name).corrupt-" }

    private func removeOldest() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let aside = names.filter { name in
            name.hasPrefix(asidePrefix) && !Self.companions.contains { name.hasSuffix($0) }
        }
        for name in aside.sorted().dropLast(Self.asideLimit) {
            for companion in [""] + Self.companions { unlink("\(directory)/\(name)\(companion)") }
        }
    }

    /// Waits for the lock that those hold who open, make or set aside the database.
    ///
    /// - Parameter patience: For how many milliseconds at most.
    /// - Returns: The lock.
    /// - Throws: Why there is none.
    func lock(patience: Int) throws(SystemFailure) -> CacheLock {
        try CacheLock.take("\(directory)/\(name).lock", patience: patience)
    }
}

/// A number of `errno`.
struct SystemFailure: Error, Hashable, CustomStringConvertible {
    let number: Int32

    var description: String { String(cString: strerror(number)) }
}
