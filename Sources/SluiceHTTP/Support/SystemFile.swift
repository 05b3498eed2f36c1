import SluiceFoundation
import SluiceLibc

/// System calls for whole files. Every function blocks. Errors are `errno` values, 0 for success.
package enum SystemFile {
    package enum Contents {
        case contents(Data)
        case absent
        case failed(Int32)
    }

    /// Returns the mode that the umask or the rules of a folder give to new files of this process. It is read from a file created for this
    /// purpose, because a umask cannot be read without changing it for all threads.
    ///
    /// - Parameter path: An unused path in the folder.
    /// - Returns: The mode and 0; nil and the error if no file can be created.
    package static func modeOfNewFile(at path: String) -> (mode: mode_t?, error: Int32) {
        let rights = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, rights)
        guard descriptor >= 0 else { return (nil, errno) }
        defer {
            close(descriptor)
            unlink(path)
        }
        var status = stat()
        return fstat(descriptor, &status) == 0 ? (status.st_mode & rights, 0) : (nil, errno)
    }

    /// Reads a small file, up to a limit in bytes. Does not follow a symbolic link.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - limit: The maximum number of bytes to read.
    ///   - isOwn: True to require a regular file that belongs to the current user.
    /// - Returns: The contents, or the error.
    package static func contents(of path: String, limit: Int, isOwn: Bool = false) -> Contents {
        let descriptor = openToRead(path, O_NOFOLLOW)
        guard descriptor >= 0 else { return errno == ENOENT ? .absent : .failed(errno) }
        defer { close(descriptor) }
        var status = stat()
        if isOwn {
            guard fstat(descriptor, &status) == 0 else { return .failed(errno) }
            guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else { return .failed(EACCES) }
        }
        return contents(of: descriptor, limit: limit)
    }

    /// Reads an open file from its current position, up to a limit in bytes.
    package static func contents(of descriptor: Int32, limit: Int) -> Contents {
        var contents = Data(count: limit)
        let count = contents.withUnsafeMutableBytes { fill($0, from: descriptor) }
        return count < 0 ? .failed(errno) : .contents(contents.prefix(count))
    }

    /// Opens a file for reading, without blocking even if it is a pipe that has no writer.
    ///
    /// - Returns: The descriptor, or a negative number after an error.
    static func openToRead(_ path: String, _ flags: Int32 = 0) -> Int32 {
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)
    }

    /// Reads until the buffer is full or the file ends.
    ///
    /// - Returns: The number of bytes, or a negative number after an error.
    static func fill(_ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32) -> Int {
        var count = 0
        while count < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let filled = uninterrupted { read(descriptor, rest.baseAddress, rest.count) }
            if filled < 0 { return filled }
            if filled == 0 { break }
            count += filled
        }
        return count
    }

    /// Returns the error if a path names a device, a pipe, a socket or a folder, which must not be replaced by a file; 0 for none. The
    /// owner of a folder, such as root, could otherwise replace `/dev/null`.
    package static func replacementError(_ path: String) -> Int32 {
        var status = stat()
        guard lstat(path, &status) == 0 else { return 0 }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFLNK: return 0
        case S_IFDIR: return EISDIR
        default: return EEXIST
        }
    }

    /// Replaces a file's contents atomically: writes a temporary file, then renames it. Only a file or a link is replaced.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - contents: The new contents.
    ///   - temporary: The path of the temporary file, in the same folder. An existing file there is removed.
    ///   - isSynced: True to return only after the file and its name are on disk.
    /// - Returns: The error, 0 for success.
    package static func replace(_ path: String, with contents: Data, by temporary: String, isSynced: Bool) -> Int32 {
        let refusal = replacementError(path)
        guard refusal == 0 else { return refusal }
        // An existing file may belong to another user or have hard links, so it is not reused.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)
        guard descriptor >= 0 else { return errno }
        // The mask of the process may remove the rights of the owner.
        fchmod(descriptor, S_IRUSR | S_IWUSR)
        var error = write(contents, to: descriptor)
        if error == 0, isSynced { error = sync(descriptor) }
        if close(descriptor) != 0, error == 0 { error = errno }
        if error == 0, rename(temporary, path) != 0 { error = errno }
        if error != 0 {
            unlink(temporary)
        } else if isSynced {
            syncFolder(of: path)
        }
        return error
    }

    /// Writes a file's data to the disk. On Apple's platforms this also flushes the drive's cache.
    package static func sync(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        // Not every file system supports it.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
        #endif
        return uninterrupted { Int(fsync(descriptor)) } == 0 ? 0 : errno
    }

    /// Writes the directory entries of a file's folder to the disk.
    ///
    /// - Returns: The error of the disk; 0 for success, if the file system does not support it, and if the folder cannot be opened.
    @discardableResult
    package static func syncFolder(of path: String) -> Int32 {
        let folder = open(self.folder(of: path), O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return 0 }
        defer { close(folder) }
        let error = uninterrupted { Int(fsync(folder)) } == 0 ? 0 : errno
        return [EIO, ENOSPC, EDQUOT].contains(error) ? error : 0
    }

    /// Returns the path of the folder that contains a file; `.` for a path without a slash.
    package static func folder(of path: String) -> String {
        guard let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// Repeats a system call while a signal interrupts it.
    package static func uninterrupted(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    /// Writes all bytes at the current position of a file. Blocks.
    ///
    /// - Returns: 0, or the error number.
    package static func write(_ contents: Data, to descriptor: Int32) -> Int32 {
        contents.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = uninterrupted { writeSome(descriptor, UnsafeRawBufferPointer(rebasing: rest)) }
                guard written > 0 else { return written < 0 ? errno : EIO }
                rest = rest.dropFirst(written)
            }
            return 0
        }
    }
}

/// Calls `write`. Inside ``SystemFile`` the name would refer to its own function.
private func writeSome(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

/// The free space of a file system.
package struct FreeSpace {
    /// The number of bytes that an unprivileged user can still write; nil if the file system does not provide it.
    ///
    /// Some file systems in user space report zeros. Some network file systems report a negative number.
    package let bytes: Int64?

    /// Creates the free space from numbers of blocks and the size of one.
    init(blocks: UInt64, available: UInt64, size: UInt64) {
        let (bytes, isOver) = available.multipliedReportingOverflow(by: size)
        self.bytes = blocks == 0 ? nil : isOver ? .max : Int64(clamping: bytes)
    }

    // `statvfs` of Darwin has 32 bits for the numbers, too few for large volumes.
    #if canImport(Darwin)
    /// Reads the free space of the file system of an open file; nil after an error.
    package init?(descriptor: Int32) {
        var status = statfs()
        guard fstatfs(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Reads the free space of the file system of a path; nil after an error.
    package init?(path: String) {
        var status = statfs()
        guard statfs(path, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: statfs) {
        self.init(blocks: status.f_blocks, available: status.f_bavail, size: UInt64(status.f_bsize))
    }
    #else
    /// Reads the free space of the file system of an open file; nil after an error.
    package init?(descriptor: Int32) {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Reads the free space of the file system of a path; nil after an error.
    package init?(path: String) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: statvfs) {
        self.init(blocks: UInt64(status.f_blocks), available: UInt64(status.f_bavail), size: UInt64(status.f_frsize))
    }
    #endif
}
