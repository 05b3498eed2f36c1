import AsyncHTTPClient
import Measuring
import NIOCore
import _NIOFileSystem

extension AHC {
    func download(_ path: String, to file: String, isWatched: Bool) async throws -> Bool? {
        let delegate = try FileDownloadDelegate(path: file)
        let request = try HTTPClient.Request(url: server + path)
        let progress = try await client.execute(request: request, delegate: delegate).get()
        try Unexpected.check(status: Int(progress.head.status.code))
        return true
    }

    func upload(file: String, to path: String) async throws -> Bool? {
        try await FileSystem.shared.withFileHandle(forReadingAt: FilePath(file)) { handle in
            var request = HTTPClientRequest(url: server + path)
            request.method = .PUT
            let length = try await handle.info().size
            request.body = .stream(handle.readChunks(), length: .known(length))
            let response = try await client.execute(request, timeout: .seconds(300))
            try Unexpected.check(status: Int(response.status.code))
        }
        return true
    }
}
