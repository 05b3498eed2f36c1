#if os(Linux)
import Foundation
import Sluice
import SluiceTesting
import Testing

@Suite(
    .enabled(if: Nginx.canRun, "nginx or openssl is not installed (Debian: nginx-light, openssl)"),
    .serialized
)
struct NginxUploadTests {
    let nginx: Nginx

    init() throws {
        nginx = try Nginx()
    }

    private func client(_ url: String) -> APIClient {
        APIClient(baseURL: url) { $0.connection.tls.trust = .only(.file(nginx.certificateFile)) }
    }

    @Test func uploadsOverEveryProtocolWithAndWithoutExpectation() async throws {
        let bytes = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let file = try TemporaryFile(bytes)
        defer { file.remove() }
        for url in [nginx.http2URL, nginx.tlsURL, nginx.plainURL] {
            let client = client(url)
            // Opens a connection, which then uses the negotiated protocol.
            _ = await client.data.get("user.json").sender().response
            for expectsContinue in [false, true] {
                let path = "put/\(UUID().uuidString)"
                let uploads: [APIRequest<Data, APIError>] = [
                    client.data.upload(path, .data(bytes)), client.data.upload(path, .file(file.url)),
                ]
                for upload in uploads {
                    let request: APIRequest<Data, APIError> =
                        expectsContinue ? upload.put().expectsContinue() : upload.put()
                    let response = await request.sender().response
                    #expect(response.status?.isSuccess == true, "\(url) \(expectsContinue)")
                    #expect(try await client.data.get(path).sender().value == bytes)
                }
            }
        }
    }

    @Test func serverRejectsTooLargeBodyBeforeItIsSent() async throws {
        let film = Data(count: 65 << 20)
        for url in [nginx.tlsURL, nginx.plainURL] {
            let upload: APIRequest<Data, APIError> = client(url).data.upload("put/film", .data(film)).put()
            let response = await upload.expectsContinue(waiting: .seconds(600)).sender().response
            #expect(response.status == 413)
            #expect(response.metrics?.bytesSent == 0)
        }
    }

    @Test func prioritiesShareHTTP2Connection() async throws {
        let client = client(nginx.http2URL)
        _ = await client.data.get("user.json").sender().response
        let connections = await withTaskGroup(of: String?.self) { group in
            for index in 0..<60 {
                let priority = RequestPriority.allCases[index % 3]
                let request = client.data.get(index.isMultiple(of: 2) ? "large.txt" : "user.json").priority(priority)
                group.addTask { await request.sender().response.head?.headers["X-Connection"] }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(connections.count == 60)
        #expect(Set(connections).count == 1, "\(Set(connections))")
    }
}
#endif
