import Dispatch
import SluiceFoundation
import SluiceLibc

/// Reads a file in pieces on a dispatch queue whose threads may block. Closes the file when released.
package final class FileReader: Sendable {
    /// The default size of a piece, large enough that the cost of switching to the queue and back is negligible.
    package static let pieceSize = 256 << 10

    /// The file's length when it was opened.
    package let length: Int64
    private let descriptor: Int32
    private let path: String
    private let queue: DispatchQueue
    private let buffers = ReadBuffers(size: pieceSize)

    private init(descriptor: Int32, length: Int64, path: String, queue: DispatchQueue) {
        self.queue = queue
        self.descriptor = descriptor
        self.length = length
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// Opens a regular file for reading from a position on.
    package static func open(_ url: URL, at position: Int = 0) async throws(SluiceError) -> FileReader {
        if let scheme = url.scheme, scheme.lowercased() != "file" {
            throw SluiceError(.bodyUnavailable, "A URL with the scheme “\(scheme)” is not a file URL.")
        }
        let path = url.path
        // A queue of its own: a file on a file system that hangs must not stop other work.
        let queue = DispatchQueue(label: "sluice.file")
        return try await queue.result { () -> Result<FileReader, SluiceError> in
            // The system would cut such a path off at the NUL.
            if path.utf8.contains(0) { return .failure(.cannotRead(path, "its path contains a NUL character")) }
            let descriptor = SystemFile.openToRead(path)
            guard descriptor >= 0 else { return .failure(.cannotRead(path, errno)) }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                close(descriptor)
                let isDirectory = status.st_mode & S_IFMT == S_IFDIR
                return .failure(.cannotRead(path, isDirectory ? "it is a directory" : "it is not a regular file"))
            }
            if position != 0, lseek(descriptor, off_t(position), SEEK_SET) < 0 {
                let error = errno
                close(descriptor)
                return .failure(.cannotRead(path, error))
            }
            return .success(FileReader(descriptor: descriptor, length: Int64(status.st_size), path: path, queue: queue))
        }.get()
    }

    /// Returns the next piece of up to ``pieceSize`` bytes, or nil at the end of the file.
    ///
    /// A piece that is shorter than requested is the last one.
    package func read(upTo count: Int = pieceSize) async throws(SluiceError) -> Data? {
        try await queue.result { [self] () -> Result<Data?, SluiceError> in
            var error: Int32 = 0
            let piece = buffers.piece(upTo: count) { buffer in
                let filled = SystemFile.fill(buffer, from: descriptor)
                if filled < 0 { error = errno }
                return filled
            }
            guard let piece else { return .failure(.cannotRead(path, error)) }
            return .success(piece.isEmpty ? nil : piece)
        }.get()
    }
}

extension SluiceError {
    fileprivate static func cannotRead(_ path: String, _ error: Int32) -> SluiceError {
        cannotRead(path, String(cString: strerror(error)))
    }

    fileprivate static func cannotRead(_ path: String, _ reason: String) -> SluiceError {
        SluiceError(.bodyUnavailable, "The file “\(path)” cannot be read: \(reason).")
    }
}
