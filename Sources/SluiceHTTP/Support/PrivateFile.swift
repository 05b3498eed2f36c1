import SluiceFoundation
import SluiceLibc

/// A small file for secrets. It is readable by its owner only and is replaced atomically. Every function blocks.
package struct PrivateFile: Sendable {
    /// An error, described in a sentence for the user.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    private static let temporarySuffix = ".sluicetmp"

    package let path: String
    /// The contents as error texts name them: `a token`.
    private let contentName: String
    /// The maximum size of a file that is read, in bytes.
    private let limit: Int
    /// True to read files that others may read or write, as other programs create them.
    private let acceptsShared: Bool

    package init(path: String, contentName: String, limit: Int, acceptsShared: Bool = false) {
        self.path = path
        self.contentName = contentName
        self.limit = limit
        self.acceptsShared = acceptsShared
    }

    /// Returns the contents; nil if the file does not exist.
    package func read() throws(Failure) -> Data? {
        try check()
        // A younger one may be in use.
        removeUnfinished(olderThan: 3600)
        let descriptor = SystemFile.openToRead(path)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("be read", errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("be read", errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(description: "The file “\(path)” cannot be read: it is not a regular file.")
        }
        guard acceptsShared || status.st_mode & (S_IRWXG | S_IRWXO) == 0 else {
            throw Failure(
                description:
                    "Other users can read or write the file “\(path)”. If none of them has done so, make it private with “chmod 600”."
            )
        }
        guard acceptsShared || status.st_uid == geteuid() || status.st_uid == 0 else {
            throw Failure(description: "The file “\(path)” belongs to another user, who may have written it.")
        }
        guard status.st_size <= limit else {
            throw Failure(description: "The file “\(path)” is too large for \(contentName).")
        }
        switch SystemFile.contents(of: descriptor, limit: Int(status.st_size)) {
        case .contents(let contents): return contents
        case .absent: return nil
        case .failed(let error): throw failure("be read", error)
        }
    }

    /// Replaces the contents atomically.
    package func replace(with contents: Data) throws(Failure) {
        try check()
        let name = UInt64.random(in: .min ... .max)
        let temporary = "\(path).\(String(name, radix: 36))\(Self.temporarySuffix)"
        let error = SystemFile.replace(path, with: contents, by: temporary, isSynced: true)
        guard error == 0 else { throw failure("be written", error) }
    }

    /// Removes the file if it exists.
    package func remove() throws(Failure) {
        try check()
        removeUnfinished(olderThan: 0)
        guard unlink(path) == 0 || errno == ENOENT else { throw failure("be removed", errno) }
        let error = SystemFile.syncFolder(of: path)
        guard error == 0 else { throw failure("be removed", error) }
    }

    /// Takes the lock of the file if it is free: another file beside it, with the name extension `lock`. Does not wait.
    ///
    /// - Returns: The lock; nil if another process or another lock of this process holds it.
    package func attemptLock() throws(Failure) -> FileLock? {
        try check()
        switch FileLock.attempt("\(path).lock") {
        case .taken(let lock): return lock
        case .busy: return nil
        case .failed(let error): throw failure("be locked", error)
        }
    }

    /// Removes the temporary files of processes that ended while they replaced the file, because these hold secrets, too. A process that
    /// still replaces the file fails if its temporary file is removed.
    ///
    /// - Parameter age: The age in seconds beyond which a file is removed.
    private func removeUnfinished(olderThan age: Int) {
        let folder = SystemFile.folder(of: path)
        let bytes = path.utf8
        let start = bytes[(bytes.lastIndex(of: UInt8(ascii: "/")).map(bytes.index(after:)) ?? bytes.startIndex)...]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where name.hasSuffix(Self.temporarySuffix) && name.utf8.starts(with: start) {
            let random = name.utf8.dropFirst(start.count).dropLast(Self.temporarySuffix.utf8.count)
            guard random.first == UInt8(ascii: "."), UInt64(String(random.dropFirst()) ?? "", radix: 36) != nil
            else { continue }
            let temporary = "\(folder)/\(name)"
            var status = stat()
            guard lstat(temporary, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            #if canImport(Darwin)
            let modified = status.st_mtimespec.tv_sec
            #else
            let modified = status.st_mtim.tv_sec
            #endif
            if age == 0 || modified < time(nil) - age { unlink(temporary) }
        }
    }

    private func check() throws(Failure) {
        // The system would cut such a path off at the NUL.
        if path.isEmpty || path.utf8.contains(0) {
            throw Failure(description: "The path of the file for \(contentName) is not valid.")
        }
    }

    private func failure(_ operation: String, _ error: Int32) -> Failure {
        Failure(description: "The file “\(path)” cannot \(operation): \(String(cString: strerror(error))).")
    }
}

// MARK: - File lock

/// A lock on a file that excludes other processes, and other locks of this one. It is held until it is deallocated. The
/// system releases it when the process ends.
package final class FileLock: Sendable {
    /// The result of an attempt to take a lock.
    package enum Attempt: Sendable {
        case taken(FileLock)
        /// Another lock on the file is held.
        case busy
        /// The file cannot be opened or locked. The number is an `errno` value.
        case failed(Int32)
    }

    private let descriptor: Int32

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Takes the lock if it is free. Does not wait.
    ///
    /// - Parameter path: The lock file. It is created if necessary, for its owner only, and never removed: a process
    ///   that waits for the old file and one that has created a new file would both hold a lock.
    /// - Returns: The lock, or the reason for not taking it.
    package static func attempt(_ path: String) -> Attempt {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR)
        guard descriptor >= 0 else { return .failed(errno) }
        if SystemFile.uninterrupted({ Int(flock(descriptor, LOCK_EX | LOCK_NB)) }) == 0 {
            return .taken(FileLock(descriptor: descriptor))
        }
        let error = errno
        close(descriptor)
        return error == EWOULDBLOCK ? .busy : .failed(error)
    }

    deinit {
        // Also for copies of the descriptor in child processes.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
