import Dispatch
import SluiceFoundation
import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file that a body is written to while it is read. It is removed after its last reference, unless it is moved.
final class BodyFile: Sendable {
    private struct State {
        var descriptor: Int32
        var isMoved = false
    }

    let url: URL
    private let state: Locked<State>

    private init(_ url: URL, _ descriptor: Int32) {
        self.url = url
        state = Locked(State(descriptor: descriptor))
    }

    deinit {
        let (descriptor, isMoved) = state.withLock { ($0.descriptor, $0.isMoved) }
        // Removing a large file takes time.
        BlockingQueues.next.async { [url] in
            if descriptor >= 0 { close(descriptor) }
            if !isMoved { unlink(url.path) }
        }
    }

    /// Creates a file with a unique name. Missing folders are created.
    ///
    /// - Parameters:
    ///   - folder: The folder of the file.
    ///   - isPrivate: True if only this user may read the file.
    /// - Returns: The open file.
    /// - Throws: A ``SluiceError`` with the code `cassetteUnwritable`.
    static func create(in folder: URL, isPrivate: Bool) async throws(SluiceError) -> BodyFile {
        try await BlockingQueues.next.result { () -> Result<BodyFile, SluiceError> in
            do {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            } catch {
                return .failure(.unwritableBody(folder, underlying: error))
            }
            let url = folder.appending(path: ".\(UUID().uuidString)")
            let mode = S_IRUSR | S_IWUSR | (isPrivate ? 0 : S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH)
            let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
            guard descriptor >= 0 else { return .failure(.unwritableBody(url, errno)) }
            return .success(BodyFile(url, descriptor))
        }.get()
    }

    /// Appends a piece of the body.
    ///
    /// - Parameter piece: The bytes.
    /// - Throws: A ``SluiceError`` with the code `cassetteUnwritable`.
    func append(_ piece: Data) async throws(SluiceError) {
        let error = await BlockingQueues.next.result { [self] in
            SystemFile.write(piece, to: state.withLock { $0.descriptor })
        }
        guard error == 0 else { throw .unwritableBody(url, error) }
    }

    /// Closes the file and gives it its final name. A file with this name is replaced.
    ///
    /// - Parameter destination: The final name, in the same folder.
    /// - Throws: A ``SluiceError`` with the code `cassetteUnwritable`.
    func move(to destination: URL) async throws(SluiceError) {
        let error = await BlockingQueues.next.result { [self] () -> Int32 in
            let descriptor = state.withLock { state in
                defer { state.descriptor = -1 }
                return state.descriptor
            }
            if descriptor >= 0, close(descriptor) != 0 { return errno }
            guard rename(url.path, destination.path) == 0 else { return errno }
            state.withLock { $0.isMoved = true }
            return 0
        }
        guard error == 0 else { throw .unwritableBody(destination, error) }
    }
}

extension SluiceError {
    fileprivate static func unwritableBody(_ url: URL, _ error: Int32) -> SluiceError {
        SluiceError(
            .cassetteUnwritable,
            "The body file “\(url.path)” cannot be written: \(String(cString: strerror(error)))."
        )
    }

    fileprivate static func unwritableBody(_ url: URL, underlying error: any Error) -> SluiceError {
        SluiceError(
            .cassetteUnwritable,
            "The folder “\(url.path)” cannot be created.",
            underlyingError: error
        )
    }
}
