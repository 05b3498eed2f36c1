import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension PartPlace {
    /// Creates the folder if it is missing, and reports errors before the transfer that would otherwise occur after it.
    /// Blocks.
    func prepare() throws(SluiceError) {
        var error = Self.folderError(folder)
        if error == ENOENT, createsDirectories { error = Self.makeFolder(folder) }
        guard error == 0 else { throw .cannotUseFolder(folder, error) }
        guard case .chosen(let name) = finalName else { return }
        let path = path(of: name)
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw .cannotWrite(path, errno)
        }
        switch conflict {
        case .keepBoth: break
        case .overwrite:
            if status.st_mode & S_IFMT == S_IFDIR { throw .cannotWrite(path, "it is a folder") }
        case .fail:
            if status.st_mode & S_IFMT == S_IFDIR { throw .cannotWrite(path, "it is a folder") }
            throw .fileExists(path)
        }
    }

    /// Returns 0 if the folder exists, or the error number.
    private static func folderError(_ path: String) -> Int32 {
        var status = stat()
        guard stat(path, &status) == 0 else { return errno }
        return status.st_mode & S_IFMT == S_IFDIR ? 0 : ENOTDIR
    }

    /// Creates a folder and its missing parents.
    private static func makeFolder(_ path: String) -> Int32 {
        if mkdir(path, S_IRWXU | S_IRWXG | S_IRWXO) == 0 {
            SystemFile.syncFolder(of: path)
            return 0
        }
        switch errno {
        // Another process may have created it at the same time.
        case EEXIST: return folderError(path)
        case ENOENT:
            let outer = SystemFile.folder(of: path)
            guard outer.utf8.count < path.utf8.count else { return ENOENT }
            let error = makeFolder(outer)
            guard error == 0 else { return error }
            if mkdir(path, S_IRWXU | S_IRWXG | S_IRWXO) == 0 { return 0 }
            return errno == EEXIST ? folderError(path) : errno
        default: return errno
        }
    }
}
