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

/// A small file for secrets, which is written for its owner alone and is always whole. Every function blocks.
package struct PrivateFile: Sendable {
    /// What could not be done, in a sentence for the user.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    package let path: String
    /// What it holds, for sentences: `a token`.
    private let holding: String
    /// The most bytes that are read.
    private let limit: Int
    /// Whether one that others may read or write is read all the same, as other programs leave them.
    private let acceptsShared: Bool

    package init(path: String, holding: String, limit: Int, acceptsShared: Bool = false) {
        self.path = path
        self.holding = holding
        self.limit = limit
        self.acceptsShared = acceptsShared
    }

    /// What is in it; nil if there is no file.
    package func read() throws(Failure) -> Data? {
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
            throw Failure(description: "The file “\(path)” cannot be read: it is no regular file.")
        }
        guard acceptsShared || status.st_mode & (S_IRWXG | S_IRWXO) == 0 else {
            throw Failure(
                description:
                    "The file “\(path)” can be read or written by others; if nobody has, make it private with “chmod 600”."
            )
        }
        guard status.st_size <= limit else {
            throw Failure(description: "The file “\(path)” is too large for \(holding).")
        }
        switch SystemFile.contents(of: descriptor, limit: Int(status.st_size)) {
        case .contents(let contents): return contents
        case .absent: return nil
        case .failed(let error): throw failure("be read", error)
        }
    }

    /// Puts contents in its place, all at once.
    package func replace(with contents: Data) throws(Failure) {
        try check()
        let name = UInt64.random(in: .min ... .max)
        let temporary = "\(path).\(String(name, radix: 36)).tmp"
        let error = SystemFile.replace(path, with: contents, by: temporary, isSynced: true)
        guard error == 0 else { throw failure("be written", error) }
    }

    /// Removes it, if it is there.
    package func remove() throws(Failure) {
        try check()
        guard unlink(path) == 0 || errno == ENOENT else { throw failure("be removed", errno) }
    }

    private func check() throws(Failure) {
        // The system would take such a path for a shorter one.
        if path.isEmpty || path.utf8.contains(0) {
            throw Failure(description: "The path of the file for \(holding) is not valid.")
        }
    }

    private func failure(_ what: String, _ error: Int32) -> Failure {
        Failure(description: "The file “\(path)” cannot \(what): \(String(cString: strerror(error))).")
    }
}
