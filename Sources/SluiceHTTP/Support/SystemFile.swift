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

/// The system's calls for whole files. Every function blocks; an error is a number of `errno`, 0 for none.
package enum SystemFile {
    package enum Contents {
        case contents(Data)
        case absent
        case failed(Int32)
    }

    /// All of a small file that is not reached through a link, up to a limit in bytes.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - limit: How much is read of it at most.
    ///   - isOwn: Whether it must be a regular file of this user's.
    /// - Returns: What is in it.
    package static func contents(of path: String, limit: Int, isOwn: Bool = false) -> Contents {
        // Without waiting for what is no regular file: a pipe, say, that nobody writes to.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return errno == ENOENT ? .absent : .failed(errno) }
        defer { close(descriptor) }
        var status = stat()
        if isOwn {
            guard fstat(descriptor, &status) == 0 else { return .failed(errno) }
            guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else { return .failed(EACCES) }
        }
        return contents(of: descriptor, limit: limit)
    }

    /// What an open file holds from where it is read on.
    package static func contents(of descriptor: Int32, limit: Int) -> Contents {
        var contents = Data(count: limit)
        var count = 0
        while count < contents.count {
            let filled = contents.withUnsafeMutableBytes { buffer in
                uninterrupted { read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count) }
            }
            guard filled >= 0 else { return .failed(errno) }
            if filled == 0 { break }
            count += filled
        }
        return .contents(contents.prefix(count))
    }

    /// Puts contents in a file's place, all at once: they are written under another name, which then becomes the file's.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - contents: What is to be in it.
    ///   - other: The other name, in the same folder; a file that lies there is lost.
    ///   - isSynced: Whether all of it has to be on the disk when the function returns.
    /// - Returns: The error.
    package static func replace(_ path: String, with contents: Data, by other: String, isSynced: Bool) -> Int32 {
        // Not into a file that is there: it may be another user's, or have a second name.
        unlink(other)
        let descriptor = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)
        guard descriptor >= 0 else { return errno }
        var error = write(contents, to: descriptor)
        if error == 0, isSynced { error = sync(descriptor) }
        if close(descriptor) != 0, error == 0 { error = errno }
        if error == 0, rename(other, path) != 0 { error = errno }
        if error != 0 {
            unlink(other)
        } else if isSynced {
            syncFolder(of: path)
        }
        return error
    }

    /// Brings a file to the disk, and not only to the disk's own memory.
    package static func sync(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        // Not every file system has it.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
        #endif
        return uninterrupted { Int(fsync(descriptor)) } == 0 ? 0 : errno
    }

    /// Brings the names in a file's folder to the disk; some file systems cannot, and then there is no more to do.
    package static func syncFolder(of path: String) {
        let folder = open(self.folder(of: path), O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    package static func folder(of path: String) -> String {
        guard let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// Does a call again as long as a signal interrupts it.
    package static func uninterrupted(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    private static func write(_ contents: Data, to descriptor: Int32) -> Int32 {
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

/// Has a name of its own, since the system's is also the type's.
private func writeSome(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
