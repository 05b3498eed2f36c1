import Foundation
import Sluice
import SluiceHTTP
import SluiceTesting
import Testing

/// Secrets in any part of a request do not reach a log.
@Suite struct SecretLeakTests {
    /// Places the same secret in many places, under random names.
    private struct Planter {
        var generator: SeededGenerator
        let secret: String

        init(seed: UInt64) {
            generator = SeededGenerator(seed: seed)
            // Only letters and digits, so that no encoding hides it from the test.
            secret = "Zq\(generator.next())X"
        }

        mutating func pick<Value>(_ values: [Value]) -> Value {
            values[Int(generator.next() % UInt64(values.count))]
        }

        /// A secret name in a random spelling.
        mutating func name() -> String {
            let words = pick([
                ["access", "token"], ["password"], ["client", "secret"], ["api", "key"], ["refresh", "token"],
                ["new", "password"],
                ["id", "token"], ["x", "amz", "signature"], ["private", "key"], ["session", "id"],
                ["db", "credentials"],
            ])
            return switch generator.next() % 5 {
            case 0: words.joined(separator: "_")
            case 1: words.joined(separator: "-")
            case 2: words.map(\.capitalized).joined()
            case 3: words.joined(separator: "_").uppercased()
            default: words.joined()
            }
        }

        mutating func url() -> String {
            let nested = "https%3A%2F%2Fb.c%2F%3F\(name())%3D\(secret)"
            return pick([
                "/a?q=1&\(name())=\(secret)&z=2", "/a?user[\(name())]=\(secret)", "/a#\(name())=\(secret)",
                "/a?next=\(nested)",
                "/a;\(name())=\(secret)/b", "/a?code=\(secret)", "/a?x=%7B%22\(name())%22:%22\(secret)%22%7D",
            ])
        }

        mutating func sentence() -> String {
            pick([
                "cannot reach https://ada:\(secret)@b.c/x",
                "GET https://b.c\(url().replacing("%", with: "%25")) failed",
                "\(name())=\(secret) was refused", "\(name()): \(secret)", "Authorization: Bearer \(secret)\nnext",
                "the server said {\"\(name())\": \"\(secret)\", \"a\": 1}", "Basic \(secret)==",
                "\(name())='\(secret)'",
                "failed\nBearer \(secret)", "failed\r\npin: \(secret)", "failed\n\tpwd=\(secret)",
            ])
        }

        /// A body and its type.
        mutating func body() -> (String, String) {
            let json = pick([
                "{\"a\":[1,{\"\(name())\":\"\(secret)\"}]}", "{\"\(name())\":{\"a\":[\"\(secret)\"]}}",
                "[{\"\(name())\":\"\(secret)",
                "{\"url\":\"https:\\/\\/a:\(secret)@b.c\\/\"}", "{\"text\":\"{\\\"\(name())\\\":\\\"\(secret)\\\"}\"}",
            ])
            let part = "Content-Disposition: form-data; name=\"\(name())\"\r\n\r\n\(secret)"
            return pick([
                (json, "application/json"), (json, "text/html"), (json, "application/x-ndjson"),
                ("a=1&\(name())=\(secret)", "application/x-www-form-urlencoded"),
                ("--b\r\n\(part)\r\n--b--", "multipart/form-data; boundary=b"),
                ("--b\r\n\(part)", "multipart/form-data; boundary=b"),
                ("<\(name()) a=\"1\">\(secret)</x>", "application/xml"), ("\(name())\n\(secret)", "text/csv"),
                (sentence(), "text/plain"), ("\(json)\n\(json)", "application/json"),
            ])
        }

        mutating func headers() -> HTTPHeaders {
            var headers: HTTPHeaders = ["Accept": "*/*"]
            let scheme = pick(["Bearer ", "Basic ", "Digest username=\"a\", response=\"", "", "Custom "])
            headers.append(
                HTTPHeaderName(pick(["Authorization", "PROXY-AUTHORIZATION", "authorization"])),
                scheme + secret
            )
            headers.append(HTTPHeaderName(pick(["Cookie", "Set-Cookie", "X-Api-Key", "X-\(name())"])), "a=\(secret)")
            headers.append("X-Tenant", secret)
            headers.append(
                "Location",
                pick(["https://a:\(secret)@b.c/", "https://b.c\(url())", url(), "//a:\(secret)@b.c"])
            )
            headers.append("Link", "<https://b.c/?\(name())=\(secret)>; rel=next")
            return headers
        }

