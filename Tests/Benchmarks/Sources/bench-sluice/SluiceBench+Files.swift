import Measuring
import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SluiceBench {
    func download(_ path: String, to file: String, isWatched: Bool) async throws -> Bool? {
        let request = client.download(path, to: .file(URL(filePath: file), ifExists: .overwrite))
        let sender = request.timeouts(Timeouts(total: .seconds(300))).sender()
        let watching = Task {
            var last: TransferProgress?
            if isWatched { for await progress in sender.downloadProgress { last = progress } }
            return last
        }
        _ = try await sender.responseURL
        if let last = await watching.value, last.completed != last.total {
            throw Unexpected(description: "the progress ended at \(last.completed) of \(last.total ?? -1)")
        }
        return true
    }

    func events(at path: String, upTo count: Int) async throws -> Int? {
        var left = count
        for try await event in client.stream(path).serverSentEvents() where !event.data.isEmpty {
            left -= 1
            if left == 0 { break }
        }
        return count - left
    }

    func upload(file: String, to path: String) async throws -> Bool? {
        let request = client.data.upload(path, .file(URL(filePath: file))).put()
        _ = try await request.timeouts(Timeouts(total: .seconds(300))).sender().value
        return true
    }
}
