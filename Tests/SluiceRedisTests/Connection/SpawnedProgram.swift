#if os(Linux)
import Foundation
import Glibc
import Synchronization

/// A program that runs beside the tests, whose output is read.
///
/// `Foundation.Process` is not used: it reads beyond the buffer of `readdir` when it looks for open descriptors, and crashes if other tests
/// have opened more than a thousand.
struct SpawnedProgram: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let identifier: pid_t
    /// The end of the pipe with the program's output and errors.
    let output: Int32

    /// Starts a program.
    init(_ path: String, _ arguments: [String]) throws {
        (identifier, output) = try Self.starting.withLock { _ in try Self.start(path, arguments) }
    }

    /// Held while a program starts, so that it inherits no end of the pipe of another one, whose output would then have no end.
    private static let starting = Mutex(())

    private static func start(_ path: String, _ arguments: [String]) throws -> (pid_t, Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(description: "No pipe: \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for descriptor in [Int32(1), 2] { posix_spawn_file_actions_adddup2(&actions, ends[1], descriptor) }
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, path, &actions, nil, &words, environ)
        close(ends[1])
        guard code == 0 else {
            close(ends[0])
            throw Failure(description: "\(path) does not start: \(code)")
        }
        return (identifier, ends[0])
    }

    /// Reads some of the output; empty at its end.
    func read() -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(output, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Reads and drops the output up to its end, on a thread of its own.
    func drain() {
        Thread.detachNewThread {
            while !read().isEmpty {}
            close(output)
        }
    }

    func signal(_ number: Int32) { Glibc.kill(identifier, number) }

    /// Waits for the end of the program. Returns its exit code, or nil if a signal has ended it. Must be called once.
    @discardableResult
    func waitUntilExit() -> Int32? {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    }
}
#endif
