import SluiceFoundation
import SluiceHTTP
import SluiceLibc

#if canImport(CLinux)
import CLinux
#endif

/// An open partial file. All functions block. Errors are `errno` numbers, 0 for success.
struct PartialDownloadDescriptor: Sendable {
    enum Opening {
        case opened(PartialDownloadDescriptor)
        /// Another descriptor holds the lock of the file.
        case locked
        case failed(Int32)
    }

    /// The number of buffers in one `pwritev` call, below the system's limit.
    private static let vectorLimit = 64

    /// The mode of a partial file: readable and writable by its owner only.
    static let privateMode: mode_t = S_IRUSR | S_IWUSR

    private let number: Int32
    /// Writes the file to the disk. Tests replace it to look at the file at this moment.
    private let syncFile: @Sendable (Int32) -> Int32

    /// Opens or creates a file, locks it, and makes it private. It must be a regular file owned by this user, with no
    /// other name.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - isNew: True if the file must not exist yet.
    ///   - syncFile: The function that writes the file to the disk and returns an error number.
    /// - Returns: The open file, or the reason for the failure.
    static func open(
        _ path: String,
        isNew: Bool,
        syncFile: @escaping @Sendable (Int32) -> Int32 = SystemFile.sync
    ) -> Opening {
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        // Retry if the file was renamed between opening and locking. More than one retry is rare.
        for _ in 0..<16 {
            var number = openToWrite(path, flags | O_CREAT | O_EXCL)
            let isCreated = number >= 0
            if !isCreated, errno == EEXIST, !isNew {
                number = openToWrite(path, flags)
                if number < 0, errno == ENOENT { continue }
            }
            guard number >= 0 else { return .failed(errno) }
            let descriptor = PartialDownloadDescriptor(number: number, syncFile: syncFile)
            if flock(number, LOCK_EX | LOCK_NB) != 0 {
                let error = errno
                if isCreated, error != EWOULDBLOCK { unlink(path) }
                closeNumber(number)
                return error == EWOULDBLOCK ? .locked : .failed(error)
            }
            switch descriptor.pathState(at: path, isCreated: isCreated) {
            case .sole:
                // File systems without modes refuse this.
                if descriptor.mode != Self.privateMode { _ = descriptor.setMode(Self.privateMode) }
                return .opened(descriptor)
            case .moved: break
            // A crash happened between the two steps of renaming. The other name is that of the complete download.
            case .linked: unlink(path)
            case .foreign:
                descriptor.close()
                return .failed(EACCES)
            }
            descriptor.close()
        }
        return .failed(EAGAIN)
    }

