import Foundation
import SluiceTesting

/// Writes documents of many formats with the same secret in them, at random.
struct SecretDocuments {
    var generator: SeededGenerator
    /// Only letters and digits, so that no encoding but Base64 hides it.
    let secret: String

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        secret = "Zq\(generator.next())X"
    }

    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int(generator.next() % UInt64(values.count))]
    }

    /// A secret name in a random spelling.
    mutating func name() -> String {
        let words = pick([
            ["password"], ["access", "token"], ["client", "secret"], ["api", "key"], ["new", "password"], ["pw"],
            ["db", "pass"], ["session"], ["user", "session"], ["session", "id"], ["ticket"], ["csrf"],
            ["xsrf", "token"],
            ["authentication"], ["x", "auth"], ["private", "key"], ["db", "credentials"], ["id", "token", "2"], ["otp"],
            ["login", "pin"], ["pass", "phrase"], ["phpsessid"], ["jwt"],
        ])
        return switch generator.next() % 5 {
        case 0: words.joined(separator: "_")
        case 1: words.joined(separator: "-")
        case 2: words.map(\.capitalized).joined()
        case 3: words.joined(separator: "_").uppercased()
        default: ([words[0]] + words.dropFirst().map(\.capitalized)).joined()
        }
    }

    /// The name of a secret field of a message.
    mutating func fieldName() -> String {
        pick([
            "Authorization", "X-Auth", "X-Session", "X-CSRF", "Authentication", "X-Ticket", "Cookie", "X-Api-Key",
            "X-DB-Pw", "X-XSRF", "Proxy-Authorization", "X-Session-Id", "PHPSESSID", "X-Otp",
        ])
    }

    /// A value in quotation marks, with characters that end other values.
    mutating func value() -> String {
        pick([
            secret, secret, "a&\(secret);b", "x, \(secret)", "{\(secret)", "a b=\(secret)", "(\(secret))",
            "it''s\(secret)",
        ])
    }

    mutating func word() -> String {
        pick(["user", "ada", "created", "größe", "id", "note", "max", "é", "first name"])
    }

    mutating func quoted(_ text: String) -> String {
        let json = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(json)\""
    }

    static func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || (0x30...0x39).contains(byte))
            return isPlain ? String(Unicode.Scalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}

// MARK: - Formats

extension SecretDocuments {
    /// A document of a random format, and its type.
    mutating func document(depth: Int = 0) -> (text: String, type: String) {
        switch generator.next() % 9 {
        case 0, 1: (json(depth: depth), "application/json")
        case 2: (xml(depth: depth), pick(["application/xml", "text/xml", "application/soap+xml"]))
        case 3: (yaml(), "application/yaml")
        case 4: (graphQL(), pick(["application/json", "application/graphql"]))
        case 5: (key(), "application/x-pem-file")
        case 6: (form(depth: depth), "application/x-www-form-urlencoded")
        case 7: (html(), "text/html")
        default: (lines(depth: depth), pick(["text/plain", "text/csv", "application/toml"]))
        }
    }

    mutating func json(depth: Int) -> String {
        let (name, value) = (name(), quoted(value()))
        let spelled = pick([quoted(name), "\"\\u00\(String(name.utf8.first ?? 0x70, radix: 16))\(name.dropFirst())\""])
        let naming = pick(["name", "key", "field", "header", "Name", "param"])
        return pick([
            "{\(spelled): \(value), \"\(word())\": 1}", "{\"a\":[1,{\(spelled):{\"x\":[\(value)]}}]}",
            "[{\"\(naming)\":\"\(name)\",\"value\":\(value)}]", "{\"v\":\(value),\"\(naming)\":\"\(name)\",\"id\":1}",
            "{\"type\":\"\(name)\",\"value\":\(value)}",
            "{\"headers\":[[\"\(fieldName())\",\(value)],[\"Accept\",\"*/*\"]]}",
            "{\"rawHeaders\":[\"Accept\",\"*/*\",\"\(fieldName())\",\(value)]}",
            "{\"columns\":[\"user\",\"\(name)\"],\"rows\":[[\"ada\",\(value)]]}",
            "[[\"user\",\"\(name)\",\"age\"],[\"ada\",\(value),36]]",
            "{\"kty\":\"RSA\",\"n\":\"abc\",\"d\":\"\(secret)\"}",
            "{\"\(word())\":\(quoted(nested(depth)))}", "[\(quoted(nested(depth)))]",
            "{\"a\":1}\n{\(spelled):\(value)}\n",
            "{\(spelled):\(value)", "{'\(name)':'\(secret)'}", "{\"a\":\"https://ada:\(secret)@b.c/?q=1\"}",
            "{\"\(word())\":\"https://b.c/?\(name)=\(secret)\"}",
        ])
    }

    /// A document inside another.
    private mutating func nested(_ depth: Int) -> String {
        depth < 3 ? document(depth: depth + 1).text : "\(name())=\(secret)"
    }

