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

/// A file descriptor that is written to.
struct Descriptor {
    static let standardOutput = Descriptor(number: STDOUT_FILENO)
    static let standardError = Descriptor(number: STDERR_FILENO)

    /// Occupies the standard descriptors that the caller has closed, so that no file or socket gets their numbers.
    ///
    /// They are opened in the wrong direction, so that reading and writing fail as for a closed descriptor.
    static func reserveStandardDescriptors() {
        for (number, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(number, F_GETFD) == -1 {
            // The lowest free number is that of the closed descriptor.
            _ = open("/dev/null", mode)
        }
    }

    /// A failed write.
    struct Failure: Error, CustomStringConvertible {
        /// The error number of the system.
        let number: Int32

        /// True if the reader of a pipe or socket has gone.
        var isBrokenPipe: Bool { number == EPIPE }
        /// True if the write was given up.
        var isCancellation: Bool { number == ECANCELED }
        var description: String { String(cString: strerror(number)) }
    }

    let number: Int32
    /// A pipe that has room has it for this number of bytes at least.
    private static let pipePiece = 4096
    private static let largestPiece = 1 << 20

    var isTerminal: Bool { isatty(number) != 0 }

    /// The columns and rows of the terminal; 80 by 24 if it does not report them.
    var size: (columns: Int, rows: Int) {
        var window = winsize()
        guard ioctl(number, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 else { return (80, 24) }
        return (Int(window.ws_col), Int(window.ws_row))
    }

    /// Writes all bytes, and blocks the calling thread until there is room for them.
    ///
    /// A descriptor that the command shares with others may be non-blocking, so that it waits in any case.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - isCancelled: Asked ten times a second while there is no room. True to give up.
    /// - Throws: A ``Failure``; with `ECANCELED` if the write was given up.
    func write(_ data: Data, unless isCancelled: () -> Bool = { false }) throws(Failure) {
        try data.withUnsafeBytes { bytes in
            Result { () throws(Failure) in try write(bytes, unless: isCancelled) }
        }.get()
    }

    private func write(_ bytes: UnsafeRawBufferPointer, unless isCancelled: () -> Bool) throws(Failure) {
        var status = stat()
        let isPipe = fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
        var rest = bytes[...]
        while !rest.isEmpty {
            try waitForRoom(unless: isCancelled)
            let piece = UnsafeRawBufferPointer(
                rebasing: rest.prefix(isPipe ? Descriptor.pipePiece : Descriptor.largestPiece)
            )
            let count = Descriptor.write(number, piece)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR, errno != EAGAIN {
                throw Failure(number: errno)
            }
        }
    }

    private func waitForRoom(unless isCancelled: () -> Bool) throws(Failure) {
        while true {
            var entry = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
            let count = poll(&entry, 1, 100)
            if count > 0 { return }
            if count < 0, errno != EINTR { throw Failure(number: errno) }
            if isCancelled() { throw Failure(number: ECANCELED) }
        }
    }

    /// Writes a text. Failures are ignored, because they have nowhere to be reported.
    func write(_ text: String) {
        try? write(Data(text.utf8))
    }

    private static func write(_ number: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        Glibc.write(number, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
        Musl.write(number, bytes.baseAddress, bytes.count)
        #else
        Darwin.write(number, bytes.baseAddress, bytes.count)
        #endif
    }
}
