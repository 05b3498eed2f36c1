import Foundation
import Sluice

/// A proxy in Python for HTTP with tunnels, plain or over TLS, and SOCKS 4, 4a and 5, all on one port.
///
/// Hosts below `.test` lead to this computer. The proxy refuses `refused.test`, and closes the connection for `dropped.test`.
struct ProxyServer {
    /// A request to the proxy.
    struct Visit: Codable, Equatable, Sendable {
        var connection: Int
        /// The method, or the SOCKS version.
        var kind: String
        var target: String
        /// Header fields with lowercase names; for SOCKS, the user.
        var headers: [String: String]
    }

    static var canRun: Bool { PythonServer.canRun && RealServer.canRun("openssl") }

    private let server: PythonServer
    /// `127.0.0.1:PORT`
    var address: String { String(server.url.dropFirst("http://".count)) }

    /// Starts a proxy.
    ///
    /// - Parameters:
    ///   - user: The user that the proxy accepts; nil for no authentication.
    ///   - password: The password.
    ///   - methods: The HTTP authentication schemes: `basic`, `digest`.
    ///   - certificate: The files of a certificate and its key, for TLS.
    /// - Throws: An error if the proxy does not start.
    init(
        user: String? = nil,
        password: String = "",
        methods: [String] = ["basic"],
        certificate: (file: String, key: String)? = nil
    ) throws {
        let settings = [
            "USER": user.map(ProxyServer.quoted) ?? "None", "PASSWORD": ProxyServer.quoted(password),
            "METHODS": ProxyServer.quoted(methods.joined(separator: " ")),
            "CERTIFICATE": certificate.map { ProxyServer.quoted($0.file) } ?? "None",
            "KEY": certificate.map { ProxyServer.quoted($0.key) } ?? "None",
        ]
        server = try PythonServer(settings.map { "\($0) = \($1)\n" }.joined() + script)
    }

    /// Returns a text as a Python literal.
    private static func quoted(_ text: String) -> String {
        "bytes([\(text.utf8.map { "\($0)" }.joined(separator: ","))]).decode()"
    }

    /// The point at which tunnels are held.
    enum Hold: String, CaseIterable {
        case answer, handshake, released
    }

    /// Holds tunnels before the response or before the inner handshake, or releases them.
    func hold(_ hold: Hold) async throws {
        let client = APIClient(baseURL: server.url) { $0.connection.proxy = .none }
        _ = try await client.data.get("hold/\(hold.rawValue)").sender().value
    }

    /// The requests to the proxy. A plain request inside a tunnel has the kind `cleartext`.
    var visits: [Visit] {
        get async throws {
            let client = APIClient(baseURL: server.url) { $0.connection.proxy = .none }
            return try await client.codable.request("log", as: [Visit].self).sender().value
        }
    }
}

