import Foundation

/// An HTTP/1.1 server in Python that verifies digests with `hashlib` as in RFC 7616, and Basic credentials.
///
/// The first segment of a path lists the offered algorithms, joined by `+`: `MD5`, `MD5-sess`, `SHA-256`, `SHA-512-256`, `basic`.
/// With the query `stale`, the first answer to each challenge is stale; with `always-stale`, every answer is.
struct DigestServer {
    /// The server's reading of an authorized request.
    struct Welcome: Codable, Equatable, Sendable {
        var scheme: String
        var algorithm: String?
        var method: String
        var length: Int
        var sha256: String
    }

    /// The requests that the server has received.
    struct Log: Codable, Equatable, Sendable {
        /// The scheme of `Authorization` in each request; empty if the field is missing.
        var schemes: [String]
        /// The lengths of the requests' bodies.
        var lengths: [Int]
    }

    private let server: PythonServer
    var url: String { server.url }

    init() throws {
        server = try PythonServer(script)
    }
}

private let script = #"""
    import base64, hashlib, http.server, json, os, re, sys, threading

    USER, PASSWORD, REALM = "ada", "s3cret, ünd so", "the realm"
    lock = threading.Lock()
    nonces, counts = {}, {}
    schemes, lengths = [], []

    def hashed(algorithm, text):
        name = algorithm.lower().removesuffix("-sess").replace("512-", "512_").replace("-", "")
        return hashlib.new(name, text.encode()).hexdigest()

    def parse(text):
        pattern = re.compile(r'([a-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))')
        return {name: quoted or bare for name, quoted, bare in pattern.findall(text)}

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

        def answer(self, status, value, headers=()):
            body = json.dumps(value).encode()
            self.send_response(status)
            for name, text in headers:
                self.send_header(name, text)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def challenge(self, offers, stale=False):
            headers = []
            for offer in offers:
                if offer == "basic":
                    headers.append(("WWW-Authenticate", f'Basic realm="{REALM}", charset="UTF-8"'))
                    continue
                nonce = os.urandom(16).hex()
                with lock:
                    nonces[nonce] = offer
                extra = ", stale=true" if stale else ""
                headers.append(("WWW-Authenticate",
                    f'Digest realm="{REALM}", qop="auth", algorithm={offer}, nonce="{nonce}", opaque="o{nonce}"{extra}'))
            self.answer(401, {"error": "stale" if stale else "who?"}, headers)

        def digest(self, fields):
            """The algorithm, if the digest is right."""
            algorithm = nonces.get(fields.get("nonce"))
            if not algorithm or fields["username"] != USER or fields["realm"] != REALM or fields["uri"] != self.path:
                return None
            if fields["qop"] != "auth" or fields["opaque"] != "o" + fields["nonce"] or fields["algorithm"] != algorithm:
                return None
            count = int(fields["nc"], 16)
            with lock:
                # A count that does not grow is a replay.
                if count <= counts.get(fields["nonce"], 0):
                    return None
                counts[fields["nonce"]] = count
            secret = hashed(algorithm, f"{USER}:{REALM}:{PASSWORD}")
            if algorithm.lower().endswith("-sess"):
                secret = hashed(algorithm, f"{secret}:{fields['nonce']}:{fields['cnonce']}")
            wanted = hashed(algorithm, ":".join([
                secret, fields["nonce"], fields["nc"], fields["cnonce"], "auth",
                hashed(algorithm, f"{self.command}:{self.path}"),
            ]))
            return algorithm if wanted == fields["response"] else None

        def handle_any(self):
            if self.headers.get("transfer-encoding") == "chunked":
                body = self.read_chunks()
            else:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.path == "/log":
                return self.answer(200, {"schemes": schemes, "lengths": lengths})
            path, _, query = self.path.partition("?")
            offers = path.split("/")[1].split("+")
            scheme, _, rest = (self.headers.get("authorization") or "").partition(" ")
            with lock:
                schemes.append(scheme)
                lengths.append(len(body))
            algorithm = None
            if scheme == "Basic" and "basic" in offers:
                if base64.b64decode(rest).decode() != f"{USER}:{PASSWORD}":
                    return self.challenge(offers)
            elif scheme == "Digest":
                fields = parse(rest)
                algorithm = self.digest(fields)
                if algorithm is None:
                    return self.challenge(offers)
                if query == "always-stale" or query == "stale" and schemes.count("Digest") == 1:
                    return self.challenge(offers, stale=True)
            else:
                return self.challenge(offers)
            self.answer(200, {
                "scheme": scheme, "algorithm": algorithm, "method": self.command, "length": len(body),
                "sha256": hashlib.sha256(body).hexdigest(),
            })

        do_GET = do_POST = do_PUT = do_DELETE = handle_any

        def log_message(self, *arguments):
            pass

    http.server.ThreadingHTTPServer.request_queue_size = 128
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print("ready")
    server.serve_forever()
    """#