    /// Opens and locks a file that no process holds, in order to remove it. It must be a regular file owned by this
    /// user. It is not created. Its other names, if it has any, are not affected by the removal.
    ///
    /// - Parameter path: The path of the file.
    /// - Returns: The open file; nil if it is missing, held, or not such a file.
    static func openAbandoned(_ path: String) -> PartialDownloadDescriptor? {
        let number = openToWrite(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return nil }
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            closeNumber(number)
            return nil
        }
        let descriptor = PartialDownloadDescriptor(number: number, syncFile: SystemFile.sync)
        switch descriptor.pathState(at: path) {
        case .sole, .linked: return descriptor
        case .moved, .foreign: break
        }
        descriptor.close()
        return nil
    }

    private enum PathState { case sole, moved, linked, foreign }

    /// Examines the file and its path. A file that this process has created may have another owner, because some network
    /// file systems replace the owner.
    private func pathState(at path: String, isCreated: Bool = false) -> PathState {
        var opened = stat()
        guard fstat(number, &opened) == 0, opened.st_mode & S_IFMT == S_IFREG, isCreated || isOwn else {
            return .foreign
        }
        guard holder(of: path) == .thisFile else { return .moved }
        return opened.st_nlink > 1 ? .linked : .sole
    }

    /// True if this user owns the file.
    var isOwn: Bool {
        var opened = stat()
        return fstat(number, &opened) == 0 && opened.st_uid == geteuid()
    }

    /// The file that a path leads to.
    enum Holder { case thisFile, noFile, otherFile }

    /// Compares this file with the file at a path. A symbolic link is another file.
    ///
    /// Another program can remove or replace the file at any time, and this descriptor then refers to a file without a
    /// name.
    func holder(of path: String) -> Holder {
        var opened = stat()
        var named = stat()
        guard lstat(path, &named) == 0 else { return errno == ENOENT ? .noFile : .otherFile }
        guard fstat(number, &opened) == 0, named.st_dev == opened.st_dev, named.st_ino == opened.st_ino else {
            return .otherFile
        }
        return .thisFile
    }

    /// Releases the lock, also for copies of the descriptor in child processes, and closes the file.
    func close() {
        flock(number, LOCK_UN)
        closeNumber(number)
    }

    /// The length in bytes; nil if the system does not provide it.
    var length: Int64? {
        var status = stat()
        return fstat(number, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Returns true if the file has no data for some bytes of the ranges before its end. False if the file system cannot tell.
    func hasHole(in ranges: ByteRanges) -> Bool {
        let end = length ?? 0
        return ranges.ranges.contains { range in
            let hole = lseek(number, off_t(range.lowerBound), Self.seekHole)
            return hole >= 0 && hole < min(range.upperBound, end)
        }
    }

    #if canImport(Darwin)
    private static let seekHole = SEEK_HOLE
    #else
    /// `SEEK_HOLE`, which the headers declare for GNU sources only.
    private static let seekHole: Int32 = 4
    #endif

    func setLength(_ length: Int64) -> Int32 {
        SystemFile.uninterrupted { Int(ftruncate(number, off_t(length))) } == 0 ? 0 : errno
    }

    /// The permissions, including the set-user-ID and similar bits; nil if the system does not provide them.
    private var mode: mode_t? {
        var status = stat()
        return fstat(number, &status) == 0 ? status.st_mode & ~S_IFMT : nil
    }

    /// Sets the permissions. Does nothing on a file system that has no permissions.
    func setMode(_ mode: mode_t) -> Int32 {
        if fchmod(number, mode) == 0 { return 0 }
        return [EPERM, ENOSYS, ENOTSUP, EOPNOTSUPP].contains(errno) ? 0 : errno
    }

    func sync() -> Int32 {
        syncFile(number)
    }

    /// The number of bytes that an unprivileged user can still write; nil if the system does not provide it.
    var freeSpace: Int64? { FreeSpace(descriptor: number)?.bytes }

    /// Starts writing a range back to the disk, so that a later sync takes less time.
    func beginWriteback(_ range: Range<Int64>) -> Int32 {
        #if canImport(CLinux)
        guard sluice_begin_writeback(number, range.lowerBound, range.upperBound - range.lowerBound) != 0 else {
            return 0
        }
        return [EIO, ENOSPC, EDQUOT].contains(errno) ? errno : 0
        #else
        return 0
        #endif
    }

    /// Reads until the buffer is full or the file ends.
    ///
    /// - Returns: The number of bytes, or the negated error number.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = SystemFile.uninterrupted {
                pread(
                    number,
                    buffer.baseAddress?.advanced(by: filled),
                    buffer.count - filled,
                    off_t(offset) + off_t(filled)
                )
            }
            if count < 0 { return -Int(errno) }
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// Writes the pieces one after the other.
    ///
    /// - Returns: The number of bytes written, and the error if not all were written.
    func write(_ pieces: [Data], at offset: Int64) -> (count: Int64, error: Int32) {
        var written: Int64 = 0
        var rest = pieces[...]
        while !rest.isEmpty {
            let group = rest.prefix(Self.vectorLimit)
            rest = rest.dropFirst(Self.vectorLimit)
            var vectors: [iovec] = []
            vectors.reserveCapacity(group.count)
            let (count, error) = Self.withVectors(of: group, &vectors) { write(&$0, at: offset + written) }
            written += count
            if error != 0 { return (written, error) }
        }
        return (written, 0)
    }

    private func write(_ vectors: inout [iovec], at offset: Int64) -> (count: Int64, error: Int32) {
        var written: Int64 = 0
        var first = 0
        while first < vectors.count {
            let count = vectors[first...].withUnsafeBufferPointer { vectors in
                SystemFile.uninterrupted {
                    pwritev(number, vectors.baseAddress, Int32(vectors.count), off_t(offset + written))
                }
            }
            guard count > 0 else { return (written, count < 0 ? errno : EIO) }
            written += Int64(count)
            var left = count
            while first < vectors.count, left >= vectors[first].iov_len {
                left -= vectors[first].iov_len
                first += 1
            }
            if first < vectors.count {
                vectors[first].iov_base = vectors[first].iov_base?.advanced(by: left)
                vectors[first].iov_len -= left
            }
        }
        return (written, 0)
    }

    /// Keeps all pieces in place during the call, because small `Data` values are stored inline.
    private static func withVectors<Result>(
        of pieces: ArraySlice<Data>,
        _ vectors: inout [iovec],
        _ body: (inout [iovec]) -> Result
    ) -> Result {
        guard let piece = pieces.first else { return body(&vectors) }
        return piece.withUnsafeBytes { bytes in
            if !bytes.isEmpty {
                vectors.append(
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
                )
            }
            return withVectors(of: pieces.dropFirst(), &vectors, body)
        }
    }
}

