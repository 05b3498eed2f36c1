import Fetching
import Sluice

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

/// The place of a download that cannot be renamed into place and cannot be resumed: standard output, a device or a named pipe.
actor BodyOutput {
    private let executor = BlockingExecutor("fetch.output")
    private let descriptor: Descriptor

    /// Standard output.
    init() {
        descriptor = .standardOutput
    }

    /// Opens a device or a named pipe. Waits for the reader of a pipe, as all programs do.
    ///
    /// - Parameter path: The path.
    /// - Throws: A ``Descriptor/Failure``; with `ECANCELED` if the task is cancelled.
    init(opening path: String) async throws(Descriptor.Failure) {
        while true {
            // A blocking open of a pipe could not be cancelled before a reader opens it.
            let number = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if number >= 0 {
                descriptor = Descriptor(number: number)
                return
            }
            guard errno == ENXIO else { throw Descriptor.Failure(number: errno) }
            do {
                try await Task.sleep(for: .milliseconds(50))
            } catch {
                throw Descriptor.Failure(number: ECANCELED)
            }
        }
    }

    deinit {
        if descriptor.number != STDOUT_FILENO { close(descriptor.number) }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Writes bytes, and returns when there was room for them.
    ///
    /// - Parameter data: The bytes.
    /// - Throws: A ``Descriptor/Failure``; with `ECANCELED` if the task is cancelled.
    func write(_ data: Data) throws(Descriptor.Failure) {
        try descriptor.write(data, unless: { Task.isCancelled })
    }

    /// Returns true if a path names a device or a named pipe.
    static func isNeeded(for path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return [S_IFCHR, S_IFIFO].contains(status.st_mode & S_IFMT)
    }
}
