#if os(Linux)
import Foundation
import Sluice
import XCTest

/// Compressed request bodies, read by Python's `gzip`.
final class CompressionTests: XCTestCase {
    /// The request as the server received it.
    private struct Reading: Codable {
        var encoding: String?
        var isChunked: Bool
        var encodedLength: Int
        var length: Int
        var sha256: String
    }

    func testServerDecompressesDataFilesAndStreams() async throws {
        try XCTSkipUnless(PythonServer.canRun, "python3 is not installed")
        let server = try PythonServer(script)
        let client = APIClient(baseURL: server.url) { $0.requestInterceptors = [CompressBody()] }
        let words = Data((0..<400_000).map { "\($0 % 1000) " }.joined().utf8)
        let file = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try words.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let text = "import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())"
        let expected = try RealServer.run("python3", "-I", "-c", text, file.path).trimmingCharacters(in: .newlines)
        let form: MultipartForm = [.file(file, name: "words")]
        let stream = RequestBody.stream(Pieces(bytes: words), length: Int64(words.count), isReplayable: true)
        let bodies: [(APIRequest<Reading, APIError>, isChunked: Bool)] = [
            (client.codable.put("").data(words), false),
            (client.codable.put("").file(file), true),
            (client.codable.request("").put().body(stream), true),
        ]
        for (request, isChunked) in bodies {
            let reading = try await request.sender().value
            XCTAssertEqual(reading.encoding, "gzip")
            XCTAssertEqual(reading.isChunked, isChunked)
            XCTAssertEqual(reading.length, words.count)
            XCTAssertEqual(reading.sha256, expected)
            XCTAssertLessThan(reading.encodedLength, words.count / 4)
        }
        let sent: Reading = try await client.codable.post("").multipart(form).sender().value
        XCTAssertEqual(sent.encoding, "gzip")
        XCTAssertGreaterThan(sent.length, words.count)
    }
}

private let script = #"""
    import gzip, hashlib, http.server, json, sys

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def read_chunks(self):
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline() != b"\r\n":
                pass
            return body

        def handle_any(self):
            chunked = self.headers.get("transfer-encoding") == "chunked"
            body = self.read_chunks() if chunked else self.rfile.read(int(self.headers["content-length"]))
            encoding = self.headers.get("content-encoding")
            plain = gzip.decompress(body) if encoding == "gzip" else body
            answer = json.dumps({
                "encoding": encoding, "isChunked": chunked, "encodedLength": len(body), "length": len(plain),
                "sha256": hashlib.sha256(plain).hexdigest(),
            }).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_PUT = handle_any

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print("ready")
    server.serve_forever()
    """#
#endif
