import Dispatch
import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// The file of a cassette. It is read on a dispatch queue, because reading blocks the thread.
struct CassetteFile: Sendable {
    let url: URL
    private let queue = DispatchQueue(label: "sluice.cassette")

    init(_ url: URL) {
        self.url = url
    }

    /// Returns the contents of the file, or nil if it does not exist.
    func read() async throws(SluiceError) -> Data? {
        let url = url
        return try await queue.result { () -> Result<Data?, SluiceError> in
            if !FileManager.default.fileExists(atPath: url.path) { return .success(nil) }
            do {
                return .success(try Data(contentsOf: url))
            } catch {
                let reason = "The cassette “\(url.path)” cannot be read."
                return .failure(SluiceError(.cassetteUnreadable, reason, underlyingError: error))
            }
        }.get()
    }
}

/// A recording to one cassette file, shared by all transports of the process that record to that file.
///
/// Because the recording is shared, no transport overwrites the exchanges of another.
final class CassetteRecording: Sendable {
    private struct State {
        /// The text of each exchange in the file.
        var exchanges: [String]
        /// The number of exchanges that have been written to the file.
        var written = 0
        /// The names of the body files of this recording.
        var bodies: Set<String> = []
        /// True until the first write of a recording that replaces the file, whose body files are then not used any more.
        var hasOldBodies: Bool
    }

    private struct Entry {
        weak var recording: CassetteRecording?
    }

    private static let open = Locked<[String: Entry]>([:])

    private let url: URL
    private let queue = DispatchQueue(label: "sluice.cassette.recording")
    // Pending writes hold the state, not the recording, so the recording is released with the last transport that uses it.
    private let state: Locked<State>

    private init(_ url: URL, _ exchanges: [String]) {
        self.url = url
        state = Locked(State(exchanges: exchanges, hasOldBodies: exchanges.isEmpty))
    }

    /// Returns the recording to a file, and creates it if there is none.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - exchanges: The exchanges of the file to keep. They are ignored if another transport already records to the file.
    /// - Returns: The recording that all transports share.
    static func to(_ url: URL, keeping exchanges: [RecordedExchange]) -> CassetteRecording {
        let path = url.absoluteURL.standardizedFileURL.path
        let texts = exchanges.map(Cassette.text)
        return open.withLock { open in
            if let recording = open[path]?.recording { return recording }
            open = open.filter { $0.value.recording != nil }
            let recording = CassetteRecording(url, texts)
            open[path] = Entry(recording: recording)
            return recording
        }
    }

    /// Protects a body file from being removed with those of an earlier recording. Call it before the file gets its name.
    func willKeep(_ body: BodyDigest) async {
        // In turn with the writes, one of which removes old files.
        await queue.result { [state] in
            state.withLock { _ = $0.bodies.insert(body.sha256) }
        }
    }

    /// Adds an exchange and replaces the whole file atomically. Missing folders are created. The first exchange of a recording
    /// that replaces the file also removes the body files of the replaced one.
    ///
    /// - Parameter exchange: The redacted exchange.
    /// - Throws: A ``SluiceError`` with the code `cassetteUnwritable`.
    func append(_ exchange: RecordedExchange) async throws(SluiceError) {
        let text = Cassette.text(of: exchange)
        let number = state.withLock { state in
            state.exchanges.append(text)
            return state.exchanges.count
        }
        try await queue.result { [state, url] () -> Result<Void, SluiceError> in
            // One write covers every exchange added so far, so a later call may have nothing left to write.
            let (exchanges, written) = state.withLock { ($0.exchanges, $0.written) }
            if written >= number { return .success(()) }
            let result = Self.write(exchanges, to: url)
            guard case .success = result else { return result }
            let kept: Set<String>? = state.withLock { state in
                state.written = exchanges.count
                defer { state.hasOldBodies = false }
                return state.hasOldBodies ? state.bodies : nil
            }
            if let kept { CassetteBodies.removeFiles(of: url, except: kept) }
            return result
        }.get()
    }

    private static func write(_ exchanges: [String], to url: URL) -> Result<Void, SluiceError> {
        let folder = url.deletingLastPathComponent()
        let temporary = folder.appending(path: ".\(url.lastPathComponent).\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Cassette.data(of: exchanges).write(to: temporary)
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            let reason = "The cassette “\(url.path)” cannot be written."
            return .failure(SluiceError(.cassetteUnwritable, reason, underlyingError: error))
        }
        guard rename(temporary.path, url.path) == 0 else {
            let reason = String(cString: strerror(errno))
            try? FileManager.default.removeItem(at: temporary)
            let sentence = "The cassette “\(url.path)” cannot be written: \(reason)."
            return .failure(SluiceError(.cassetteUnwritable, sentence))
        }
        return .success(())
    }
}

// MARK: - Cassette body file

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
