import Foundation

/// An HTTP/1.1 server in Python that returns its `email` package's reading of a multipart body. It shares no code with the
/// writer.
struct MultipartServer {
    /// A part as Python read it.
    struct Part: Codable, Equatable, Sendable {
        var name: String?
        var fileName: String?
        var disposition: String?
        var type: String
        /// True if the head of the part has a type. The default is text/plain.
        var hasType = true
        var extra: String?
        var length: Int
        var sha256: String?
        var text: String?
        var parts: [Part]?
    }

    /// A body as Python read it.
    struct Reading: Codable, Equatable, Sendable {
        var type: String
        var length: Int
        var isChunked: Bool
        /// The defects that the parser reported.
        var defects: [String]
        var parts: [Part]
    }

    private let server: PythonServer
    var url: String { server.url }

    init() throws {
        server = try PythonServer(script)
    }
}

private let script = #"""
    import email.policy, hashlib, http.server, json, sys
    from email.parser import BytesParser

    def describe(part):
        # The parser decodes each byte beyond ASCII separately.
        def text(value):
            return value and value.encode("utf-8", "surrogateescape").decode("utf-8")
        description = {
            "name": text(part.get_param("name", header="content-disposition")),
            "fileName": text(part.get_filename()),
            "disposition": part.get_content_disposition(),
            "type": part.get_content_type(),
            "hasType": "content-type" in part,
            "extra": part["x-extra"],
        }
        if part.is_multipart():
            parts = list(part.iter_parts())
            return description | {"length": len(parts), "parts": [describe(inner) for inner in parts]}
        content = part.get_payload(decode=True)
        description |= {"length": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        if len(content) < 1000:
            description["text"] = content.decode("utf-8", "replace")
        return description

    def defects(message):
        found = [type(defect).__name__ for defect in message.defects]
        for part in message.iter_parts() if message.is_multipart() else []:
            found += defects(part)
        return found

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def read_chunks(self):
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                if self.rfile.readline() != b"\r\n":
                    raise ValueError("a chunk is longer than it says")
            while self.rfile.readline() != b"\r\n":
                pass
            return body

        def do_POST(self):
            chunked = self.headers.get("transfer-encoding") == "chunked"
            body = self.read_chunks() if chunked else self.rfile.read(int(self.headers["content-length"]))
            head = b"Content-Type: " + self.headers["content-type"].encode("latin-1") + b"\r\n\r\n"
            message = BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
            parts = [describe(part) for part in message.iter_parts()] if message.is_multipart() else []
            answer = json.dumps({
                "type": message.get_content_type(), "length": len(body), "isChunked": chunked,
                "defects": defects(message), "parts": parts,
            }).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print("ready")
    server.serve_forever()
    """#
