import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(CLinux)
import CLinux
#endif

/// An open part. Every function blocks; an error is a number of `errno`, 0 for none.
struct PartDescriptor: Sendable {
    enum Opening {
        case opened(PartDescriptor)
        /// Another holds its lock.
        case held
        case failed(Int32)
    }

    /// How many pieces the system takes in one call, by little less than it allows.
    private static let vectorLimit = 64

    private let number: Int32

    /// Opens or makes the file of that name and locks it: a regular one of this user's own, that has no other name.
    ///
    /// - Parameters:
    ///   - path: Where.
    ///   - isNew: Whether it must not be there yet.
    /// - Returns: What came of it.
    static func open(_ path: String, isNew: Bool) -> Opening {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (isNew ? O_EXCL : 0)
        // As often as the one that was opened has got another name before it was locked; that is seldom twice.
        for _ in 0..<16 {
            let number = openToWrite(path, flags)
            guard number >= 0 else { return .failed(errno) }
            let descriptor = PartDescriptor(number: number)
            if flock(number, LOCK_EX | LOCK_NB) != 0 {
                let error = errno
                closeNumber(number)
                return error == EWOULDBLOCK ? .held : .failed(error)
            }
            switch descriptor.standing(at: path) {
            case .sole: return .opened(descriptor)
            case .moved: break
            // A crash came between two steps of giving it its name: the other name is the download's.
            case .linked: unlink(path)
            case .foreign:
                descriptor.close()
                return .failed(EACCES)
            }
            descriptor.close()
        }
        return .failed(EAGAIN)
    }

    private enum Standing { case sole, moved, linked, foreign }

    private func standing(at path: String) -> Standing {
        var own = stat()
        var named = stat()
        guard fstat(number, &own) == 0, own.st_mode & S_IFMT == S_IFREG, own.st_uid == geteuid() else {
            return .foreign
        }
        guard lstat(path, &named) == 0, named.st_dev == own.st_dev, named.st_ino == own.st_ino else { return .moved }
        return own.st_nlink > 1 ? .linked : .sole
    }

    /// Gives the lock back, for those too that a child of this process may have, and closes.
    func close() {
        flock(number, LOCK_UN)
        closeNumber(number)
    }

    /// In bytes; nil where the system does not say.
    var length: Int64? {
        var status = stat()
        return fstat(number, &status) == 0 ? Int64(status.st_size) : nil
    }

    func setLength(_ length: Int64) -> Int32 {
        SystemFile.uninterrupted { Int(ftruncate(number, off_t(length))) } == 0 ? 0 : errno
    }

    func setMode(_ mode: mode_t) -> Int32 {
        fchmod(number, mode) == 0 ? 0 : errno
    }

    func sync() -> Int32 {
        SystemFile.sync(number)
    }

    /// How many bytes those who are not privileged may still write; nil where the system does not say.
    var freeSpace: Int64? {
        var status = statvfs()
        guard fstatvfs(number, &status) == 0 else { return nil }
        let (bytes, isOver) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isOver ? .max : Int64(clamping: bytes)
    }

    /// Lets the system begin to bring a range to the disk, so that syncing has less to wait for.
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
    /// - Returns: How many bytes; the error below 0.
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

    /// Writes all pieces one behind the other.
    ///
    /// - Returns: How many bytes were written, fewer than there are where there is an error.
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

    /// Holds all pieces where they are, for small ones lie in the value itself.
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

// The system's names are also the type's.

private func openToWrite(_ path: String, _ flags: Int32) -> Int32 {
    open(path, flags, S_IRUSR | S_IWUSR)
}

@discardableResult
private func closeNumber(_ number: Int32) -> Int32 {
    close(number)
}
