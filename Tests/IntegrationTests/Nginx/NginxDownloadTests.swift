#if os(Linux)
import Foundation
import Sluice
import SluiceHTTP
import SluiceTesting
import Testing

@Suite(
    .enabled(if: Nginx.canRun, "nginx or openssl is not installed (Debian: nginx-light, openssl)"),
    .serialized
)
final class NginxDownloadTests {
    private let nginx: Nginx
    private let folder: URL
    private let film: Data

    init() throws {
        nginx = try Nginx()
        folder = nginx.directory.appending(path: "downloads")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        film = Self.bytes(seed: 1, count: 6_000_000)
        try film.write(to: served("film.bin"))
        try film.write(to: served("slow/film.bin"))
        try film.write(to: served("slower/film.bin"))
        try film.write(to: served("held/film.bin"))
    }

    private static func bytes(seed: UInt64, count: Int) -> Data {
        var generator = SeededGenerator(seed: seed)
        let words = (0..<(count + 7) / 8).map { _ in generator.next() }
        return words.withUnsafeBytes { Data($0.prefix(count)) }
    }

    private func served(_ path: String) -> URL { nginx.directory.appending(path: "files/\(path)") }

    private var urls: [String] { [nginx.http2URL, nginx.tlsURL, nginx.plainURL] }

    private func client(_ url: String, observers: [any RequestObserver] = []) -> APIClient {
        APIClient(baseURL: url) {
            $0.connection.tls.trust = .only(.file(nginx.certificateFile))
            $0.observers = observers
        }
    }

    private func destination(_ name: String) -> URL { folder.appending(path: name) }

    /// Starts a download and cancels it after a number of bytes.
    private func cancel(_ request: DownloadAPIRequest<DownloadedFile, APIError>, after bytes: Int64) async {
        let sender = request.sender()
        let outcome = Task { await sender.result }
        for await progress in sender.downloadProgress where progress.completed >= bytes { sender.cancel() }
        _ = await outcome.value
    }

    @Test func downloadsFilesOverEveryProtocol() async throws {
        for (index, url) in urls.enumerated() {
            let response = await client(url).download("film.bin", to: .file(destination("\(index)"))).sender().response
            let file = try response.result.get()
            #expect(response.head?.version == (index == 0 ? .http2 : .http1_1))
            #expect(file.length == 6_000_000)
            #expect(try Data(contentsOf: file.url) == film)
        }
    }

    @Test func resumesCancelledDownloadOverEveryProtocol() async throws {
        for (index, url) in urls.enumerated() {
            let download = client(url).download("held/film.bin", to: .file(destination("\(index)")))
            await cancel(download, after: 1_000_000)
            #expect(!FileManager.default.fileExists(atPath: destination("\(index)").path))
            let response = await download.sender().response
            let file = try response.result.get()
            #expect(response.head?.status == .partialContent)
            #expect(file.resumedBytes >= 1_000_000)
            #expect(try Data(contentsOf: file.url) == film)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left.sorted() == ["0", "1", "2"])
    }

    @Test func restartsDownloadOfReplacedFile() async throws {
        let download = client(nginx.http2URL).download("held/film.bin", to: .file(destination("film")))
        await cancel(download, after: 1_000_000)
        let other = Self.bytes(seed: 2, count: 5_000_000)
        try other.write(to: served("held/film.bin"), options: .atomic)
        let file = try await download.sender().value
        #expect(file.resumedBytes == 0)
        #expect(try Data(contentsOf: file.url) == other)
    }

    /// Records the connections of partial responses, by the number that nginx gives them.
    private final class SegmentRecorder: RequestObserver {
        private let seen = Locked<[String]>([])

        let interests: RequestEvent.Kinds = .received
        var connections: [String] { seen.withLock { $0 } }

        func observe(_ event: RequestEvent, of request: ObservedRequest) {
            guard case .received(.success(let response)) = event, response.head.status == .partialContent else {
                return
            }
            seen.withLock { $0.append(response.head.headers["X-Connection"] ?? "none") }
        }
    }

    @Test func downloadsInSegmentsOverEveryProtocol() async throws {
        // HTTP/2 carries all segments on one connection.
        let connections = try await connectionsOfSegments(from: nginx.http2URL, to: "http2")
        #expect(connections == 1)
        // HTTP/1.1 needs one for each. The server limits the rate, so that the four segments are in progress at the same time. On a loaded
        // machine one may still end before the next begins, so the best of up to three downloads counts.
        for url in [nginx.tlsURL, nginx.plainURL] {
            var most = 0
            for attempt in 0..<3 where most < 4 {
                let name = url == nginx.tlsURL ? "tls\(attempt)" : "plain\(attempt)"
                most = try await max(most, connectionsOfSegments(from: url, to: name))
            }
            #expect(most >= 4, "\(most) connections to \(url)")
        }
    }

    /// Downloads a file in four segments with a new client, and returns the number of connections that carried them.
    private func connectionsOfSegments(from url: String, to name: String) async throws -> Int {
        let recorder = SegmentRecorder()
        let client = client(url, observers: [recorder])
        let download = client.download("slower/film.bin", to: .file(destination(name)))
            .segments(4, ofAtLeast: 500_000)
        let response = await download.sender().response
        let file = try response.result.get()
        #expect(response.head?.status == .partialContent)
        #expect(try Data(contentsOf: file.url) == film)
        await client.observersCaughtUp()
        // The first request learns the length. The others fetch the rest.
        #expect(recorder.connections.count == 5)
        return Set(recorder.connections).count
    }

    @Test func restartsDownloadOfShortenedFile() async throws {
        let download = client(nginx.plainURL).download("held/film.bin", to: .file(destination("film")))
        await cancel(download, after: 1_000_000)
        try Data("short".utf8).write(to: served("held/film.bin"), options: .atomic)
        let response = await download.sender().response
        let file = try response.result.get()
        // With If-Range, the server sends the new file and not 416.
        #expect(response.head?.status == .ok)
        #expect(file.resumedBytes == 0)
        #expect(try Data(contentsOf: file.url) == Data("short".utf8))
    }

    @Test func streamsLinesOverEveryProtocol() async throws {
        let text = (0..<100_000).map { "line \($0)\n" }.joined()
        try Data(text.utf8).write(to: served("lines.txt"))
        for url in urls {
            var count = 0
            for try await line in client(url).stream("lines.txt").lines {
                if line != "line \(count)" { Issue.record("\(line) is not line \(count)") }
                count += 1
            }
            #expect(count == 100_000)
            for try await line in client(url).stream("lines.txt").lines where line == "line 5" { break }
        }
    }
}
#endif
