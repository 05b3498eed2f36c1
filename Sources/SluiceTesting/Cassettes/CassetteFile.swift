import Dispatch
import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// A recording to one cassette file, shared by all transports of the process that record to that file.
///
/// Other processes may record to the file at the same time. Each write happens under a lock and keeps their exchanges.
final class CassetteRecording: Sendable {
    private struct Entry {
        weak var recording: CassetteRecording?
    }

    private static let open = Locked<[String: Entry]>([:])

    private let queue = DispatchQueue(label: "sluice.cassette.recording")
    // Pending work holds the content, not the recording, so the recording is released with the last transport that uses it.
    private let content: Locked<CassetteContent>

    /// Creates a recording that no transport shares.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - redaction: The rules for the requests that the file contains already.
    init(_ url: URL, _ redaction: CassetteRedaction) {
        content = Locked(CassetteContent(url, redaction))
    }

    /// Returns the recording to a file, and creates it if there is none.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - redaction: The rules for the requests that the file contains already. They are ignored if there is a recording.
    /// - Returns: The recording that all transports share.
    static func to(_ url: URL, _ redaction: CassetteRedaction) -> CassetteRecording {
        let path = url.absoluteURL.standardizedFileURL.path
        return open.withLock { open in
            if let recording = open[path]?.recording { return recording }
            open = open.filter { $0.value.recording != nil }
            let recording = CassetteRecording(url, redaction)
            open[path] = Entry(recording: recording)
            return recording
        }
    }

    /// Begins to play back or record for a transport, in turn with the writes.
    ///
    /// - Parameters:
    ///   - mode: The mode of the transport; not `never`.
    ///   - created: The time at which the transport was created.
    /// - Returns: The exchanges to play back, and true if the transport records.
    /// - Throws: A ``SluiceError`` with the code `cassetteUnreadable`.
    func begin(
        _ mode: CassetteTransport.Mode,
        created: ContinuousClock.Instant
    ) async throws(SluiceError) -> (exchanges: [RecordedExchange], records: Bool) {
        try await withContent { content throws(SluiceError) in try content.begin(mode, created: created) }
    }

    /// Adds an exchange and replaces the whole file atomically. Missing folders are created. The first exchange of a recording
    /// that replaces the file also removes the body files of the replaced one.
    ///
    /// - Parameters:
    ///   - exchange: The redacted exchange.
    ///   - body: The temporary file of a long response body, and its final name.
    /// - Throws: A ``SluiceError`` with the code `cassetteUnwritable`, or `cassetteUnreadable` if the file was damaged meanwhile.
    func append(_ exchange: RecordedExchange, _ body: (file: BodyFile, url: URL)? = nil) async throws(SluiceError) {
        try await withContent { content throws(SluiceError) in try content.append(exchange, body) }
    }

    /// Runs work that blocks with the content. Only this function changes the content.
    private func withContent<Value: Sendable>(
        _ work: @escaping @Sendable (inout CassetteContent) throws(SluiceError) -> Value
    ) async throws(SluiceError) -> Value {
        try await queue.result { [content] () -> Result<Value, SluiceError> in
            // The queue is serial, so the content does not change between the two locks.
            var current = content.withLock { $0 }
            defer { content.withLock { $0 = current } }
            return Result { () throws(SluiceError) in try work(&current) }
        }.get()
    }
}

// MARK: - Content

/// The exchanges of a cassette file while they are recorded. Its functions block.
private struct CassetteContent: Sendable {
    /// The state of the file when the recording began.
    private enum Start {
        /// There was no file.
        case new
        /// The exchanges of the file are kept.
        case continuation
        /// The file contained nothing to keep.
        case replacement
    }

    private struct Item {
        /// The text of the exchange in the file.
        let text: String
        /// The name of the body file; nil for none.
        let body: String?

        init(_ exchange: RecordedExchange) {
            text = Cassette.text(of: exchange)
            body = (try? exchange.result.get())?.digest?.sha256
        }
    }

