import SluiceFoundation
import SluiceHTTP
import SluiceLibc

#if canImport(CLinux)
import CLinux
#endif

/// The paths of a download, its partial file and its journal. All are in one folder, so that renaming is atomic.
struct PartialDownloadLocation: Sendable, Hashable {
    enum FinalName: Sendable, Hashable {
        case chosen(String)
        case suggested
        case temporary
    }

    let folder: String
    let finalName: FinalName
    let conflict: DownloadDestination.Conflict
    let createsDirectories: Bool
    /// The common prefix of the names of the partial file and its journal.
    private let stem: String
    /// True if the names have a random part, which no other sender uses.
    private let isUnique: Bool

    /// Determines the paths of a download.
    ///
    /// - Parameters:
    ///   - key: The key that sends of the same download share.
    ///   - destination: The destination of the download. Its conflict rule does not affect the partial file.
    /// - Throws: `cannotWriteFile` if the destination is not the path of a file.
    init(key: String, destination: DownloadDestination) throws(SluiceError) {
        let kind: String
        switch destination.target {
        case .file(let url):
            let path = try Self.path(of: url)
            let name =
                path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
            if url.hasDirectoryPath || name.isEmpty || name == "." || name == ".." {
                throw .cannotWrite(path, "its path is the path of a folder")
            }
            folder = SystemFile.folder(of: path)
            finalName = .chosen(String(name))
            kind = "file \(name)"
        case .suggested(let url):
            folder = try Self.path(of: url)
            finalName = .suggested
            kind = "suggested"
        case .temporary:
            folder = try Self.path(of: FileManager.default.temporaryDirectory)
            finalName = .temporary
            kind = "temporary"
        }
        conflict = destination.conflict
        createsDirectories = destination.createsDirectories
        guard let digest = SystemSHA256.hexDigest(of: Array("\(key)\0\(kind)".utf8)) else {
            throw SluiceError(
                .unsupported,
                "Downloads require SHA-256, which the system's libcrypto does not provide.",
                step: .file
            )
        }
        stem = ".\(digest.prefix(16))"
        isUnique = false
    }

    private init(_ location: PartialDownloadLocation, stem: String) {
        folder = location.folder
        finalName = location.finalName
        conflict = location.conflict
        createsDirectories = location.createsDirectories
        self.stem = stem
        isUnique = true
    }

    /// The same paths with a random part in the names, which no other sender uses.
    var unique: PartialDownloadLocation {
        PartialDownloadLocation(self, stem: "\(stem).\(Self.random)")
    }

    var part: String { path(of: "\(stem).sluicepart") }
    var journal: String { path(of: "\(stem).sluicejournal") }
    /// The temporary path under which the journal is written.
    var newJournal: String { path(of: "\(stem).sluicejournal.new") }

    /// Returns the name of the download in error messages.
    func subject(_ resource: RemoteResource?) -> String {
        switch finalName {
        case .chosen(let name): path(of: name)
        case .suggested: resource?.name.map { path(of: SafeFileName($0).value) } ?? folder
        case .temporary: folder
        }
    }

    /// Returns the name that the download gets if there is no conflict.
    func name(of resource: RemoteResource?) -> String {
        // Any program can have written the journal, so its name is made safe again.
        switch finalName {
        case .chosen(let name): return name
        case .suggested: return SafeFileName(resource?.name ?? "").value
        case .temporary:
            let name = SafeFileName(resource?.name ?? "").value
            return "sluice-\(Self.random)\(FileNameParts(name[...]).ending)"
        }
    }

    func path(of name: String) -> String {
        folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }

    private static var random: String { String(UInt64.random(in: .min ... .max), radix: 36) }

    private static func path(of url: URL) throws(SluiceError) -> String {
        if let scheme = url.scheme, scheme.lowercased() != "file" {
            throw SluiceError(.cannotWriteFile, "A URL with the scheme “\(scheme)” is not a file URL.", step: .file)
        }
        let path = url.absoluteURL.path
        // The system would cut such a path at the NUL; the URL leaves it encoded.
        if path.isEmpty || path.utf8.contains(0) || url.path(percentEncoded: true).contains("%00") {
            throw .cannotWrite(path.prefix { $0 != "\0" } + "", "its path is empty or contains a NUL")
        }
        return path
    }
}

// MARK: - Folder

extension PartialDownloadLocation {
    /// Creates the folder if it is missing, and reports errors before the transfer that would otherwise occur after it.
    /// Blocks.
    func prepare() throws(SluiceError) {
        var error = Self.folderError(folder)
        if error == ENOENT, createsDirectories { error = Self.makeFolder(folder) }
        guard error == 0 else { throw .cannotUseFolder(folder, error) }
        guard case .chosen(let name) = finalName else { return }
        let path = path(of: name)
        if try isFile(at: path), conflict == .fail { throw .fileExists(path) }
    }

    /// True unless the folder does not exist. Blocks.
    var hasFolder: Bool { Self.folderError(folder) != ENOENT }

