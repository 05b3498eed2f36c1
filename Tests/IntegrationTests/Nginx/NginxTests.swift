#if os(Linux)
import Foundation
import Sluice
import Testing

private struct User: Codable, Sendable, Equatable {
    var id: Int
    var name: String
}

@Suite(
    .enabled(if: Nginx.canRun, "nginx or openssl is not installed (Debian: nginx-light, openssl)"),
    .serialized
)
struct NginxTests {
    let nginx: Nginx

    init() throws {
        nginx = try Nginx()
    }

    private func client(_ url: String, trusting file: String?) -> APIClient {
        APIClient(baseURL: url) { if let file { $0.connection.tls.trust = .only(.file(file)) } }
    }

    @Test func negotiatesProtocol() async throws {
        for (url, version, name) in [
            (nginx.http2URL, HTTPVersion.http2, "HTTP/2.0"), (nginx.tlsURL, .http1_1, "HTTP/1.1"),
            (nginx.plainURL, .http1_1, "HTTP/1.1"),
        ] {
            let request = client(url, trusting: nginx.certificateFile).codable.request("user.json", as: User.self)
            let response = await request.sender().response
            #expect(try response.result.get() == User(id: 1, name: "Ada"))
            #expect(response.head?.version == version)
            #expect(response.head?.headers["X-Protocol"] == name)
            #expect(response.metrics?.version == version)
            #expect((response.metrics?.tls ?? .zero > .zero) == url.hasPrefix("https"))
        }
    }

    @Test func answersChallengeOverEveryProtocol() async throws {
        let ada = ChallengeCredentials(user: "ada", password: "pw")
        let bytes = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        for url in [nginx.http2URL, nginx.tlsURL, nginx.plainURL] {
            let client = client(url, trusting: nginx.certificateFile)
            let file = "private/\(UUID().uuidString)"
            // Opens a connection, which then uses the negotiated protocol.
            _ = await client.data.get("user.json").sender().response
            let put = await client.data.put(file).data(bytes).credentials(ada).sender().response
            #expect(put.status == .created, "\(url)")
            #expect(try await client.data.get(file).credentials(ada).sender().value == bytes)
            let refused = await client.data.get(file).sender().response
            #expect(refused.status == .unauthorized)
            #expect(refused.head?.headers["WWW-Authenticate"] == #"Basic realm="private""#)
            let wrong = ChallengeCredentials(user: "ada", password: "no")
            #expect(await client.data.get(file).credentials(wrong).sender().response.status == .unauthorized)
        }
    }

    @Test func concurrentRequestsShareHTTP2Connection() async throws {
        let client = client(nginx.http2URL, trusting: nginx.certificateFile)
        let connections = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    await client.data.request("user.json").sender().response.head?.headers["X-Connection"]
                }
            }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(connections.count == 1)
        #expect(!connections.contains(nil))
    }

    @Test func rejectsUntrustedCertificate() async {
        let error = await failure(of: client(nginx.http2URL, trusting: nil))
        #expect(error?.code == .tlsFailed)
        #expect(error?.description.contains("certificate") == true)
    }

    @Test func rejectsCertificateOfOtherName() async {
        let url = "https://127.0.0.1:\(nginx.http2Port)"
        let error = await failure(of: client(url, trusting: nginx.certificateFile))
        #expect(error?.code == .tlsFailed)
    }

    @Test func missingCertificateFileIsError() async {
        let error = await failure(of: client(nginx.http2URL, trusting: "/no/such/file.pem"))
        #expect(error?.code == .tlsFailed)
    }

    @Test func serverWithoutTLSIsErrorAndClientStaysUsable() async throws {
        let client = client("https://localhost:\(nginx.plainPort)", trusting: nginx.certificateFile)
        let error = await failure(of: client)
        #expect(error?.code == .tlsFailed)
        let user: User = try await client.codable.request("\(nginx.http2URL)/user.json").sender().value
        #expect(user.name == "Ada")
    }

    @Test func decodesCompressedBody() async throws {
        let response = await client(nginx.http2URL, trusting: nginx.certificateFile).data.request("large.txt")
            .sender().response
        #expect(try response.result.get() == Data(repeating: UInt8(ascii: "a"), count: 1 << 20))
        #expect(response.head?.headers[.contentEncoding] == "gzip")
        #expect(try #require(response.metrics).bytesReceived < 1 << 16)
    }

    @Test func transfersBodiesBothWaysOverEveryProtocol() async throws {
        let data = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        for (index, url) in [nginx.http2URL, nginx.tlsURL, nginx.plainURL].enumerated() {
            let client = client(url, trusting: nginx.certificateFile)
            let chunks = AsyncStream<Data> { continuation in
                for start in stride(from: 0, to: data.count, by: 100_000) {
                    continuation.yield(data[start..<start + 100_000])
                }
                continuation.finish()
            }
            let body = RequestBody.stream(chunks, length: Int64(data.count))
            _ = try await client.data.request("put/\(index)").put().body(body).sender().value
            let back = try await client.data.request("put/\(index)").sender().value
            #expect(back == data, "over \(url)")
        }
    }

    @Test func cancellationsKeepHTTP2ConnectionOpen() async throws {
        let film = Data((0..<4_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        for folder in ["held", "slow"] {
            try film.write(to: nginx.directory.appending(path: "files/\(folder)/film.bin"))
        }
        let client = client(nginx.http2URL, trusting: nginx.certificateFile)
        let before = await client.data.request("user.json").sender().response.head?.headers["X-Connection"]
        #expect(before != nil)
        // A request that is in progress on the connection meanwhile.
        let other = Task { await client.data.request("slow/film.bin").sender().response }
        for index in 0..<50 {
            // The server holds the end of the body back for longer than the test takes. The time-out only limits a failing test.
            let sender = client.data.request("held/film.bin").timeout(.seconds(60)).sender()
            let task = Task { await sender.response.failure?.code }
            if index.isMultiple(of: 5) {
                // Cancelled in the body.
                for await progress in sender.downloadProgress where progress.completed > 0 { break }
            } else {
                await Task.yield()
            }
            sender.cancel()
            #expect(await task.value == .cancelled)
        }
        let response = await other.value
        #expect(try response.result.get() == film)
        #expect(response.head?.headers["X-Connection"] == before)
        let after = await client.data.request("user.json").sender().response.head?.headers["X-Connection"]
        #expect(before == after)
    }

    private func failure(of client: APIClient) async -> APIError? {
        if case .failure(let error) = await client.data.request("user.json").sender().result { error } else { nil }
    }
}
#endif