        mutating func request() -> HTTPRequest {
            let (body, type) = body()
            var headers = headers()
            headers[.contentType] = type
            return HTTPRequest(
                method: pick([.get, .post, .put]),
                scheme: "https",
                authority: pick(["b.c", "ada:\(secret)@b.c"]),
                path: url(),
                headers: headers,
                body: .data(Data(body.utf8))
            )
        }

        mutating func outcome() -> TransportOutcome {
            let (body, type) = body()
            var head = HTTPResponse(status: pick([200, 302, 401, 500]), headers: headers())
            head.headers[.contentType] = type
            if generator.next() % 3 == 0 {
                let cause = Trouble(description: sentence())
                return .failure(
                    SluiceError(.gateFailed, sentence(), request: request(), response: head, underlyingError: cause)
                )
            }
            return .success(ServerResponse(request: request(), head: head, body: Data(body.utf8)))
        }
    }

    private struct Trouble: Error, CustomStringConvertible {
        let description: String
    }

    @Test(arguments: [RequestLog.Level.failures, .summary, .headers, .full])
    func logsNoSecretAtAnyLevel(_ level: RequestLog.Level) throws {
        for seed in UInt64(0)..<150 {
            var planter = Planter(seed: seed)
            let lines = LoggedLines()
            let outcome = planter.outcome()
            guard
                case .success(let redirect) = TransportOutcome.success(
                    ServerResponse(
                        request: planter.request(),
                        head: HTTPResponse(status: 302, headers: planter.headers()),
                        body: Data()
                    )
                )
            else { return }
            lines.notify(
                lines.log(level, curl: true),
                secretHeaders: ["x-tenant"],
                [
                    (0, 0, .began(planter.request())), (1, 1, .waiting(gate: "gate")), (5, 1, .admitted(gate: "gate")),
                    (5, 1, .sending(planter.request())), (6, 1, .redirected(redirect, to: planter.request())),
                    (7, 1, .received(planter.outcome())), (8, 1, .retrying(after: .zero, planter.outcome())),
                    (8, 2, .refused(gate: "gate", SluiceError(.gateFailed, planter.sentence()))),
                    (9, 0, .finished(outcome)),
                    (9, 0, .finished(.failure(SluiceError(.cancelled, planter.sentence())))),
                ]
            )
            #expect(!lines.all.isEmpty)
            let leak = lines.all.first { $0.contains(planter.secret) }
            #expect(leak == nil, "seed \(seed)")
        }
    }

    @Test func logsSecretsWithoutRedaction() {
        var planter = Planter(seed: 1)
        let lines = LoggedLines()
        lines.notify(lines.log(.full, redaction: .none), [(0, 1, .sending(planter.request()))])
        #expect(lines.text.components(separatedBy: planter.secret).count > 5)
    }

    @Test func escapesLineBreaksAndTerminalCommands() {
        let hostile = "x\r\n10:15:30.123Z ← 200 GET\u{1B}[2J\u{85}\u{2028}\u{202E}"
        let request = HTTPRequest(
            method: HTTPMethod(rawValue: hostile),
            scheme: hostile,
            authority: hostile,
            path: hostile,
            headers: [
                HTTPHeaderName(hostile): hostile, "Location": hostile, "Cookie": hostile,
            ],
            body: .data(Data(hostile.utf8))
        )
        let response = ServerResponse(
            request: request,
            head: HTTPResponse(status: 200, headers: request.headers),
            body: Data(hostile.utf8)
        )
        let error = SluiceError(
            SluiceError.Code(hostile),
            hostile,
            request: request,
            underlyingError: Trouble(description: hostile)
        )
        let events: [RequestEvent] = [
            .began(request), .waiting(gate: hostile), .admitted(gate: hostile), .refused(gate: hostile, error),
            .sending(request),
            .redirected(response, to: request), .received(.success(response)), .received(.failure(error)),
            .retrying(after: .zero, .failure(error)), .hedging, .finished(.failure(error)),
        ]
        for level in [RequestLog.Level.failures, .summary, .headers, .full] {
            let lines = LoggedLines()
            lines.notify(lines.log(level, curl: true), events.enumerated().map { ($0.offset, 1, $0.element) })
            #expect(!lines.all.isEmpty)
            for entry in lines.all {
                let rows = entry.split(separator: "\n", omittingEmptySubsequences: false)
                #expect(rows.dropFirst().allSatisfy { $0.isEmpty || $0.hasPrefix("    ") })
                #expect(
                    !entry.unicodeScalars.contains {
                        $0 != "\n" && ($0.value < 0x20 || "\u{85}\u{2028}\u{202E}\u{1B}".unicodeScalars.contains($0))
                    }
                )
            }
        }
    }
}