    mutating func xml(depth: Int) -> String {
        let (name, text) = (name(), Self.escaped(value()))
        let naming = pick(["name", "key", "Name", "field"])
        let inner = pick([
            "<\(name)>\(text)</\(name)>", "<w:\(name) Type=\"x\">\(text)</w:\(name)>", "<a \(name)=\"\(text)\"/>",
            "<\(name)><![CDATA[\(secret)]]></\(name)>", "<\(name) value=\"\(text)\"/>",
            "<\(name)>\n <b c=\"\(text)\">x</b>\n</\(name)>",
            "<param \(naming)=\"\(name)\">\(text)</param>", "<param \(naming)='\(name)' value='\(secret)'/>",
            "<input value=\"\(text)\" \(naming)=\"\(name)\"/>",
            "<entry><\(naming)>\(name)</\(naming)><value>\(text)</value></entry>",
            "<entry><value>\(text)</value><\(naming)>\(name)</\(naming)></entry>",
            "<dict><key>\(name)</key><string>\(text)</string><key>a</key><string>b</string></dict>",
            "<note>\(Self.escaped(nested(depth)))</note>",
            "<note><![CDATA[\(nested(depth).replacing("]]>", with: ""))]]></note>",
            "<!-- \(name): \(secret) -->", "<row><td>\(name)</td><td>\(text)</td></row>",
        ])
        return pick([
            "<?xml version=\"1.0\"?>\n<r>\n<user>ada</user>\(inner)</r>", "<r>\(inner)</r>", "<r>\(inner)",
            "<s:Envelope xmlns:s=\"urn:s\"><s:Header>\(inner)</s:Header><s:Body/></s:Envelope>",
            "<!DOCTYPE r [<!ENTITY x \"\(secret)\">]><r><\(name)>&x;</\(name)></r>",
        ])
    }

    mutating func yaml() -> String {
        let name = name()
        let naming = pick(["name", "key"])
        return pick([
            "user: ada\n\(name): \(secret)\nage: 36\n", "a:\n  \(name): '\(secret)'\n", "\(name):\n  \(secret)\nb: 1\n",
            "\(name): |\n  one\n  \(secret)\nb: 1\n", "\(name): >-\n  \(secret)\n", "\(name):\n  - a\n  - \(secret)\n",
            "\(name):\n- \(secret)\n", "- \(naming): \(name)\n  value: \(secret)\n",
            "{\(naming): \(name), value: \(secret)}",
            "\"\(name)\" : \"\(secret)\"\n", "? \(name)\n: \(secret)\n", "\(name): 'it''s \(secret)'\n",
            "\(name): one\n  \(secret)\n", "\(name): !!str &a \(secret)\n",
            "---\nenv:\n- \(naming): \(name)\n  value: \(secret)\n",
        ])
    }

    mutating func graphQL() -> String {
        let name = pick(["password", "apiKey", "access_token", "pw", "clientSecret", "ticket"])
        let query = pick([
            "mutation { login(user: \"ada\", \(name): \"\(secret)\") { id } }",
            "mutation {\n login(\n  \(name):\n   \"\(secret)\"\n ) { id }\n}",
            "mutation { login(\(name): \"\"\"a \(secret)\"\"\") { id } }",
            "mutation { set(input: {name: \"\(name)\", value: \"\(secret)\"}) { id } }",
            "mutation { login(input: {\(name): {value: \"\(secret)\"}}) { id } }",
        ])
        return pick([
            query, "{\"query\":\(quoted(query))}",
            "{\"query\":\"mutation($p: String!) { login(\(name): $p) { id } }\","
                + "\"variables\":{\"p\":\"\(secret)\"}}",
            "{\"variables\":{\"\(name)\":\"\(secret)\"},\"query\":\"mutation { a }\"}",
        ])
    }

    mutating func key() -> String {
        let kind = pick(["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
        let body = "MIIEvQIBADANBgkq\n\(secret)\nhkiG9w0BAQEF"
        return pick([
            "-----BEGIN \(kind)PRIVATE KEY-----\n\(body)\n-----END \(kind)PRIVATE KEY-----\n",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n-----BEGIN \(kind)PRIVATE KEY-----\n\(body)",
        ])
    }

    mutating func form(depth: Int) -> String {
        let (name, value) = (name(), Self.percentEncoded(value()))
        return pick([
            "a=1&\(name)=\(value)&b=2", "user%5B\(name)%5D=\(value)", "\(name)=\(secret)", "key=\(name)&value=\(value)",
            "data=\(Self.percentEncoded(nested(depth)))&x=1",
            "data=\(Self.percentEncoded(Self.percentEncoded(nested(depth))))",
            json(depth: depth), "data={\"a\":\"b&c\",\"\(name)\":\"\(secret)\"}&x=1", xml(depth: depth),
        ])
    }

    mutating func html() -> String {
        let name = name()
        let inner = pick([
            "<input type=\"hidden\" name=\"\(name)\" value=\"\(secret)\">", "<input type=password value=\(secret)>",
            "<meta name=\"csrf-token\" content=\"\(secret)\">",
            "<script>var \(name.replacing("-", with: "_")) = \"\(secret)\";</script>",
            "<script>window.x = {\"\(name)\": \"\(secret)\"};</script>",
            "<a href=\"/x?\(name)=\(secret)&amp;b=1\">a</a>",
            "<table><tr><th>\(name)</th><td>\(secret)</td></tr></table>",
            "<table><tr><th>user</th><th>\(name)</th></tr><tr><td>ada</td><td>\(secret)</td></tr></table>",
        ])
        return "<!DOCTYPE html><html><head><title>x</title></head><body><p>one<br><p>two \(inner)</body></html>"
    }

    /// Lines of other formats.
    mutating func lines(depth: Int) -> String {
        let (name, field) = (name(), fieldName())
        return pick([
            "user,\(name)\nada,\(secret)\n", "user\t\(name)\tage\nada\t\(secret)\t36",
            "[db]\n\(name) = \"\(secret)\"\n",
            "export \(name)=\(secret)\n", "GET / HTTP/1.1\r\n\(field): \(secret)\r\nAccept: */*\r\n\r\n",
            "curl --\(name) \(secret) https://b.c", "\(name)=>\(secret)", "\(name) := '\(secret)'",
            "see https://ada:\(secret)@b.c/x", "sent Bearer \(secret) to it", "\(field): a\r\n \(secret)\r\nB: c",
            depth == 0 ? "password \(secret)\n" : "\(name)=\(secret)", "data: {\"\(name)\": \"\(secret)\"}\n\n",
        ])
    }
}

// MARK: - Messages

extension SecretDocuments {
    /// A body in bytes, perhaps with the label of another format, in another charset or inside a form.
    mutating func body() -> (Data, type: String?) {
        let (text, type) = document()
        let wrong: [String?] = [
            type, type, "application/x-www-form-urlencoded", "application/json", "text/plain", "application/xml", nil,
            "text/html; charset=utf-8", "application/octet-stream",
        ]
        let wide = text.data(using: .utf16LittleEndian) ?? Data()
        let part = "Content-Disposition: form-data; name=\"\(pick([name(), "file", "data"]))\"\r\nContent-Type: \(type)"
        return switch generator.next() % 8 {
        case 0: (Data("--b\r\n\(part)\r\n\r\n\(text)\r\n--b--".utf8), "multipart/form-data; boundary=b")
        case 1: (Data("--b\r\n\(part)\r\n\r\n\(text)".utf8), "multipart/form-data; boundary=b")
        case 2 where !text.contains("://ada:") && !text.contains("Bearer"): (wide, pick(wrong))
        case 3: (Data([0xFF, 0xFE]) + wide, type)
        case 4: (Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8), type)
        default: (Data(text.utf8), pick(wrong))
        }
    }

    mutating func path() -> String {
        let name = name()
        let json = json(depth: 2)
        let raw = "{\"a\":\"x\",\"\(name)\":\"\(secret)\"}"
        return pick([
            "/a?q=1&\(name)=\(secret)&z=2", "/a?user[\(name)]=\(secret)", "/a#\(name)=\(secret)",
            "/a;\(name)=\(secret)/b",
            "/a?code=\(secret)", "/a?ticket=ST-\(secret)", "/a?filter=\(Self.percentEncoded(json))&b=1",
            "/a?filter=\(raw)",
            "/a?filter={\"a\":\"x&y\",\"\(name)\":\"z;\(secret)\"}#b", "/a?key=\(name)&value=\(secret)",
            "/a?x=\(Self.percentEncoded(Self.percentEncoded(xml(depth: 2))))", "/a?x=\(Self.percentEncoded(key()))",
            "/a?next=https%3A%2F%2Fb.c%2F%3F\(name)%3D\(secret)", "/a?x=\(Self.percentEncoded(yaml()))",
            "/a?where=(name:\(name),value:\(secret))", "/a?query=\(Self.percentEncoded(graphQL()))",
        ])
    }

    mutating func headers() -> [(String, String)] {
        let document = pick([json(depth: 2), xml(depth: 2)]).replacing("\n", with: " ")
        let fields = [
            (fieldName(), pick(["", "Bearer ", "Basic ", "Custom ", "a="]) + secret), ("X-Tenant", secret),
            ("X-Debug", document), ("X-Note", "\(name())=\(secret)"), ("X-Key", key().replacing("\n", with: " ")),
        ]
        let links = [
            ("Location", "https://b.c\(path())"), ("Referer", "//ada:\(secret)@b.c/"),
            ("Link", "</p?\(name())=\(secret)>; rel=next"), ("X-Callback", "https://b.c/?\(name())=\(secret)"),
        ]
        return [("Accept", "*/*"), pick(fields), pick(fields), pick(links)]
    }

    /// A sentence of an error.
    mutating func sentence() -> String {
        pick([
            "cannot reach https://ada:\(secret)@b.c/x", "GET https://b.c\(path()) failed",
            "\(name())=\(secret) was refused",
            "the server said {\"\(name())\": \"\(secret)\", \"a\": 1}", "\(fieldName()): \(secret)\nnext",
            json(depth: 2),
            "the element <\(name())>\(secret)</x> is unknown", key(), "bad value: name: \(name()), value: \(secret)",
        ])
    }
}
