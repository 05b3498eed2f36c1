import SluiceFoundation
import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The files of a SQLite cache: the database, its log, the index of the log and a lock file. All functions block.
/// Errors are `errno` values; 0 means no error.
struct CacheFiles: Sendable {
    /// The identity of a file, independent of its path.
    struct Identity: Sendable, Hashable {
        let device: UInt64
        let number: UInt64
    }

    let directory: String
    private let name: String

    init(directory: URL, name: String) {
        self.directory = directory.path
        // The name must not contain path separators.
        let plain = String(
            decoding: name.utf8.map { $0 == 0 || $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 },
            as: UTF8.self
        )
        self.name = plain.isEmpty ? "cache" : plain
    }

    var database: String { "\(directory)/\(name).sqlite" }

    /// The suffixes of the files that SQLite creates next to a database.
    private static let companions = ["-wal", "-shm", "-journal"]
    /// The maximum number of databases that are kept after they were moved out of the way. The oldest are removed.
    private static let asideLimit = 2

    /// The identity of the database file; nil if there is none.
    var identity: Identity? {
        var status = stat()
        guard stat(database, &status) == 0 else { return nil }
        return Identity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
    }

    /// True if there is a log that is not empty, or if this cannot be determined.
    var hasLog: Bool { logSize.map { $0 > 0 } ?? (errno != ENOENT) }

    /// The size of the log in bytes; nil if it cannot be read.
    var logSize: Int64? {
        var status = stat()
        return stat(database + "-wal", &status) == 0 ? Int64(status.st_size) : nil
    }

    /// True if the log fills the disk, by the sizes of the files and the free space.
    var logFillsDisk: Bool {
        var (file, disk) = (stat(), statvfs())
        guard let log = logSize, stat(database, &file) == 0, statvfs(directory, &disk) == 0 else { return false }
        let free = Int64(disk.f_bavail) * Int64(disk.f_frsize)
        return Self.fillsDisk(log: log, database: Int64(file.st_size), free: free)
    }

    /// Returns true if a log is a substantial part of the cache, and at least twice as large as the free space. All sizes are in bytes.
    static func fillsDisk(log: Int64, database: Int64, free: Int64) -> Bool {
        log > database / 8 && log / 2 > free
    }

    /// The reason why other users may have changed the files, as the end of a sentence; nil if none can have.
    ///
    /// Files in a folder that only this user can write cannot be replaced by others, so the result stays valid.
    var exposure: String? {
        if let exposure = Self.exposure(of: directory, as: "folder") { return exposure }
        for name in [""] + Self.companions {
            if let exposure = Self.exposure(of: database + name, as: "file") { return exposure }
        }
        return nil
    }

    private static func exposure(of path: String, as kind: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        switch FileAccess(owner: status.st_uid, mode: status.st_mode).exposure(to: geteuid()) {
        case .owned: return "its \(kind) “\(path)” belongs to another user"
        case .writable:
            return
                "other users can write to its \(kind) “\(path)”; if none of them has done so, make it private with “chmod go-w”"
        case nil: return nil
        }
    }

    /// Creates the directory and its missing parents, accessible to this user only.
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

    /// Creates an empty database file, accessible to this user only, if there is none.
    ///
    /// Must not be called with open connections: closing any file descriptor of the file releases SQLite's locks on it.
    func makeDatabase() -> Int32 {
        let descriptor = open(database, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)
        guard descriptor >= 0 else { return errno == EEXIST ? 0 : errno }
        // Existing companion files belong to a database that was removed.
        for companion in Self.companions { unlink(database + companion) }
        close(descriptor)
        return 0
    }

    /// Renames the database and its companion files, and removes the oldest databases that were renamed before.
    ///
    /// - Parameter lock: The lock, which the caller holds so that only one process does this.
    /// - Returns: The new path, and the error.
    func setAside(with lock: FileLock) -> (path: String, error: Int32) {
        var seconds = timespec()
        clock_gettime(CLOCK_REALTIME, &seconds)
        let path = "\(directory)/\(asidePrefix)\(seconds.tv_sec)-\(String(UInt32.random(in: .min ... .max), radix: 36))"
        // The database is renamed first. A log without its database is useless, but a database without its log has
        // different contents.
        guard rename(database, path) == 0 else { return (path, errno) }
        for companion in Self.companions { rename(database + companion, path + companion) }
        removeOldest()
        return (path, 0)
    }

    /// Removes the database and its companion files.
    ///
    /// - Parameter lock: The lock, which the caller holds so that no process opens the database in the meantime.
    /// - Returns: The error.
    func remove(with lock: FileLock) -> Int32 {
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

    /// Waits for the lock under which the database is opened, created, moved or removed.
    ///
    /// - Parameter busyTimeout: The maximum time to wait, in milliseconds.
    /// - Returns: The lock.
    /// - Throws: An error if the lock cannot be taken in time.
    func lock(busyTimeout: Int) throws(SystemFailure) -> FileLock {
        var waited = 0
        while true {
            switch FileLock.attempt("\(directory)/\(name).lock") {
            case .taken(let lock): return lock
            case .busy where waited < busyTimeout:
                waited += 1
                usleep(1000)
            case .busy: throw SystemFailure(number: EWOULDBLOCK)
            case .failed(let error): throw SystemFailure(number: error)
            }
        }
    }
}

/// The owner and the mode of a file or folder.
struct FileAccess: Sendable, Hashable {
    enum Exposure: Sendable, Hashable {
        /// Another user owns it, and can change it and its mode.
        case owned
        /// Its group or all users can write to it.
        case writable
    }

    let owner: uid_t
    let mode: mode_t

    /// Returns the way in which others than a user can change the file; nil if only that user and root can.
    func exposure(to user: uid_t) -> Exposure? {
        if owner != user, owner != 0 { return .owned }
        return mode & (S_IWGRP | S_IWOTH) != 0 ? .writable : nil
    }
}

/// An `errno` value.
struct SystemFailure: Error, Hashable, CustomStringConvertible {
    let number: Int32

    var description: String { String(cString: strerror(number)) }
}
