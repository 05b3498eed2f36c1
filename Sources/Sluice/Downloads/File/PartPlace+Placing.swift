import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(CLinux)
import CLinux
#endif

extension PartPlace {
    /// The limit for numbers added to file names.
    private static let numberLimit = 100_000

    /// Renames the partial file to the download's name, by the rule for conflicts. Blocks.
    ///
    /// - Parameter resource: The resource, for its name.
    /// - Returns: The path of the file.
    /// - Throws: `fileExists` or `cannotWriteFile`; the partial file then keeps its name.
    func place(_ resource: RemoteResource?) throws(SluiceError) -> String {
        let name = name(of: resource)
        let path = path(of: name)
        if conflict == .overwrite {
            guard rename(part, path) == 0 else { throw .cannotWrite(path, errno) }
            return path
        }
        var candidate = path
        var number = 1
        while true {
            let error = Self.renameExclusively(part, candidate)
            if error == 0 { return candidate }
            guard error == EEXIST else { throw .cannotWrite(candidate, error) }
            number += 1
            guard conflict == .keepBoth, number < Self.numberLimit else { throw .fileExists(path) }
            candidate = self.path(of: FileNameParts.numbered(name, number))
        }
    }

    /// The mode that new files of this process get in the folder, determined by the umask or the folder's rules. It is
    /// read from a file created for this purpose, because a umask cannot be read without changing it for all threads.
    /// Nil if no file can be created.
    var fileMode: mode_t? {
        let path = newJournal
        unlink(path)
        let rights = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, rights)
        guard descriptor >= 0 else { return nil }
        defer {
            close(descriptor)
            unlink(path)
        }
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status.st_mode & rights : nil
    }

    /// Removes the journal.
    func removeJournal() {
        unlink(newJournal)
        unlink(journal)
    }

    /// Removes the journal, then the partial file. A crash between the two does no harm.
    func remove() {
        removeJournal()
        unlink(part)
    }

    /// Renames a file unless the new name exists.
    static func renameExclusively(_ path: String, _ other: String) -> Int32 {
        #if canImport(CLinux)
        if sluice_rename_exclusively(path, other) == 0 { return 0 }
        #elseif canImport(Darwin)
        if renamex_np(path, other, UInt32(RENAME_EXCL)) == 0 { return 0 }
        #else
        errno = ENOSYS
        #endif
        // Some file systems, such as NFS, do not support this. A hard link is used there.
        guard [EINVAL, ENOSYS, EOPNOTSUPP, ENOTSUP].contains(errno) else { return errno }
        return linkExclusively(path, other)
    }

    /// Renames a file by creating a hard link and removing the old name.
    static func linkExclusively(_ path: String, _ other: String) -> Int32 {
        if link(path, other) == 0 {
            unlink(path)
            return 0
        }
        guard [EPERM, ENOSYS, EOPNOTSUPP, ENOTSUP].contains(errno) else { return errno }
        // The file system supports neither. A file created between these two calls would be replaced.
        var status = stat()
        if lstat(other, &status) == 0 { return EEXIST }
        return rename(path, other) == 0 ? 0 : errno
    }
}
