import Dispatch

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The file of a jar: read once, written whenever the jar has changed.
final class CookieFile: Sendable {
    private enum Reading {
        case ahead
        case done
        case failed(SluiceError)
    }

    private struct State {
        var reading = Reading.ahead
        var isScheduled = false
        var lastWriting: DispatchTime?
        /// By which look at the jar, and what.
        var written: (look: Int, contents: Data)?
    }

    /// Between two writings that nobody asked for: a second, in nanoseconds.
    private static let interval: UInt64 = 1_000_000_000
    /// More than any cookies need.
    private static let limit = 16 << 20

    private let file: PrivateFile
    private let onFailure: @Sendable (SluiceError) -> Void
    /// Serial: all that touches the file is done on it.
    private let queue = DispatchQueue(label: "sluice.cookies")
    private let state = Locked(State())

    init(path: String, onFailure: @escaping @Sendable (SluiceError) -> Void) {
        // Other programs leave it open to all; the first writing makes it private.
        file = PrivateFile(path: path, holding: "cookies", limit: Self.limit, acceptsShared: true)
        self.onFailure = onFailure
    }

    /// Whether it has been read, or cannot be.
    var isSettled: Bool {
        state.withLock { state in
            if case .ahead = state.reading { false } else { true }
        }
    }

    /// Reads it into the jar, unless that has been done.
    ///
    /// - Parameters:
    ///   - jar: What gets the cookies.
    ///   - isAgain: Whether to try again what has failed; its failure is then for the caller alone.
    /// - Returns: Why it cannot be read.
    func read(for jar: CookieJar, isAgain: Bool) async -> Result<Void, SluiceError> {
        await queue.result { [self] in readNow(for: jar, isAgain: isAgain) }
    }

    /// Writes what the jar holds.
    func write(_ jar: CookieJar) async -> Result<Void, SluiceError> {
        let fence = Locked(())
        defer { fence.synchronize() }
        return await withUnsafeContinuation { continuation in
            jar.look { [self] look, lines in
                queue.async { [self] in
                    let result = writeNow(lines, look, isForced: true)
                    fence.synchronize()
                    continuation.resume(returning: result)
                }
            }
        }
    }

    /// Sees to it that what the jar holds is written soon.
    func scheduleWriting(of jar: CookieJar) {
        let moment: DispatchTime? = state.withLock { state in
            if state.isScheduled { return nil }
            state.isScheduled = true
            let now = DispatchTime.now()
            guard let last = state.lastWriting else { return now }
            return max(now, DispatchTime(uptimeNanoseconds: last.uptimeNanoseconds + Self.interval))
        }
        guard let moment else { return }
        queue.asyncAfter(deadline: moment) { [self] in
            // What changes from here on is written the next time.
            state.withLock { state in
                state.isScheduled = false
                state.lastWriting = .now()
            }
            guard case .success = readNow(for: jar, isAgain: false) else { return }
            jar.look { [self] look, lines in
                queue.async { [self] in
                    if case .failure(let error) = writeNow(lines, look, isForced: false) { onFailure(error) }
                }
            }
        }
    }

    private func readNow(for jar: CookieJar, isAgain: Bool) -> Result<Void, SluiceError> {
        switch state.withLock({ $0.reading }) {
        case .done: return .success(())
        case .failed(let error) where !isAgain: return .failure(error)
        case .ahead, .failed: break
        }
        do throws(PrivateFile.Failure) {
            let contents = try file.read() ?? Data()
            jar.adopt(contents.split(separator: 10).compactMap { CookieLine($0) })
            state.withLock { $0.reading = .done }
            return .success(())
        } catch {
            let error = SluiceError.cookieFile(error)
            state.withLock { $0.reading = .failed(error) }
            if !isAgain { onFailure(error) }
            return .failure(error)
        }
    }

    private func writeNow(_ lines: [CookieLine]?, _ look: Int, isForced: Bool) -> Result<Void, SluiceError> {
        guard let lines else { return .failure(.cookiesUnknown) }
        let written = state.withLock { $0.written }
        // Somebody has looked later, and written before.
        if let written, written.look > look { return .success(()) }
        let contents = Self.contents(lines)
        if !isForced, let written, written.contents == contents { return .success(()) }
        do throws(PrivateFile.Failure) {
            try file.replace(with: contents)
            state.withLock { $0.written = (look, contents) }
            return .success(())
        } catch {
            return .failure(.cookieFile(error))
        }
    }

    /// The first line is what Python knows the file by.
    static func contents(_ lines: [CookieLine]) -> Data {
        var contents = Data("# Netscape HTTP Cookie File\n# Written by Sluice; an edit may be lost.\n\n".utf8)
        let now = Date()
        for line in lines where line.fitsFile && line.cookie.expires.map({ $0 > now }) ?? true {
            contents.append(contentsOf: line.bytes)
            contents.append(10)
        }
        return contents
    }
}

extension SluiceError {
    fileprivate static func cookieFile(_ failure: PrivateFile.Failure) -> SluiceError {
        SluiceError(.cookieFileFailed, failure.description, step: .file)
    }

    fileprivate static let cookiesUnknown = SluiceError(
        .cookieFileFailed,
        "The file of the cookies was not written: the engine could not list them for lack of memory.",
        step: .file
    )
}
