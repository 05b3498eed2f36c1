import Dispatch
import SluiceFoundation

/// The file of a cookie jar. It is read once and written after changes to the jar.
final class CookieFile: Sendable {
    private enum Reading {
        case pending
        case done
        case failed(SluiceError)
    }

    private struct State {
        var reading = Reading.pending
        var isScheduled = false
        /// True if a write was omitted because the file could not be read.
        var owesWrite = false
        /// True if the cookies of the file were removed before it could be read.
        var isForgotten = false
        /// The number of scheduled writes that have failed since the last one that succeeded.
        var failures = 0
        /// True while a failed write waits to be repeated.
        var isRepeating = false
        /// The time of the last scheduled write.
        var lastWrite: DispatchTime?
        /// The contents last written, and the number of the snapshot that they came from.
        var written: (snapshot: Int, contents: Data)?
    }

    /// The minimum interval between automatic writes: one second, in nanoseconds.
    private static let interval: UInt64 = 1_000_000_000
    /// The maximum size of the file, in bytes: more than the cookies of servers that a jar keeps.
    private static let limit = 32 << 20

    private let file: PrivateFile
    private let onFailure: @Sendable (SluiceError) -> Void
    /// A serial queue for all access to the file.
    private let queue = DispatchQueue(label: "sluice.cookies")
    private let state = Locked(State())

    init(path: String, onFailure: @escaping @Sendable (SluiceError) -> Void) {
        // Other programs may create the file readable by others; the first write makes it private.
        file = PrivateFile(path: path, contentName: "cookies", limit: Self.limit, acceptsShared: true)
        self.onFailure = onFailure
    }

    /// True if the file has been read, or reading it has failed.
    var isSettled: Bool {
        state.withLock { state in
            if case .pending = state.reading { false } else { true }
        }
    }

    /// Reads the file into the jar, unless it has been read.
    ///
    /// - Parameters:
    ///   - jar: The jar that receives the cookies.
    ///   - isAgain: True to retry after a failure. A new failure is then returned without calling `onFailure`.
    /// - Returns: Success, or the error if the file cannot be read.
    func read(for jar: CookieJar, isAgain: Bool) async -> Result<Void, SluiceError> {
        await queue.result { [self] in readNow(for: jar, isAgain: isAgain) }
    }

    /// Lets a later read add no cookies, if the file has not been read.
    func forgetUnread() async {
        await queue.result { [self] in
            state.withLock { state in
                if case .failed = state.reading { state.isForgotten = true }
            }
        }
    }

    /// Writes the jar's cookies.
    func write(_ jar: CookieJar) async -> Result<Void, SluiceError> {
        let fence = Locked(())
        defer { fence.synchronize() }
        return await withUnsafeContinuation { continuation in
            jar.takeSnapshot { [self] number, lines in
                queue.async { [self] in
                    let result = writeNow(lines, number, isForced: true)
                    fence.synchronize()
                    continuation.resume(returning: result)
                }
            }
        }
    }

    /// Schedules a write of the jar's cookies, unless one is scheduled.
    func scheduleWrite(of jar: CookieJar) {
        let deadline: DispatchTime? = state.withLock { state in
            if state.isScheduled { return nil }
            state.isScheduled = true
            let now = DispatchTime.now()
            guard let last = state.lastWrite else { return now }
            return max(now, DispatchTime(uptimeNanoseconds: last.uptimeNanoseconds + Self.interval))
        }
        guard let deadline else { return }
        queue.asyncAfter(deadline: deadline) { [self] in
            // Later changes schedule another write.
            state.withLock { state in
                state.isScheduled = false
                state.lastWrite = .now()
            }
            guard case .success = readNow(for: jar, isAgain: false) else {
                return state.withLock { $0.owesWrite = true }
            }
            jar.takeSnapshot { [self] number, lines in
                queue.async { [self] in
                    switch writeNow(lines, number, isForced: false) {
                    case .success: state.withLock { $0.failures = 0 }
                    case .failure(let error):
                        onFailure(error)
                        repeatWrite(of: jar)
                    }
                }
            }
        }
    }