private let script = #"""
    import base64, hashlib, http.client, json, os, re, socket, ssl, sys, threading

    lock = threading.Lock()
    gates = {"answer": threading.Event(), "handshake": threading.Event()}
    for gate in gates.values():
        gate.set()
    log, nonces = [], set()

    def note(number, kind, target, headers):
        with lock:
            log.append({"connection": number, "kind": kind, "target": target, "headers": headers})

    def resolved(host):
        return "127.0.0.1" if host.endswith(".test") or host == "localhost" else host

    def connect(host, port):
        return socket.create_connection((resolved(host.strip("[]")), port), 10)

    def pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def splice(client, server):
        thread = threading.Thread(target=pump, args=(server, client), daemon=True)
        thread.start()
        pump(client, server)
        thread.join()

    def take(client, count):
        data = b""
        while len(data) < count:
            more = client.recv(count - len(data))
            if not more:
                raise OSError("closed")
            data += more
        return data

    def take_until(client, end):
        data = b""
        while not data.endswith(end):
            data += take(client, 1)
        return data

    def is_authorized(method, target, headers):
        scheme, _, rest = headers.get("proxy-authorization", "").partition(" ")
        if scheme == "Basic" and "basic" in METHODS:
            return base64.b64decode(rest).decode() == f"{USER}:{PASSWORD}"
        if scheme != "Digest" or "digest" not in METHODS:
            return False
        found = re.findall(r'([a-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))', rest)
        fields = {name: quoted or bare for name, quoted, bare in found}
        hashed = lambda text: hashlib.md5(text.encode()).hexdigest()
        wanted = hashed(":".join([
            hashed(f"{USER}:proxy:{PASSWORD}"), fields["nonce"], fields["nc"], fields["cnonce"], "auth",
            hashed(f"{method}:{fields['uri']}"),
        ]))
        return target.endswith(fields["uri"]) and fields["nonce"] in nonces and wanted == fields["response"]

    def answer(client, status, headers=(), body=b""):
        head = f"HTTP/1.1 {status} {http.client.responses[status]}\r\n"
        for name, value in headers:
            head += f"{name}: {value}\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        client.sendall(head.encode() + body)

    def challenge(client):
        fields = []
        if "digest" in METHODS:
            nonce = os.urandom(16).hex()
            nonces.add(nonce)
            fields.append(("Proxy-Authenticate", f'Digest realm="proxy", qop="auth", nonce="{nonce}"'))
        if "basic" in METHODS:
            fields.append(("Proxy-Authenticate", 'Basic realm="proxy"'))
        answer(client, 407, fields, b"who?")

    def read_body(client, headers):
        if headers.get("transfer-encoding") != "chunked":
            return take(client, int(headers.get("content-length", 0)))
        body = b""
        while size := int(take_until(client, b"\r\n").split(b";")[0], 16):
            body += take(client, size)
            take(client, 2)
        while take_until(client, b"\r\n") != b"\r\n":
            pass
        return body

    def serve_http(client, number):
        while True:
            lines = take_until(client, b"\r\n\r\n").decode().split("\r\n")
            method, target, _ = lines[0].split(" ")
            fields = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines[1:] if line)]
            headers = {name.lower(): value for name, value in fields}
            if target == "/log":
                answer(client, 200, [("Content-Type", "application/json")], json.dumps(log).encode())
                continue
            if target.startswith("/hold/"):
                place = target[6:]
                for name, gate in gates.items():
                    gate.clear() if name == place else gate.set()
                answer(client, 204)
                continue
            note(number, method, target, headers)
            body = b"" if method == "CONNECT" else read_body(client, headers)
            if USER is not None and not is_authorized(method, target, headers):
                challenge(client)
                continue
            authority = target if method == "CONNECT" else target.split("/")[2]
            host, _, port = authority.rpartition(":") if re.search(r":\d+$", authority) else (authority, ":", "80")
            if host == "dropped.test":
                return
            if host == "refused.test":
                answer(client, 403, body=b"no")
                continue
            if method == "CONNECT":
                gates["answer"].wait()
                try:
                    server = connect(host, int(port))
                except OSError:
                    answer(client, 502)
                    continue
                client.sendall(b"HTTP/1.1 200 Connection established\r\nX-Proxy: tunnel\r\n\r\n")
                if not isinstance(client, ssl.SSLSocket):
                    client.recv(1, socket.MSG_PEEK)
                    gates["handshake"].wait()
                    # A handshake contains the name in lowercase.
                    if b"HTTP/1.1" in client.recv(65536, socket.MSG_PEEK):
                        note(number, "cleartext", target, {})
                return splice(client, server)
            server = http.client.HTTPConnection(resolved(host.strip("[]")), int(port))
            server.putrequest(method, "/" + target.split("/", 3)[3], skip_host=True, skip_accept_encoding=True)
            hidden = ("proxy-authorization", "connection", "proxy-connection", "transfer-encoding", "content-length")
            for name, value in fields:
                if name.lower() not in hidden:
                    server.putheader(name, value)
            if body:
                server.putheader("Content-Length", str(len(body)))
            server.endheaders(body or None)
            response = server.getresponse()
            back = [pair for pair in response.getheaders() if pair[0].lower() not in hidden]
            answer(client, response.status, back + [("Via", "1.1 proxy")], response.read())

    def serve_socks5(client, number):
        take(client, 1)
        methods = take(client, take(client, 1)[0])
        headers = {}
        if USER is None:
            client.sendall(b"\x05\x00")
        elif 2 not in methods:
            note(number, "socks5", "", {})
            return client.sendall(b"\x05\xff")
        else:
            client.sendall(b"\x05\x02")
            take(client, 1)
            user = take(client, take(client, 1)[0]).decode()
            password = take(client, take(client, 1)[0]).decode()
            headers["user"] = user
            if (user, password) != (USER, PASSWORD):
                note(number, "socks5", "", headers)
                return client.sendall(b"\x01\x01")
            client.sendall(b"\x01\x00")
        _, _, _, form = take(client, 4)
        if form == 3:
            host = take(client, take(client, 1)[0]).decode()
        else:
            host = socket.inet_ntop(socket.AF_INET if form == 1 else socket.AF_INET6, take(client, 4 if form == 1 else 16))
        port = int.from_bytes(take(client, 2), "big")
        note(number, "socks5", f"{host}:{port}", headers)
        reply = lambda code: client.sendall(bytes([5, code, 0, 1, 0, 0, 0, 0, 0, 0]))
        if host == "dropped.test":
            return
        if host == "refused.test":
            return reply(2)
        try:
            server = connect(host, port)
        except OSError:
            return reply(5)
        reply(0)
        splice(client, server)

    def serve_socks4(client, number):
        take(client, 2)
        port = int.from_bytes(take(client, 2), "big")
        address = take(client, 4)
        user = take_until(client, b"\0")[:-1].decode()
        isNamed = address[:3] == b"\0\0\0"
        host = take_until(client, b"\0")[:-1].decode() if isNamed else socket.inet_ntoa(address)
        note(number, "socks4", f"{host}:{port}", {"user": user})
        if host == "refused.test":
            return client.sendall(b"\x00\x5b" + bytes(6))
        server = connect(host, port)
        client.sendall(b"\x00\x5a" + bytes(6))
        splice(client, server)

    def serve(client, number):
        try:
            first = client.recv(1, socket.MSG_PEEK)
            if first == b"\x16":
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(CERTIFICATE, KEY)
                client = context.wrap_socket(client, server_side=True)
            {b"\x05": serve_socks5, b"\x04": serve_socks4}.get(first, serve_http)(client, number)
        except OSError:
            pass
        finally:
            client.close()

    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=256)
    print("ready")
    number = 0
    while True:
        client, _ = listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        number += 1
        threading.Thread(target=serve, args=(client, number), daemon=True).start()
    """#
