import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension PartPlace {
    /// Makes the folder where it is missing, and finds out early what would fail late; blocks.
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

    /// 0 for a folder that is there.
    private static func folderError(_ path: String) -> Int32 {
        var status = stat()
        guard stat(path, &status) == 0 else { return errno }
        return status.st_mode & S_IFMT == S_IFDIR ? 0 : ENOTDIR
    }

    /// Makes a folder and those it is to be in.
    private static func makeFolder(_ path: String) -> Int32 {
        if mkdir(path, S_IRWXU | S_IRWXG | S_IRWXO) == 0 {
            SystemFile.syncFolder(of: path)
            return 0
        }
        switch errno {
        // Another may have made it at the same time.
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
