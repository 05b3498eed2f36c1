#if os(Linux)
import Foundation
import Sluice
import XCTest

/// Credentials against a server with its own Digest implementation.
final class DigestTests: XCTestCase {
    private typealias Welcome = DigestServer.Welcome

    private func server() throws -> DigestServer {
        try XCTSkipUnless(PythonServer.canRun, "python3 is not installed")
        return try DigestServer()
    }

    private func client(
        _ server: DigestServer,
        _ methods: ChallengeCredentials.Methods = [.basic, .digest],
        password: String = "s3cret, ünd so"
    ) -> APIClient {
        APIClient(baseURL: server.url) {
            $0.credentials = ChallengeCredentials(user: "ada", password: password, methods: methods)
        }
    }

    private func log(_ server: DigestServer) async throws -> DigestServer.Log {
        try await APIClient(baseURL: server.url).codable.get("log", as: DigestServer.Log.self).sender().value
    }

    func testAnswersEachAlgorithm() async throws {
        for algorithm in ["MD5", "MD5-sess", "SHA-256", "SHA-256-sess", "SHA-512-256"] {
            let server = try server()
            let request: APIRequest<Welcome, APIError> = client(server).codable.get("\(algorithm)/a?b=c&d=%20")
            let welcome = try await request.sender().value
            XCTAssertEqual(welcome.scheme, "Digest")
            XCTAssertEqual(welcome.algorithm, algorithm)
            let schemes = try await log(server).schemes
            XCTAssertEqual(schemes, ["", "Digest"])
        }
    }

    func testPrefersDigestToBasic() async throws {
        for offers in ["basic+MD5", "SHA-256+basic", "SHA-256+MD5"] {
            let server = try server()
            let welcome: Welcome = try await client(server).codable.get("\(offers)/").sender().value
            XCTAssertEqual(welcome.scheme, "Digest")
            let schemes = try await log(server).schemes
            XCTAssertFalse(schemes.contains("Basic"))
        }
    }

    func testSendsBasicIfNothingElseIsOffered() async throws {
        let server = try server()
        let welcome: Welcome = try await client(server).codable.get("basic/").sender().value
        XCTAssertEqual(welcome.scheme, "Basic")
        let error = await client(server, .digest).data.get("basic/").sender().result.failure
        XCTAssertEqual(error?.status, .unauthorized)
        let schemes = try await log(server).schemes
        XCTAssertEqual(schemes, ["", "Basic", ""])
    }

    func testResendsCompleteBodies() async throws {
        let server = try server()
        let bytes = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let file = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try bytes.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let expected = try hash(of: file)
        for methods: ChallengeCredentials.Methods in [.digest, [.basic, .digest]] {
            let factory = client(server, methods).codable
            let small: Welcome = try await factory.post("MD5/").json(["a": 1]).sender().value
            XCTAssertEqual(small.length, 7)
            XCTAssertEqual(small.method, "POST")
            let data: Welcome = try await factory.put("SHA-256/").data(bytes).sender().value
            let fromFile: Welcome = try await factory.put("MD5-sess/").file(file).sender().value
            let stream = RequestBody.stream(Pieces(bytes: bytes), isReplayable: true)
            let request: APIRequest<Welcome, APIError> = factory.request("MD5/").put().body(stream)
            let streamed = try await request.sender().value
            for welcome in [data, fromFile, streamed] {
                XCTAssertEqual(welcome.length, bytes.count)
                XCTAssertEqual(welcome.sha256, expected)
            }
        }
    }

    func testOneShotBodyRequiresDigestOnlyCredentials() async throws {
        let server = try server()
        func once() -> RequestBody { .stream(Pieces(bytes: Data("once".utf8))) }
        let known: APIRequest<Welcome, APIError> = client(server, .digest).codable.request("MD5/").put().body(once())
        let welcome = try await known.sender().value
        XCTAssertEqual(welcome.length, 4)
        let error = await client(server).data.request("MD5/").put().body(once()).sender().result.failure
        XCTAssertEqual(error?.code, .bodyNotReplayable)
    }

    func testReplacesStaleNonceOnce() async throws {
        let server = try server()
        let welcome: Welcome = try await client(server).codable.post("MD5/?stale").json([1]).sender().value
        XCTAssertEqual(welcome.length, 3)
        let schemes = try await log(server).schemes
        XCTAssertEqual(schemes, ["", "Digest", "Digest"])
    }

    func testRepeatedlyStaleNonceEndsWith401() async throws {
        let server = try server()
        let response = await client(server).data.get("MD5/?always-stale").sender().response
        XCTAssertEqual(response.status, .unauthorized)
        XCTAssertEqual(response.failure?.code, .unacceptableStatus)
        let schemes = try await log(server).schemes
        XCTAssertLessThan(schemes.count, 10)
    }

    func testWrongPasswordEndsWith401() async throws {
        for algorithm in ["MD5", "SHA-256"] {
            let server = try server()
            let response = await client(server, password: "wrong").data.get("\(algorithm)/").sender().response
            XCTAssertEqual(response.status, .unauthorized)
            XCTAssertEqual(String(decoding: response.body, as: UTF8.self), #"{"error": "who?"}"#)
            XCTAssertNotNil(response.head?.headers["WWW-Authenticate"])
            let schemes = try await log(server).schemes
            XCTAssertEqual(schemes, ["", "Digest"])
        }
    }

    func testAuthorizesConcurrentRequests() async throws {
        let server = try server()
        let client = client(server)
        try await withThrowingTaskGroup { group in
            for index in 0..<40 {
                group.addTask {
                    let request: APIRequest<Welcome, APIError> = client.codable.post("MD5/\(index)").json([index])
                    return try await request.sender().value.scheme
                }
            }
            for try await scheme in group { XCTAssertEqual(scheme, "Digest") }
        }
    }

    func testRequestOverridesOrDisablesCredentials() async throws {
        let server = try server()
        let own = ChallengeCredentials(user: "ada", password: "s3cret, ünd so")
        let plain = APIClient(baseURL: server.url)
        let welcome: Welcome = try await plain.codable.get("MD5/").credentials(own).sender().value
        XCTAssertEqual(welcome.scheme, "Digest")
        let none = await client(server).data.get("MD5/").credentials(nil).sender().response
        XCTAssertEqual(none.status, .unauthorized)
        let schemes = try await log(server).schemes
        XCTAssertEqual(schemes, ["", "Digest", ""])
    }

    private func hash(of file: URL) throws -> String {
        let text = "import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())"
        return try RealServer.run("python3", "-I", "-c", text, file.path).trimmingCharacters(in: .newlines)
    }
}

/// Bytes in pieces. Each iterator starts at the first one.
struct Pieces: AsyncSequence, Sendable {
    let bytes: Data

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes) }

    struct Iterator: AsyncIteratorProtocol {
        var rest: Data

        mutating func next() async -> Data? {
            if rest.isEmpty { return nil }
            defer { rest = rest.dropFirst(70_001) }
            return rest.prefix(70_001)
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
#endif
