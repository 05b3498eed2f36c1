import Foundation
import SluiceHTTP
import Testing

@testable import Sluice
@testable import SluiceTesting

/// Binary responses of any length. A cassette contains them as they are, unless they contain the name of a secret.
@Suite struct CassetteSearchTests {
    /// A network that answers with a body in pieces.
    private struct Network: Transport {
        static let pieceSize = 300_000

        let body: Data
        let type: String

        func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
            let stream = AsyncStream<Data> { continuation in
                for start in stride(from: 0, to: body.count, by: Self.pieceSize) {
                    continuation.yield(Data(body.dropFirst(start).prefix(Self.pieceSize)))
                }
                continuation.finish()
            }
            let head = HTTPResponse(status: .ok, headers: [.contentType: type])
            return TransportResponse(head: head, body: ResponseBody(stream))
        }
    }

    private let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
    private let request = HTTPRequest(scheme: "http", authority: "shop.test", path: "/file")

    private func tearDown() { try? FileManager.default.removeItem(at: folder) }

    private var paths: [String] {
        ((try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []).filter { !$0.hasSuffix(".bodies") }
    }

    private func isInFile(_ text: String) -> Bool {
        paths.contains { path in
            let contents = try? Data(contentsOf: folder.appending(path: path))
            return contents?.range(of: Data(text.utf8)) != nil
        }
    }

    /// Records a response, and returns its body as it is played back.
    private func replayed(_ body: Data, _ type: String = "application/octet-stream") async throws -> Data {
        let file = folder.appending(path: "cassette.json")
        let recording = CassetteTransport(recording: Network(body: body, type: type), to: file, mode: .always)
        let received = try await recording.send(request, context: TransferContext()).body.collect()
        #expect(received == body, "The client receives the response as it is.")
        try await waitUntil("the temporary file is removed") { !paths.contains { $0.contains(".bodies/.") } }
        let played = try await CassetteTransport(replaying: file).send(request, context: TransferContext())
        return try await played.body.collect()
    }

    private static func randomBytes(_ count: Int) -> Data {
        var generator = SeededGenerator(seed: 1)
        var bytes = Data(capacity: count)
        while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) } }
        return bytes
    }

    /// In the last case, the name begins in one piece and ends in the next.
    @Test(arguments: [(1, 512 << 10), (1, 2 << 20), (5 * Network.pieceSize - 9, 1 << 20)])
    func secretInBinaryBodyIsInNoFile(_ start: Int, _ rest: Int) async throws {
        defer { tearDown() }
        let body =
            Data(repeating: 0xFF, count: start) + Data("access_token=s3cret".utf8) + Data(repeating: 0xFF, count: rest)
        let played = try await replayed(body)
        #expect(played == Data("REDACTED".utf8))
        #expect(!isInFile("s3cret") && isInFile("REDACTED"))
    }

    @Test func textInLongBinaryBodyIsSearched() async throws {
        defer { tearDown() }
        let body = Data(repeating: 0xFF, count: 2 << 20) + Data("https://ada:s3cret@shop.test/".utf8)
        #expect(try await replayed(body) == Data("REDACTED".utf8))
        #expect(!isInFile("s3cret"))
    }

    /// By chance, random bytes contain short names and signs.
    @Test func longBinaryBodyWithoutNameIsKept() async throws {
        defer { tearDown() }
        let body = Self.randomBytes(2 << 20) + Data([0xFF]) + Data("pw=1".utf8) + Data([0xFF])
        #expect(try await replayed(body) == body)
    }

    @Test(arguments: [1 << 10, 5 << 18])
    func compressedFileIsSearchedDecompressed(_ count: Int) async throws {
        defer { tearDown() }
        // A debug build takes seconds to search a long file.
        let isShort = count < 1 << 20
        let contents = Self.randomBytes(count)
        let clean = try contents.gzip
        let members = try clean + Data("name=Ada".utf8).gzip + Data(count: 100)
        for body in isShort ? [clean, members, clean.dropLast(20)] : [clean] {
            #expect(try await replayed(body, "application/gzip") == body)
        }
        let secret = Data("access_token=s3cret".utf8)
        let both = try clean + secret.gzip
        let bodies = try isShort ? [(contents + secret).gzip, both, clean + secret] : [both]
        for body in bodies { #expect(try await replayed(body, "application/gzip") == Data("REDACTED".utf8)) }
        guard isShort else { return }
        let nested = try clean.gzip
        let table = try Data("id,ssn,pin\n1,123-45-6789,0000\n".utf8).gzip
        let object = try Data(#"{"pin":"1234"}"#.utf8).gzip
        for body in [nested, table, object] { #expect(try await replayed(body) == Data("REDACTED".utf8)) }
        let damaged = clean.prefix(100) + Data(repeating: 0xFF, count: count)
        let zstandard = Data([0x28, 0xB5, 0x2F, 0xFD]) + contents
        for body in [damaged, zstandard] { #expect(try await replayed(body) == Data("REDACTED".utf8)) }
    }

    @Test func mediaAreNotSearched() async throws {
        defer { tearDown() }
        for count in [1 << 10, 2 << 20] {
            let body = Data(repeating: 0xFF, count: count) + Data("token".utf8)
            #expect(try await replayed(body, "video/mp4") == body)
        }
    }
}

extension Data {
    /// The bytes as a gzip file.
    var gzip: Data {
        get throws {
            let encoder = try #require(GzipEncoder(level: 1))
            var output = Data()
            encoder.compress(self, into: &output)
            encoder.finish(into: &output)
            return output
        }
    }
}