    private let url: URL
    private let redaction: CassetteRedaction
    /// Nil until a transport begins to record.
    private var start: Start?
    /// The time after the first write; nil until then.
    private var firstWrite: ContinuousClock.Instant?
    /// The exchanges that ``version`` of the file contains, except those that the recording replaces.
    private var written: [Item] = []
    /// The exchanges of this process that the file does not contain yet.
    private var added: [Item] = []
    /// The version of the file that has been read, replaced or written; nil for no file.
    private var version: FileVersion?

    init(_ url: URL, _ redaction: CassetteRedaction) {
        self.url = url
        self.redaction = redaction
    }

    mutating func begin(
        _ mode: CassetteTransport.Mode,
        created: ContinuousClock.Instant
    ) throws(SluiceError) -> (exchanges: [RecordedExchange], records: Bool) {
        // A transport that is older than the new file records to it too. A later one plays it back.
        let isOlder = firstWrite.map { created < $0 } ?? true
        if mode == .once, start == .new, isOlder { return ([], true) }
        // The version precedes the reading, so that a change between the two is noticed by the next write.
        let version = FileVersion(url)
        let exchanges = try mode == .always ? nil : read()
        if mode == .once, let exchanges { return (exchanges, false) }
        if start == nil {
            written = items(exchanges ?? [])
            start = version == nil ? .new : written.isEmpty ? .replacement : .continuation
            self.version = version
        }
        return (exchanges ?? [], true)
    }

    mutating func append(_ exchange: RecordedExchange, _ body: (file: BodyFile, url: URL)?) throws(SluiceError) {
        do {
            let folder = url.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw unwritable(error)
        }
        let lock = try FolderLock(SystemFile.folder(of: url.path))
        defer { lock.release() }
        // Under the lock, because a process that removes old body files keeps those that the cassette names.
        if let body { try body.file.move(to: body.url) }
        added.append(Item(exchange))
        // Another process has written the file. A file that was removed meanwhile is written again.
        if let current = FileVersion(url), current != version, let exchanges = try read() {
            written = items(exchanges)
            version = current
        }
        try write()
    }

    /// Returns the exchanges of the file; nil if it does not exist.
    private func read() throws(SluiceError) -> [RecordedExchange]? {
        guard let data = try CassetteFile.contents(of: url) else { return nil }
        return try Cassette(data, named: url.path).exchanges
    }

    private func items(_ exchanges: [RecordedExchange]) -> [Item] {
        redaction.redactingRequests(of: exchanges).map { Item($0) }
    }

    private mutating func write() throws(SluiceError) {
        let name = ".\(url.lastPathComponent).\(UUID().uuidString)"
        let temporary = url.deletingLastPathComponent().appending(path: name)
        let items = written + added
        do {
            try Cassette.data(of: items.map(\.text)).write(to: temporary)
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            throw unwritable(error)
        }
        guard rename(temporary.path, url.path) == 0 else {
            let reason = String(cString: strerror(errno))
            try? FileManager.default.removeItem(at: temporary)
            throw SluiceError(.cassetteUnwritable, "The cassette “\(url.path)” cannot be written: \(reason).")
        }
        written = items
        added = []
        version = FileVersion(url)
        guard firstWrite == nil else { return }
        firstWrite = ContinuousClock.now
        if start != .continuation { CassetteBodies.removeFiles(of: url, except: Set(items.compactMap(\.body))) }
    }

    private func unwritable(_ error: any Error) -> SluiceError {
        SluiceError(.cassetteUnwritable, "The cassette “\(url.path)” cannot be written.", underlyingError: error)
    }
}

// MARK: - Lock and version

/// A lock on a folder that excludes other processes, and other locks of this one. It leaves no file. The system releases it when
/// the process ends.
private struct FolderLock {
    private let descriptor: Int32

