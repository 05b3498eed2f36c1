import SluiceFoundation
import SluiceHTTP

extension TransportConformance {
    /// Cases for requests and their responses.
    static let exchangeCases: [Case] = [
        Case("A GET returns status, headers and body") { trial in
            let answer = try await trial.get(.text("hello", status: .created, headers: ["X-One": "1"]))
            try trial.expectEqual(answer.head.status, .created, "The status")
            try trial.expectEqual(answer.head.version, .http1_1, "The version")
            try trial.expectEqual(answer.head.headers["x-one"], "1", "The header X-One")
            try trial.expectEqual(answer.text, "hello", "The body")
            try trial.expectEqual(trial.server.requests.map(\.method), [.get], "The methods that the server received")
            try trial.expectEqual(trial.server.requests.map(\.body.count), [0], "The request bodies' lengths")
        },
        Case("Every method is sent unchanged, including custom ones") { trial in
            trial.server.on("/") { .text($0.method.rawValue) }
            for method: HTTPMethod in [.get, .post, .put, .patch, .delete, .options, "PURGE", "purge"] {
                let answer = try await trial.exchange(trial.request(method))
                try trial.expectEqual(answer.text, method.rawValue, "The method that the server received")
            }
        },
        Case("HEAD returns the headers and no body, and the connection is reused") { trial in
            trial.server.on("/", .text("twelve bytes"))
            let head = try await trial.exchange(trial.request(.head))
            try trial.expectEqual(head.head.headers[.contentLength], "12", "The Content-Length of HEAD")
            try trial.expectEqual(head.body.count, 0, "The length of the body of HEAD")
            let get = try await trial.exchange(trial.request(.get))
            try trial.expectEqual(get.text, "twelve bytes", "The body of the GET after it")
            try trial.expectEqual(trial.server.connections, 1, "The number of connections")
        },
        Case("A percent-encoded path and query arrive unchanged") { trial in
            trial.server.on("*") { .text($0.target) }
            for path in ["/a%20b%2Fc%c3%A9", "/?", "/?a=b&a=%26+%20&&=", "/x?u=http://y/?z", "/(a);b=c,d/~'!$*:@"] {
                let answer = try await trial.exchange(trial.request(.get, path))
                try trial.expectEqual(answer.text, path, "The request target")
            }
        },
        Case("A status of 4xx or 5xx is not an error") { trial in
            for status: HTTPStatus in [400, 404, 418, 429, 500, 503, 599] {
                let answer = try await trial.get(.text("sorry", status: status))
                try trial.expectEqual(answer.head.status, status, "The status")
                try trial.expectEqual(answer.text, "sorry", "The body of the \(status)")
            }
        },
        Case("A redirect is returned unchanged") { trial in
            trial.server.on("/elsewhere", .text("followed"))
            for status: HTTPStatus in [301, 302, 303, 307, 308] {
                let answer = try await trial.get(.redirect(to: "/elsewhere", status: status))
                try trial.expectEqual(answer.head.status, status, "The status")
                try trial.expectEqual(answer.head.headers[.location], "/elsewhere", "The Location")
            }
            try trial.expectEqual(trial.server.requests(to: "/elsewhere").count, 0, "The number of followed redirects")
        },
        Case("401 and 407 are returned unchanged") { trial in
            for (status, header) in [(401, "WWW-Authenticate"), (407, "Proxy-Authenticate")] {
                let headers = HTTPHeaders([(HTTPHeaderName(header), #"Basic realm="x""#)])
                let answer = try await trial.get(.text("who?", status: HTTPStatus(rawValue: status), headers: headers))
                try trial.expectEqual(answer.head.status.rawValue, status, "The status")
                try trial.expectEqual(answer.head.headers[HTTPHeaderName(header)], #"Basic realm="x""#, header)
                try trial.expectEqual(answer.text, "who?", "The body")
            }
            try trial.expectEqual(trial.server.requestCount, 2, "The number of requests")
        },
        Case("Informational responses are skipped") { trial in
            let final = LoopbackResponse.text("final")
            let hinted = LoopbackResponse.informational(103, headers: ["Link": "</style.css>"], then: final)
            for response in [hinted, .informational(100, then: final), .informational(102, then: hinted)] {
                let answer = try await trial.get(response)
                try trial.expectEqual(answer.head.status, .ok, "The status")
                try trial.expectEqual(answer.head.headers["Link"], nil, "The header of the informational response")
                try trial.expectEqual(answer.text, "final", "The body")
            }
        },
        Case("A cacheable response is requested again") { trial in
            trial.server.on(
                "/",
                .text("old", headers: ["Cache-Control": "max-age=3600", "ETag": "\"1\""]),
                .text("new")
            )
            _ = try await trial.exchange(trial.request())
            let answer = try await trial.exchange(trial.request())
            try trial.expectEqual(answer.text, "new", "The second response")
            try trial.expectEqual(trial.server.requests.last?.headers["If-None-Match"], nil, "The validator sent")
        },
        Case("A status line without a reason phrase and one of HTTP/1.0 are accepted") { trial in
            let bare = try await trial.get(.raw("HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok", thenClose: false))
            try trial.expectEqual(bare.text, "ok", "The body")
            let old = try await trial.get(.raw("HTTP/1.0 200 OK\r\nContent-Type: a/b\r\n\r\nold", thenClose: true))
            try trial.expectEqual(old.text, "old", "The body of HTTP/1.0")
            try trial.expectEqual(old.head.version, .http1_0, "The version")
        },
    ]

    /// Cases for header fields of requests and responses.
    static let headerCases: [Case] = [
        Case("Request headers arrive in order, and repeated ones are not combined") { trial in
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
        Case("A request's own headers replace the transport's") { trial in
            trial.server.on("/", .text(""))
            let headers: HTTPHeaders = ["Host": "example.test", "User-Agent": "mine/1", "Accept": "a/b"]
            _ = try await trial.exchange(trial.request(headers: headers))
            for field in headers {
                let seen = trial.server.requests.first?.headers.values(for: field.name)
                try trial.expectEqual(seen, [field.value], "The header \(field.name)")
            }
        },
        Case("No content type is added for a body") { trial in
            trial.server.on("/", .text(""))
            for method: HTTPMethod in [.post, .put] {
                _ = try await trial.exchange(trial.request(method, body: .data(.pattern(10))))
                let seen = trial.server.requests.last?.headers[.contentType]
                try trial.expectEqual(seen, nil, "The Content-Type of a \(method)")
            }
            try trial.expectEqual(trial.server.requestCount, 2, "The number of requests")
        },
        Case("The Host header contains host and port") { trial in
            _ = try await trial.get(.text(""))
            let seen = trial.server.requests.first?.headers.values(for: .host)
            try trial.expectEqual(seen, [trial.server.authority], "The Host")
        },
        Case("Response headers are returned in order, and repeated ones are not combined") { trial in
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
        Case("White space around a response header's value is removed") { trial in
            let head = "HTTP/1.1 200 OK\r\nX-A:1\r\nX-B: \t two words \t\r\nX-C: é\r\nContent-Length: 0\r\n\r\n"
            let answer = try await trial.get(.raw(head, thenClose: false))
            try trial.expectEqual(answer.head.headers["X-A"], "1", "The header X-A")
            try trial.expectEqual(answer.head.headers["X-B"], "two words", "The header X-B")
            try trial.expectEqual(answer.head.headers["X-C"], "é", "The header X-C, in UTF-8")
        },
        Case("Trailers are not added to the headers") { trial in
            let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Trailer: 1\r\n\r\n"
            let answer = try await trial.get(.raw(text, thenClose: false))
            try trial.expectEqual(answer.text, "ok", "The body")
            try trial.expectEqual(answer.head.headers["X-Trailer"], nil, "The trailer field in the headers")
        },
    ]

    static let metricsCases: [Case] = [
        Case("Metrics report the received bytes for every framing") { trial in
            for response in [
                LoopbackResponse.data(.pattern(12_345)), .chunked([.pattern(12_000), .pattern(345)]),
                .untilClose(.pattern(12_345)),
            ] {
                let metrics = try await trial.get(response).metrics
                try trial.expectEqual(metrics?.bytesReceived, 12_345, "The bytes received")
                try trial.expect(metrics.map { $0.total > .zero } ?? false, "The total time is zero or unknown.")
                try trial.expectEqual(metrics?.version, .http1_1, "The version")
            }
        },
        Case("Metrics report the sent bytes") { trial in
            trial.server.on("/", .text("ok"))
            let stream = RequestBody.stream(ScriptedChunks(chunks: [.pattern(1000), .pattern(234)]))
            for body in [RequestBody.data(.pattern(1234)), stream] {
                let metrics = try await trial.exchange(trial.request(.put, body: body)).metrics
                try trial.expectEqual(metrics?.bytesSent, 1234, "The bytes sent")
            }
        },
        Case("Metrics report times in order, and include the server's time") { trial in
            let response = LoopbackResponse.delayed(by: .milliseconds(50), .text("late"))
            let metrics = try await trial.get(response).metrics ?? TransferMetrics()
            try trial.expect(metrics.firstByte >= .milliseconds(45), "The first byte came after \(metrics.firstByte).")
            try trial.expect(metrics.connect <= metrics.firstByte, "The first byte came before the connection.")
            try trial.expect(metrics.firstByte <= metrics.total, "The last byte came before the first.")
        },
        Case("Metrics report whether a connection was reused, and its remote address") { trial in
            let first = try await trial.get(.text("1")).metrics
            let second = try await trial.get(.text("2")).metrics
            try trial.expectEqual(first?.isConnectionReused, false, "The first request's reuse")
            try trial.expectEqual(second?.isConnectionReused, true, "The second request's reuse")
            try trial.expectEqual(second?.remoteAddress, trial.server.authority, "The remote address")
        },
        Case("Metrics are available after a body was read chunk by chunk") { trial in
            trial.server.on("/", .data(.pattern(300_000)))
            let response = try await trial.transport.send(trial.request(), context: TransferContext())
            for try await _ in response.body {}
            try trial.expectEqual(response.body.metrics?.bytesReceived, 300_000, "The bytes received")
        },
    ]
}

// MARK: - Expectation cases

extension TransportConformance {
    /// Cases for bodies that are sent after a 100 (Continue) response (RFC 9110 §10.1.1).
    static let expectationCases: [Case] = [
        Case("A body that waits for 100 arrives complete, and 100 and 103 are skipped") { trial in
            trial.server.on("/", .informational(103, headers: ["Link": "</a>"], then: .text("ok")))
            for body in [RequestBody.data(.pattern(100)), .data(.pattern(3_000_000)), .once(3_000_000)] {
                let answer = try await trial.sendExpectingContinue(body)
                try trial.expectEqual(answer.head.status, .ok, "The status")
                try trial.expectEqual(answer.head.headers["Link"], nil, "A field of the informational response")
                try trial.expectEqual(answer.text, "ok", "The response")
                try trial.expectEqual(trial.server.requests.last?.headers[.expect], "100-continue", "The Expect field")
            }
            try trial.expectEqual(trial.server.requests.map(\.body.count), [100, 3_000_000, 3_000_000], "The lengths")
        },
        Case("A refusal in place of 100 is the response, and the next request works") { trial in
            for status: HTTPStatus in [413, .unauthorized, .ok] {
                trial.server.onExpectation { _ in .refused(.text("no", status: status)) }
                for body in [RequestBody.data(.pattern(100)), .data(.pattern(3_000_000)), .once(3_000_000)] {
                    let answer = try await trial.sendExpectingContinue(body)
                    try trial.expectEqual(answer.head.status, status, "The status")
                    try trial.expectEqual(answer.text, "no", "The response")
                    try trial.expectEqual(trial.server.requests.last?.body.count, 0, "The length of the received body")
                    let next = try await trial.get(.text("next"))
                    try trial.expectEqual(next.text, "next", "The response to the next request")
                }
            }
        },
        Case("A server that does not send 100 gets the body after the wait") { trial in
            trial.server.on("/", .text("ok"))
            trial.server.onExpectation { _ in .ignored }
            let context = TransferContext(timeouts: Timeouts(continueWait: .milliseconds(50)))
            let answer = try await trial.sendExpectingContinue(.once(300_000), context)
            try trial.expectEqual(answer.text, "ok", "The response")
            try trial.expectEqual(trial.server.requests.map(\.body.count), [300_000], "The length of the received body")
        },
        Case("A server that rejects Expect with 417 gets the body without it") { trial in
            trial.server.on("/", .text("ok"))
            trial.server.onExpectation { _ in .refused(.text("what?", status: 417)) }
            for body in [RequestBody.data(.pattern(100)), .data(.pattern(3_000_000)), .once(3_000_000)] {
                let answer = try await trial.sendExpectingContinue(body)
                try trial.expectEqual(answer.head.status, .ok, "The status")
                try trial.expectEqual(answer.text, "ok", "The response")
                let asked = trial.server.requests.suffix(2).map { $0.headers.contains(.expect) }
                try trial.expectEqual(asked, [true, false], "The presence of Expect in each request")
                try trial.expectEqual(
                    trial.server.requests.last.map { Int64($0.body.count) },
                    body.length,
                    "The length"
                )
            }
        },
        Case("A request without content has no Expect field") { trial in
            trial.server.on("/", .text("ok"))
            for body in [RequestBody.none, .data(Data())] {
                let answer = try await trial.sendExpectingContinue(body)
                try trial.expectEqual(answer.text, "ok", "The response")
                try trial.expectEqual(trial.server.requests.last?.headers[.expect], nil, "The Expect field")
            }
        },
    ]
}

extension RequestBody {
    fileprivate static func once(_ count: Int) -> RequestBody {
        .stream(ScriptedChunks(chunks: [.pattern(count)]), length: Int64(count))
    }
}

extension ConformanceTrial {
    fileprivate func sendExpectingContinue(_ body: RequestBody, _ context: TransferContext? = nil) async throws
        -> Answer
    {
        // The wait is longer than the time limit of a case, so no case passes because the wait ended.
        let context = context ?? TransferContext(timeouts: Timeouts(continueWait: .seconds(600)))
        return try await exchange(request(.put, headers: ["Expect": "100-continue"], body: body), context: context)
    }
}