    /// Returns true if a path leads to a file that the rule for conflicts applies to, or false if nothing is there. A
    /// symbolic link is such a file, and with `keepBoth` a folder is too. Blocks.
    ///
    /// - Throws: `cannotWriteFile` for anything else, such as a device. With enough rights, a rename would replace it.
    private func isFile(at path: String) throws(SluiceError) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return false }
            throw .cannotWrite(path, errno)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFLNK: return true
        case S_IFDIR:
            if conflict == .keepBoth { return true }
            throw .cannotWrite(path, "it is a folder")
        case S_IFCHR, S_IFBLK: throw .cannotWrite(path, "it is a device")
        case S_IFIFO: throw .cannotWrite(path, "it is a named pipe")
        case S_IFSOCK: throw .cannotWrite(path, "it is a socket")
        default: throw .cannotWrite(path, "it is not a regular file")
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
            guard mkdir(path, S_IRWXU | S_IRWXG | S_IRWXO) == 0 else {
                return errno == EEXIST ? folderError(path) : errno
            }
            SystemFile.syncFolder(of: path)
            return 0
        default: return errno
        }
    }
}

// MARK: - Moving and removing

extension PartialDownloadLocation {
    /// The limit for numbers added to file names.
    private static let numberLimit = 100_000

    /// Renames the partial file to the download's name, by the rule for conflicts. Blocks.
    ///
    /// The system renames by path. The file first gets a name that only this send knows, and is compared with the
    /// descriptor there, so that bytes that were verified through the descriptor are never reported for another file.
    /// At the destination it is not compared, because another download may replace it at any time. If the process is
    /// killed between the two, the next ``PartialDownloadSweep`` removes the file.
    ///
    /// - Parameters:
    ///   - resource: The resource, for its name.
    ///   - descriptor: The open partial file.
    /// - Returns: The path of the file.
    /// - Throws: `fileExists`, or `cannotWriteFile` also if another file is in place of the partial file. The partial
    ///   file then has its name again.
    func moveToDestination(
        _ resource: RemoteResource?,
        of descriptor: PartialDownloadDescriptor
    ) throws(SluiceError) -> String {
        guard descriptor.holder(of: part) == .thisFile else { throw .partWasReplaced(subject(resource)) }
        if isUnique { return try move(part, resource) }
        let own = unique.part
        guard rename(part, own) == 0 else {
            throw errno == ENOENT ? .partWasReplaced(subject(resource)) : .cannotWrite(subject(resource), errno)
        }
        do throws(SluiceError) {
            guard descriptor.holder(of: own) == .thisFile else { throw .partWasReplaced(subject(resource)) }
            return try move(own, resource)
        } catch {
            // Another process may have created a partial file meanwhile. This one has no name to return to then.
            if Self.renameExclusively(own, part) != 0, descriptor.holder(of: own) == .thisFile { unlink(own) }
            throw error
        }
    }

    private func move(_ file: String, _ resource: RemoteResource?) throws(SluiceError) -> String {
        let name = name(of: resource)
        let path = path(of: name)
        if try isFile(at: path), conflict == .fail { throw .fileExists(path) }
        if conflict == .overwrite {
            guard rename(file, path) == 0 else { throw .cannotWrite(path, errno) }
            return path
        }
        var candidate = path
        var number = 1
        while true {
            let error = Self.renameExclusively(file, candidate)
            if error == 0 { return candidate }
            guard error == EEXIST else { throw .cannotWrite(candidate, error) }
            number += 1
            guard conflict == .keepBoth, number < Self.numberLimit else { throw .fileExists(path) }
            candidate = self.path(of: FileNameParts.numbered(name, number))
        }
    }

    /// Returns the mode that new files of this process get in the folder, or the error if none can be created. Nil for a temporary file, which
    /// remains readable by its owner only.
    func fileMode() -> (mode: mode_t?, error: Int32) {
        if finalName == .temporary { return (nil, 0) }
        unlink(newJournal)
        return SystemFile.modeOfNewFile(at: newJournal)
    }

    /// Removes the journal. Empties it where the folder does not permit that: an empty journal describes no bytes.
    ///
    /// - Returns: 0, or an error after which a later send could still trust the journal.
    @discardableResult
    func removeJournal() -> Int32 {
        unlink(newJournal)
        guard unlink(journal) != 0, errno != ENOENT else { return 0 }
        let error = errno
        emptyJournal()
        switch readJournal() {
        case .absent: return 0
        case .failed(let error) where Self.isPermanent(error): return 0
        case .contents(let contents) where PartialDownloadJournal(contents) == nil: return 0
        case .contents, .failed: return error
        }
    }

    /// Empties the journal, if it is a file of this user that has no other name.
    private func emptyJournal() {
        let file = open(journal, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if file < 0 { return }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_nlink == 1
        else { return }
        if ftruncate(file, 0) == 0 { _ = SystemFile.sync(file) }
    }

    /// Reads the journal, if it is a file of the current user.
    func readJournal() -> SystemFile.Contents {
        SystemFile.contents(of: journal, limit: PartialDownloadJournal.limit + 1, isOwn: true)
    }

    /// Returns true for an error of reading a journal that will never be readable: the file of another user, or one that is damaged.
    static func isPermanent(_ error: Int32) -> Bool {
        #if os(Linux)
        if error == EUCLEAN { return true }
        #endif
        return [EACCES, EPERM, ELOOP, ENXIO, EBADMSG].contains(error)
    }

    /// Removes the journal, then the partial file. A crash between the two does no harm.
    ///
    /// - Returns: True if both are gone.
    func remove() -> Bool {
        let hasRemovedJournal = removeJournal() == 0
        return unlink(part) == 0 && hasRemovedJournal
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
        // Some file systems, such as NFS, do not support this, and some sandboxes forbid it. A hard link is used there.
        guard [EINVAL, ENOSYS, EPERM, EOPNOTSUPP, ENOTSUP].contains(errno) else { return errno }
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
