#if os(Linux)
import Foundation
import SluiceCurl
import SluiceHTTP
import SluiceTesting
import Testing

/// Codings for the way alone, which libcurl would undo unasked, and whose bytes no limit sees.
@Suite struct TransferCodingTests {
    private static let gzip = Data([31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 203, 207, 6, 0, 71, 221, 220, 121, 2, 0, 0, 0])

    private func answer(_ coding: String, _ body: Data, method: HTTPMethod = .get) async throws -> Data {
        let server = try LoopbackServer()
        let head = Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\n\r\n".utf8)
        server.on("/", .raw(head + body, thenClose: true))
        let request = HTTPRequest(method: method, scheme: "http", authority: server.authority, path: "/")
        return try await CurlTransport().send(request, context: TransferContext()).body.collect()
    }

    private func chunked(_ body: Data) -> Data {
        Data("\(String(body.count, radix: 16))\r\n".utf8) + body + Data("\r\n0\r\n\r\n".utf8)
    }

    @Test(arguments: [
        "chunked", "Chunked", " chunked ", "chunked,", "identity, chunked", "chunked\r\nTransfer-Encoding: chunked",
    ])
    func chunksAreRead(_ coding: String) async throws {
        #expect(try await answer(coding, chunked(Data("ok".utf8))) == Data("ok".utf8))
    }

    @Test(
        arguments: [
            "gzip, chunked", "gzip,chunked", "deflate, chunked", "x-gzip, chunked", "br, chunked", "chunked, gzip",
            "chunked\r\nTransfer-Encoding: gzip", "unknown, chunked", "\"chunked\"",
        ]
    )
    func othersAreRefused(_ coding: String) async throws {
        let error = await #expect(throws: SluiceError.self) { try await answer(coding, chunked(Self.gzip)) }
        #expect(error?.code == .invalidResponse)
        let whole = await #expect(throws: SluiceError.self) { try await answer("gzip", Self.gzip) }
        #expect(whole?.code == .invalidResponse)
    }

    /// libcurl may answer it, and only the end shows that it does not.
    @Test func soAreThoseOfChallenges() async throws {
        let server = try LoopbackServer()
        let head = "HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: gzip, chunked\r\n"
        server.on(
            "/",
            .raw(Data("\(head)WWW-Authenticate: Unknown\r\n\r\n".utf8) + chunked(Self.gzip), thenClose: true)
        )
        let request = HTTPRequest(scheme: "http", authority: server.authority, path: "/")
        var context = TransferContext()
        context.credentials = ChallengeCredentials(
            user: "ada",
            password: "pw",
            methods: [.basic, .digest],
            origin: HTTPOrigin(scheme: "http", authority: server.authority)
        )
        let error = await #expect(throws: SluiceError.self) {
            try await CurlTransport().send(request, context: context).body.collect()
        }
        #expect(error?.code == .invalidResponse)
    }

    @Test func whereThereIsNoBodyItSaysNothing() async throws {
        #expect(try await answer("gzip, chunked", Data(), method: .head).isEmpty)
    }
}
#endif
