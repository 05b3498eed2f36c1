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

/// A small file that only its owner can read, and that is always whole. Every function blocks.
struct PrivateFile: Sendable {
    static let limit = 1 << 20

    let path: String

    /// What is in it; nil if there is no file.
    func read() throws(TokenStoreError) -> Data? {
        try check()
        // Without waiting for what is no regular file: a pipe, say, that nobody writes to.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("be read", errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("be read", errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw TokenStoreError("The token cannot be read: “\(path)” is no regular file.")
        }
        guard status.st_mode & (S_IRWXG | S_IRWXO) == 0 else {
            throw TokenStoreError(
                "The file “\(path)” can be read or written by others; if nobody has, make it private with “chmod 600”."
            )
        }
        guard status.st_size <= Self.limit else {
            throw TokenStoreError("The file “\(path)” is too large for a token.")
        }
        var contents = Data(count: Self.limit)
        var count = 0
        while count < contents.count {
            let read = contents.withUnsafeMutableBytes { buffer in
                Self.uninterrupted { Self.read(descriptor, UnsafeMutableRawBufferPointer(rebasing: buffer[count...])) }
            }
            guard read >= 0 else { throw failure("be read", errno) }
            if read == 0 { break }
            count += read
        }
        return contents.prefix(count)
    }

    /// Puts contents in its place, all at once.
    func replace(with contents: Data) throws(TokenStoreError) {
        try check()
        let name = UInt64.random(in: .min ... .max)
        let temporary = "\(path).\(String(name, radix: 36)).tmp"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)
        guard descriptor >= 0 else { throw failure("be written", errno) }
        var error = Self.write(contents, to: descriptor)
        if error == 0, fsync(descriptor) != 0 { error = errno }
        if close(descriptor) != 0, error == 0 { error = errno }
        if error == 0, rename(temporary, path) != 0 { error = errno }
        guard error == 0 else {
            unlink(temporary)
            throw failure("be written", error)
        }
        // The name is on the disk only when the folder is; some file systems cannot say, and then there is no more to do.
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = open(end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".", O_RDONLY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
    }

    /// Removes it, if it is there.
    func remove() throws(TokenStoreError) {
        try check()
        guard unlink(path) == 0 || errno == ENOENT else { throw failure("be removed", errno) }
    }

    private func check() throws(TokenStoreError) {
        // The system would take such a path for a shorter one.
        if path.isEmpty || path.utf8.contains(0) { throw TokenStoreError("The path of the token's file is not valid.") }
    }

    private func failure(_ what: String, _ error: Int32) -> TokenStoreError {
        TokenStoreError("The file “\(path)” cannot \(what): \(String(cString: strerror(error))).")
    }

    /// Writes all of it.
    ///
    /// - Returns: The error; 0 if there is none.
    private static func write(_ contents: Data, to descriptor: Int32) -> Int32 {
        contents.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = uninterrupted { write(descriptor, UnsafeRawBufferPointer(rebasing: rest)) }
                guard written > 0 else { return written < 0 ? errno : EIO }
                rest = rest.dropFirst(written)
            }
            return 0
        }
    }

    private static func uninterrupted(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    private static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        #if canImport(Glibc)
        Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        #elseif canImport(Musl)
        Musl.read(descriptor, buffer.baseAddress, buffer.count)
        #else
        Darwin.read(descriptor, buffer.baseAddress, buffer.count)
        #endif
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
        Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
        Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}