    /// Waits for the lock, for at most ten seconds. Has no effect on a file system that cannot lock a folder, such as NFS.
    ///
    /// - Throws: A ``SluiceError`` with the code `cassetteUnwritable` if another process keeps the lock.
    init(_ path: String) throws(SluiceError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        let end = ContinuousClock.now + .seconds(10)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EINTR || errno == EWOULDBLOCK {
            if .now > end {
                close(descriptor)
                throw SluiceError(.cassetteUnwritable, "Another process keeps the folder “\(path)” locked.")
            }
            usleep(2000)
        }
    }

    func release() {
        guard descriptor >= 0 else { return }
        // Also for copies of the descriptor in child processes.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

/// The version of a file: a write changes at least one of its values.
struct FileVersion: Sendable, Equatable {
    /// The time of the last write in seconds since 1970.
    let seconds: Int
    private let nanoseconds: Int
    private let inode: UInt64
    private let size: Int64

    /// Returns the version of the file at a URL; nil if there is none.
    init?(_ url: URL) {
        var status = stat()
        guard stat(url.path, &status) == 0 else { return nil }
        #if canImport(Darwin)
        let modified = status.st_mtimespec
        #else
        let modified = status.st_mtim
        #endif
        seconds = modified.tv_sec
        nanoseconds = modified.tv_nsec
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
    }
}

// MARK: - Files

/// The file of a cassette. It is read on a dispatch queue, because reading blocks the thread.
struct CassetteFile: Sendable {
    let url: URL
    private let queue = DispatchQueue(label: "sluice.cassette")

    init(_ url: URL) {
        self.url = url
    }

    /// Returns the contents of the file, or nil if it does not exist.
    func read() async throws(SluiceError) -> Data? {
        try await queue.result { [url] in
            Result { () throws(SluiceError) in try Self.contents(of: url) }
        }.get()
    }

    /// Returns the contents of a file, or nil if it does not exist. Blocks.
    static func contents(of url: URL) throws(SluiceError) -> Data? {
        if !FileManager.default.fileExists(atPath: url.path) { return nil }
        do {
            return try Data(contentsOf: url)
        } catch {
            let reason = "The cassette “\(url.path)” cannot be read."
            throw SluiceError(.cassetteUnreadable, reason, underlyingError: error)
        }
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

    /// Creates a file with a unique name that only this user may read. Missing folders are created.
    ///
    /// - Parameter folder: The folder of the file.
    /// - Returns: The open file.
    /// - Throws: A ``SluiceError`` with the code `cassetteUnwritable`.
    static func create(in folder: URL) async throws(SluiceError) -> BodyFile {
        try await BlockingQueues.next.result { () -> Result<BodyFile, SluiceError> in
            do {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            } catch {
                return .failure(.unwritableBody(folder, underlying: error))
            }
            let url = Self.uniqueURL(in: folder)
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
            let descriptor = open(url.path, flags, S_IRUSR | S_IWUSR)
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

    /// Closes the file, and gives it its final name and the mode of other new files. A file with this name is replaced. Blocks.
    ///
    /// - Parameter destination: The final name, in the same folder.
    /// - Throws: A ``SluiceError`` with the code `cassetteUnwritable`.
    func move(to destination: URL) throws(SluiceError) {
        let descriptor = state.withLock { state in
            defer { state.descriptor = -1 }
            return state.descriptor
        }
        if descriptor >= 0 {
            let unused = Self.uniqueURL(in: url.deletingLastPathComponent()).path
            if let mode = SystemFile.modeOfNewFile(at: unused).mode { fchmod(descriptor, mode) }
            // The cassette, which names the file, is synced too.
            var error = SystemFile.sync(descriptor)
            if close(descriptor) != 0, error == 0 { error = errno }
            if error != 0 { throw .unwritableBody(destination, error) }
        }
        guard rename(url.path, destination.path) == 0 else { throw .unwritableBody(destination, errno) }
        state.withLock { $0.isMoved = true }
    }

    private static func uniqueURL(in folder: URL) -> URL { folder.appending(path: ".\(UUID().uuidString)") }
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
