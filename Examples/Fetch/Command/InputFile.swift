import Fetching

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

/// A file of URLs that the command line names: a regular file, a pipe, or standard input.
struct InputFile {
    private let path: String
    /// A longer text is no list of URLs, and would fill the memory.
    private static let limit = 64 << 20

    /// Reads the whole text. Blocks the calling thread, so it must be called before anything runs.
    ///
    /// - Parameter path: The path; `-` for standard input.
    /// - Returns: The text.
    /// - Throws: A `UsageError` that names the file.
    static func text(of path: String) throws(UsageError) -> String {
        try InputFile(path: path).text()
    }

    private func text() throws(UsageError) -> String {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count == 0 { break }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure }
            bytes += piece.prefix(count)
            if bytes.count > InputFile.limit { throw UsageError(description: "\(name) is too large.") }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw UsageError(description: "\(name) is not valid UTF-8.")
        }
        return text
    }

    private var name: String { path == "-" ? "Standard input" : "“\(path)”" }

    private var failure: UsageError {
        UsageError(description: "\(name) cannot be read: \(Descriptor.Failure(number: errno)).")
    }
}
