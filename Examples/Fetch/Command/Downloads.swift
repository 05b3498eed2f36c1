import Fetching
import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Runs all downloads of one command, a limited number at a time.
struct Downloads {
    private let options: FetchOptions
    private let reporter: Reporter
    private let client: APIClient
    private let names = SharedNames()
    /// The maximum time for recording the bytes of a download that was stopped.
    private static let closingTime = Duration.seconds(2)

    init(_ options: FetchOptions, _ reporter: Reporter) {
        self.options = options
        self.reporter = reporter
        client = APIClient {
            $0.retry = .standard
            $0.headers["User-Agent"] = nil
            for header in options.headers { $0.headers.append(HTTPHeaderName(header.name), header.value) }
            if !$0.headers.contains("User-Agent") { $0.headers["User-Agent"] = "fetch/1.0 (Sluice)" }
            if let rate = options.rateLimit {
                $0.transport = RateLimitedTransport(base: $0.transport, pace: SharedPace(rate))
            }
        }
    }

    /// Runs all downloads.
    ///
    /// - Returns: The number of downloads that failed.
    func run() async -> Int {
        let failures = await run(Array(options.items.indices))
        // The downloads whose files these would have replaced have ended.
        let lateFailures = await run(names.refused.sorted(), keepsBoth: true)
        await reporter.end()
        return failures + lateFailures
    }

    /// Runs some downloads and returns the number of those that failed.
    private func run(_ indices: [Int], keepsBoth: Bool = false) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            var failures = 0
            for (position, index) in indices.enumerated() {
                if position >= options.jobs, await group.next() == false { failures += 1 }
                if Task.isCancelled { break }
                group.addTask { await fetch(index, keepsBoth: keepsBoth) }
            }
            for await isComplete in group where !isComplete { failures += 1 }
            return failures
        }
    }

    /// Runs one download and returns false if it failed. One that has not got its name runs again, and then keeps both files.
    private func fetch(_ index: Int, keepsBoth: Bool) async -> Bool {
        let item = options.items[index]
        let start = ContinuousClock.now
        if !keepsBoth { await reporter.began(index) }
        do throws(DownloadFailure) {
            if Task.isCancelled { throw .interrupted }
            switch item.output {
            case .standardOutput:
                let content = try await stream(index, to: BodyOutput(), "Standard output")
                await reporter.finished(index, content, after: start.duration(to: .now))
            case .file(let path) where BodyOutput.isNeeded(for: path):
                let content = try await stream(index, to: try await open(path), "“\(path)”")
                await reporter.finished(index, content, after: start.duration(to: .now))
            case .file, .named:
                let file = try await download(index, keepsBoth: keepsBoth)
                await reporter.finished(index, file, after: start.duration(to: .now))
            }
            return true
        } catch {
            if !keepsBoth, !error.isCancellation, names.refused.contains(index) { return true }
            await reporter.failed(index, error)
            return false
        }
    }

    /// Downloads a file, and continues one that an earlier run left unfinished.
    private func download(_ index: Int, keepsBoth: Bool) async throws(DownloadFailure) -> DownloadedFile {
        let item = options.items[index]
        let replaces = options.overwrites && !keepsBoth
        let client = replaces && item.output == .named ? claimingClient(index) : client
        var request = client.download(item.url, to: destination(of: item, replaces))
        if options.segments > 1 { request = request.segments(options.segments) }
        if let sha256 = item.sha256 { request = request.sha256(sha256) }
        let sender = request.sender()
        let watching = Task {
            for await progress in sender.downloadProgress { await reporter.progressed(index, progress) }
        }
        let result = await sender.result
        // The result of a cancelled download is there at once. The progress ends later, when the partial file is complete. It does
        // not end by itself if the cancellation came before the request was sent.
        let limit = Task {
            try? await Task.sleep(for: Downloads.closingTime)
            sender.cancel()
        }
        await watching.value
        limit.cancel()
        switch result {
        case .success(let file): return file
        case .failure(let error): throw DownloadFailure(error)
        }
    }

    private func stream(
        _ index: Int,
        to output: BodyOutput,
        _ place: String
    ) async throws(DownloadFailure) -> StreamedDownload.Content {
        do throws(DownloadFailure) {
            return try await StreamedDownload(client: client, item: options.items[index])
                .write(to: output, place) { await reporter.progressed(index, $0) }
        } catch {
            if error.isBrokenPipe, options.items[index].output == .standardOutput { await reporter.readerHasGone() }
            throw error
        }
    }

    private func open(_ path: String) async throws(DownloadFailure) -> BodyOutput {
        do throws(Descriptor.Failure) {
            return try await BodyOutput(opening: path)
        } catch {
            throw DownloadFailure(error, writingTo: "“\(path)”")
        }
    }

    /// Returns a client for a file that may replace another one. Its name is claimed.
    private func claimingClient(_ index: Int) -> APIClient {
        APIClient {
            $0 = client.configuration
            $0.transport = ClaimingTransport(base: $0.transport, names: names, index: index)
        }
    }

    private func destination(of item: FetchOptions.Item, _ replaces: Bool) -> DownloadDestination {
        let conflict: DownloadDestination.Conflict = replaces ? .overwrite : .keepBoth
        if case .file(let path) = item.output { return .file(URL(filePath: path), ifExists: conflict) }
        let folder = options.directory ?? FileManager.default.currentDirectoryPath
        return .suggested(in: URL(filePath: folder, directoryHint: .isDirectory), ifExists: conflict)
    }
}
