import SluiceHTTP

extension TransportConformance {
    /// Cases for header fields of requests and responses.
    static let headerCases: [Case] = [
        Case("Request headers arrive in their order, repeated ones each") { trial in
            trial.server.on("/", .text(""))
            let headers: HTTPHeaders = ["X-B": "1", "X-A": "2", "x-b": "3", "X-C": "a, b; c=\"d\""]
            _ = try await trial.exchange(trial.request(headers: headers))
            let seen = trial.server.requests.first?.headers.filter { $0.name.rawValue.lowercased().hasPrefix("x-") }
            let lines = seen?.map { "\($0.name.rawValue.lowercased()): \($0.value)" }
            try trial.expectEqual(lines, ["x-b: 1", "x-a: 2", "x-b: 3", "x-c: a, b; c=\"d\""], "The headers")
        },
        Case("A request header without a value is sent") { trial in
            trial.server.on("/", .text(""))
            _ = try await trial.exchange(trial.request(headers: ["X-Empty": "", "X-After": "1"]))
            try trial.expectEqual(trial.server.requests.first?.headers["X-Empty"], "", "The header X-Empty")
            try trial.expectEqual(trial.server.requests.first?.headers["X-After"], "1", "The header X-After")
        },
        Case("Request headers of one's own replace the transport's") { trial in
            trial.server.on("/", .text(""))
            let headers: HTTPHeaders = ["Host": "example.test", "User-Agent": "mine/1", "Accept": "a/b"]
            _ = try await trial.exchange(trial.request(headers: headers))
            for field in headers {
                let seen = trial.server.requests.first?.headers.values(for: field.name)
                try trial.expectEqual(seen, [field.value], "The header \(field.name)")
            }
        },
        Case("No content type is made up for a body") { trial in
            trial.server.on("/", .text(""))
            for method: HTTPMethod in [.post, .put] {
                _ = try await trial.exchange(trial.request(method, body: .data(.pattern(10))))
                let seen = trial.server.requests.last?.headers[.contentType]
                try trial.expectEqual(seen, nil, "The Content-Type of a \(method)")
            }
            try trial.expectEqual(trial.server.requestCount, 2, "The number of requests")
        },
        Case("The Host header is host and port") { trial in
            _ = try await trial.get(.text(""))
            let seen = trial.server.requests.first?.headers.values(for: .host)
            try trial.expectEqual(seen, [trial.server.authority], "The Host")
        },
        Case("Response headers come in their order, repeated ones each") { trial in
            let headers: HTTPHeaders = [
                "X-B": "1", "Set-Cookie": "a=1; Expires=Wed, 01 Jan 2100 00:00:00 GMT", "X-A": "2", "x-b": "3",
                "Set-Cookie": "b=2", "X-Empty": "",
            ]
            let answer = try await trial.get(.text("", headers: headers))
            try trial.expectEqual(
                answer.head.headers.values(for: .setCookie),
                headers.values(for: .setCookie),
                "The cookies"
            )
            let lines = answer.head.headers.prefix(headers.count).map {
                "\($0.name.rawValue.lowercased()): \($0.value)"
            }
            try trial.expectEqual(
                lines,
                headers.map { "\($0.name.rawValue.lowercased()): \($0.value)" },
                "The headers"
            )
        },
        Case("White space around a response header's value is no part of it") { trial in
            let head = "HTTP/1.1 200 OK\r\nX-A:1\r\nX-B: \t two words \t\r\nX-C: é\r\nContent-Length: 0\r\n\r\n"
            let answer = try await trial.get(.raw(head, thenClose: false))
            try trial.expectEqual(answer.head.headers["X-A"], "1", "The header X-A")
            try trial.expectEqual(answer.head.headers["X-B"], "two words", "The header X-B")
            try trial.expectEqual(answer.head.headers["X-C"], "é", "The header X-C, in UTF-8")
        },
        Case("Trailers are no headers") { trial in
            let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Trailer: 1\r\n\r\n"
            let answer = try await trial.get(.raw(text, thenClose: false))
            try trial.expectEqual(answer.text, "ok", "The body")
            try trial.expectEqual(answer.head.headers["X-Trailer"], nil, "The trailer among the headers")
        },
    ]
}
