import Sluice
import SluiceTesting
import XCTest

/// A server, a folder, and a file that is too large to arrive in one piece.
final class DownloadFixture: Sendable {
    let server: LoopbackServer
    let folder: URL
    let contents: Data

    init(bytes: Int = 1_000_000) throws {
        server = try LoopbackServer()
        folder = FileManager.default.temporaryDirectory.appending(path: "sluice-download-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var generator = SeededGenerator(seed: 42)
        let words = (0..<(bytes + 7) / 8).map { _ in generator.next() }
        contents = words.withUnsafeBytes { Data($0.prefix(bytes)) }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    var resource: LoopbackResource { LoopbackResource(contents, eTag: "\"1\"") }
    var client: APIClient { APIClient(baseURL: server.url) }
    var file: URL { folder.appending(path: "file.bin") }

    /// Returns a download of `/file` to ``file``.
    func download(by client: APIClient? = nil) -> DownloadAPIRequest<DownloadedFile, APIError> {
        (client ?? self.client).download("file", to: .file(file))
    }

    /// The names in the folder, including hidden files.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    /// Waits until a number of bytes have arrived, without sleeping.
    func wait(for bytes: Int64, of sender: DownloadRequestSender<DownloadedFile, APIError>) async {
        await eventually { await sender.downloadProgress.first { _ in true }?.completed == bytes }
    }

    var saved: Data? { try? Data(contentsOf: file) }

    /// The requested ranges in order.
    var ranges: [String?] { server.requests.map { $0.headers["Range"] } }
}
