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
        switch SystemFile.contents(of: descriptor, limit: Self.limit) {
        case .contents(let contents): return contents
        case .absent: return nil
        case .failed(let error): throw failure("be read", error)
        }
    }

    /// Puts contents in its place, all at once.
    func replace(with contents: Data) throws(TokenStoreError) {
        try check()
        let name = UInt64.random(in: .min ... .max)
        let temporary = "\(path).\(String(name, radix: 36)).tmp"
        let error = SystemFile.replace(path, with: contents, by: temporary, isSynced: true)
        guard error == 0 else { throw failure("be written", error) }
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
}