// Free functions, because inside the type its own `open` and `close` hide the system's.

private func openToWrite(_ path: String, _ flags: Int32) -> Int32 {
    open(path, flags, PartialDownloadDescriptor.privateMode)
}

@discardableResult
private func closeNumber(_ number: Int32) -> Int32 {
    close(number)
}

// MARK: - File failure

extension SluiceError.Code {
    /// A file with the name of a download already exists.
    public static let fileExists = Self("fileExists")
    /// A download's file or folder cannot be written.
    public static let cannotWriteFile = Self("cannotWriteFile")
    /// The disk or the user's quota does not have enough space for a download.
    public static let insufficientSpace = Self("insufficientSpace")
    /// A download has more or fewer bytes than announced.
    public static let lengthMismatch = Self("lengthMismatch")
    /// A download does not have the required checksum.
    public static let checksumMismatch = Self("checksumMismatch")
}

extension SluiceError {
    /// Creates an error from the `errno` of a file operation.
    static func cannotWrite(_ path: String, _ error: Int32) -> SluiceError {
        switch error {
        case ENOSPC: SluiceError(.insufficientSpace, "There is no space left for “\(path)”.", step: .file)
        case EDQUOT: SluiceError(.insufficientSpace, "There is not enough disk quota left for “\(path)”.", step: .file)
        default: cannotWrite(path, String(cString: strerror(error)))
        }
    }

    static func cannotWrite(_ path: String, _ reason: String) -> SluiceError {
        SluiceError(.cannotWriteFile, "The file “\(path)” cannot be written: \(reason).", step: .file)
    }

    static func partWasReplaced(_ path: String) -> SluiceError {
        cannotWrite(path, "its partial file was removed or replaced by another program")
    }

    static func cannotUseFolder(_ path: String, _ error: Int32) -> SluiceError {
        if error == ENOSPC || error == EDQUOT { return cannotWrite(path, error) }
        return SluiceError(
            .cannotWriteFile,
            "The folder “\(path)” cannot be used: \(String(cString: strerror(error))).",
            step: .file
        )
    }

    static func insufficientSpace(_ path: String, needed: Int64, free: Int64) -> SluiceError {
        SluiceError(
            .insufficientSpace,
            "“\(path)” requires \(needed) bytes, but the disk has only \(free) bytes left.",
            step: .file
        )
    }

    static func fileExists(_ path: String) -> SluiceError {
        SluiceError(
            .fileExists,
            "“\(path)” already exists. Choose another name, or let DownloadDestination.file(_:ifExists:) overwrite it or keep both.",
            step: .file
        )
    }

    static func lengthMismatch(_ path: String, _ count: Int64, of length: Int64?) -> SluiceError {
        SluiceError(
            .lengthMismatch,
            length.map { "“\(path)” has \(count) of the \($0) announced bytes." }
                ?? "“\(path)” has \(count) bytes, and some bytes before its end are missing.",
            step: .file
        )
    }

    static func checksumMismatch(_ path: String) -> SluiceError {
        SluiceError(
            .checksumMismatch,
            "The SHA-256 checksum of the download to “\(path)” does not match. Its bytes were removed. Try again, or use another server.",
            step: .file
        )
    }
}
