#if os(Linux)
import Dispatch
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Glibc
import SluiceHTTP

/// Reads a file in pieces, on a queue whose threads may block.
final class FileReader: Sendable {
    /// Large enough that the hop to the queue and back does not count.
    private static let pieceSize = 256 << 10
    private static let queue = DispatchQueue(label: "sluice.files", attributes: .concurrent)

    let length: Int64
    private let descriptor: Int32
    private let path: String

    private init(descriptor: Int32, length: Int64, path: String) {
        self.descriptor = descriptor
        self.length = length
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// Opens a regular file for reading.
    static func open(_ path: String) async throws(SluiceError) -> FileReader {
        try await queue.result { () -> Result<FileReader, SluiceError> in
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return .failure(.cannotRead(path, errno)) }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                close(descriptor)
                return .failure(.cannotRead(path, status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL))
            }
            return .success(FileReader(descriptor: descriptor, length: Int64(status.st_size), path: path))
        }.get()
    }

    /// The next piece, nil at the end of the file.
    func read() async throws(SluiceError) -> Data? {
        try await FileReader.queue.result { [self] () -> Result<Data?, SluiceError> in
            var piece = Data(count: FileReader.pieceSize)
            let count = piece.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 { return .failure(.cannotRead(path, errno)) }
            return .success(count == 0 ? nil : piece.prefix(count))
        }.get()
    }
}

extension SluiceError {
    fileprivate static func cannotRead(_ path: String, _ error: Int32) -> SluiceError {
        SluiceError(.bodyUnavailable, "The file “\(path)” cannot be read: \(String(cString: strerror(error))).")
    }
}
#endif
