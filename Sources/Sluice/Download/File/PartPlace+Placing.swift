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
    /// More files of one name are not numbered.
    private static let numberLimit = 100_000

    /// Gives the part the download's name, as the rule for conflicts has it; blocks.
    ///
    /// - Parameter resource: What it is, for the name.
    /// - Returns: Its path.
    /// - Throws: `fileExists` or `cannotWriteFile`; it then has the name it had.
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

    /// The mode that a file of this process gets in the folder, which its umask or the folder's own rules decide: shown by one
    /// that is made for it, since a umask cannot be read without changing it for all threads. Nil where none can be made.
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

    /// Removes what is known of the part.
    func removeJournal() {
        unlink(newJournal)
        unlink(journal)
    }

    /// Removes the part and what is known of it, in the order in which a crash between them does no harm.
    func remove() {
        removeJournal()
        unlink(part)
    }

    /// Renames where nothing has the new name.
    static func renameExclusively(_ path: String, _ other: String) -> Int32 {
        #if canImport(CLinux)
        if sluice_rename_exclusively(path, other) == 0 { return 0 }
        #elseif canImport(Darwin)
        if renamex_np(path, other, UInt32(RENAME_EXCL)) == 0 { return 0 }
        #else
        errno = ENOSYS
        #endif
        // Not every file system can, NFS for one; then there are names that are given twice.
        guard [EINVAL, ENOSYS, EOPNOTSUPP, ENOTSUP].contains(errno) else { return errno }
        return linkExclusively(path, other)
    }

    /// Renames by way of two names.
    static func linkExclusively(_ path: String, _ other: String) -> Int32 {
        if link(path, other) == 0 {
            unlink(path)
            return 0
        }
        guard [EPERM, ENOSYS, EOPNOTSUPP, ENOTSUP].contains(errno) else { return errno }
        // It can neither; that another makes such a file between these two calls must be risked.
        var status = stat()
        if lstat(other, &status) == 0 { return EEXIST }
        return rename(path, other) == 0 ? 0 : errno
    }
}