    /// Schedules another write after one has failed: a second later, then after pauses that double with each failure, up to 64 seconds.
    private func repeatWrite(of jar: CookieJar) {
        let pause: Int? = state.withLock { state in
            state.failures += 1
            if state.isRepeating { return nil }
            state.isRepeating = true
            return 1 << min(state.failures - 1, 6)
        }
        guard let pause else { return }
        queue.asyncAfter(deadline: .now() + .seconds(pause)) { [self, weak jar] in
            let hasFailed = state.withLock { state in
                state.isRepeating = false
                return state.failures > 0
            }
            if hasFailed, let jar { scheduleWrite(of: jar) }
        }
    }

    private func readNow(for jar: CookieJar, isAgain: Bool) -> Result<Void, SluiceError> {
        switch state.withLock({ $0.reading }) {
        case .done: return .success(())
        case .failed(let error) where !isAgain: return .failure(error)
        case .pending, .failed: break
        }
        do throws(PrivateFile.Failure) {
            let contents = try file.read() ?? Data()
            if !state.withLock({ $0.isForgotten }) { jar.addMissing(Self.lines(contents)) }
            let owesWrite = state.withLock { state in
                state.reading = .done
                defer { state.owesWrite = false }
                return state.owesWrite
            }
            if owesWrite { scheduleWrite(of: jar) }
            return .success(())
        } catch {
            let error = SluiceError.cookieFile(error)
            state.withLock { $0.reading = .failed(error) }
            if !isAgain { onFailure(error) }
            return .failure(error)
        }
    }

    private func writeNow(_ lines: [CookieLine]?, _ snapshot: Int, isForced: Bool) -> Result<Void, SluiceError> {
        guard let lines else { return .failure(.cookiesUnavailable) }
        let written = state.withLock { $0.written }
        // A later snapshot has already been written.
        if let written, written.snapshot > snapshot { return .success(()) }
        let contents = Self.contents(lines)
        if !isForced, let written, written.contents == contents { return .success(()) }
        do throws(PrivateFile.Failure) {
            try file.replace(with: contents)
            state.withLock { $0.written = (snapshot, contents) }
            return .success(())
        } catch {
            return .failure(.cookieFile(error))
        }
    }

    /// The number of cookies that are read from a file: more than a jar keeps.
    private static let maximumCookies = 10_000
    /// The length of a line above which it is skipped: more than a cookie may have.
    private static let maximumLine = 16 << 10

    /// Returns the cookies of a file, up to the limit.
    static func lines(_ contents: Data) -> [CookieLine] {
        var lines: [CookieLine] = []
        var rest = contents[...]
        while !rest.isEmpty, lines.count < maximumCookies {
            let line = rest.prefix { $0 != 10 }
            if line.count <= maximumLine, let cookie = CookieLine(line) { lines.append(cookie) }
            rest = rest.dropFirst(line.count + 1)
        }
        return lines
    }

    /// Returns the contents of the file. Python's `http.cookiejar` requires the first line.
    static func contents(_ lines: [CookieLine]) -> Data {
        var contents = Data("# Netscape HTTP Cookie File\n# Written by Sluice; an edit may be lost.\n\n".utf8)
        let now = Date()
        for line in lines where line.fitsFile && line.cookie.expires.map({ $0 > now }) ?? true {
            let bytes = line.bytes
            // Neither a longer line nor a larger file would be read.
            guard bytes.count <= maximumLine, contents.count + bytes.count < limit else { continue }
            contents.append(contentsOf: bytes)
            contents.append(10)
        }
        return contents
    }
}

extension SluiceError {
    fileprivate static func cookieFile(_ failure: PrivateFile.Failure) -> SluiceError {
        SluiceError(.cookieFileFailed, failure.description, step: .file)
    }

    fileprivate static let cookiesUnavailable = SluiceError(
        .cookieFileFailed,
        "The cookie file was not written: there was not enough memory to list the cookies.",
        step: .file
    )
}
