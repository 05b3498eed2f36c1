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

    init(_ options: FetchOptions, _ reporter: Reporter) {
        self.options = options
        self.reporter = reporter
        client = APIClient {
            $0.headers["User-Agent"] = "fetch/1.0 (Sluice)"
            $0.retry = .standard
            for header in options.headers { $0.headers.append(HTTPHeaderName(header.name), header.value) }
        }
    }

    /// Runs all downloads.
    ///
    /// - Returns: The number of downloads that failed.
    func run() async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            var failures = 0
            for index in options.items.indices {
                if index >= options.jobs, await group.next() == false { failures += 1 }
                if Task.isCancelled { break }
                group.addTask { await fetch(index) }
            }
            for await isComplete in group where !isComplete { failures += 1 }
            await reporter.end()
            return failures
        }
    }

    /// Downloads one file and returns true if it succeeded.
    private func fetch(_ index: Int) async -> Bool {
        let item = options.items[index]
        let start = ContinuousClock.now
        var request = client.download(item.url, to: destination)
        if options.segments > 1 { request = request.segments(options.segments) }
        if let sha256 = item.sha256 { request = request.sha256(sha256) }
        let sender = request.sender()
        await reporter.began(index)
        let watching = Task {
            for await progress in sender.downloadProgress { await reporter.progressed(index, progress) }
        }
        let result = await sender.result
        await watching.value
        switch result {
        case .success(let file):
            await reporter.finished(index, file, after: ContinuousClock.now - start)
            return true
        case .failure(let error):
            await reporter.failed(index, error)
            return false
        }
    }

    private var destination: DownloadDestination {
        let conflict: DownloadDestination.Conflict = options.overwrites ? .overwrite : .keepBoth
        if let output = options.output { return .file(URL(filePath: output), ifExists: conflict) }
        let folder = options.directory ?? FileManager.default.currentDirectoryPath
        return .suggested(in: URL(filePath: folder, directoryHint: .isDirectory), ifExists: conflict)
    }
}
