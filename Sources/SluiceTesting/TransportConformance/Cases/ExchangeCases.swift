import SluiceHTTP

extension TransportConformance {
    /// Cases for requests and their responses.
    static let exchangeCases: [Case] = [
        Case("A GET brings status, headers and body") { trial in
            let answer = try await trial.get(.text("hello", status: .created, headers: ["X-One": "1"]))
            try trial.expectEqual(answer.head.status, .created, "The status")
            try trial.expectEqual(answer.head.version, .http1_1, "The version")
            try trial.expectEqual(answer.head.headers["x-one"], "1", "The header X-One")
            try trial.expectEqual(answer.text, "hello", "The body")
            try trial.expectEqual(trial.server.requests.map(\.method), [.get], "The methods the server saw")
            try trial.expectEqual(trial.server.requests.map(\.body.count), [0], "The request bodies' lengths")
        },
        Case("Every method goes out as it is, one of one's own too") { trial in
            trial.server.on("/") { .text($0.method.rawValue) }
            for method: HTTPMethod in [.get, .post, .put, .patch, .delete, .options, "PURGE", "purge"] {
                let answer = try await trial.exchange(trial.request(method))
                try trial.expectEqual(answer.text, method.rawValue, "The method the server saw")
            }
        },
        Case("HEAD brings the headers and no body, and the connection is used again") { trial in
            trial.server.on("/", .text("twelve bytes"))
            let head = try await trial.exchange(trial.request(.head))
            try trial.expectEqual(head.head.headers[.contentLength], "12", "The Content-Length of HEAD")
            try trial.expectEqual(head.body.count, 0, "The body's length of HEAD")
            let get = try await trial.exchange(trial.request(.get))
            try trial.expectEqual(get.text, "twelve bytes", "The body of the GET after it")
            try trial.expectEqual(trial.server.connections, 1, "The number of connections")
        },
        Case("A percent-encoded path and query arrive untouched") { trial in
            trial.server.on("*") { .text($0.target) }
            for path in ["/a%20b%2Fc%c3%A9", "/?", "/?a=b&a=%26+%20&&=", "/x?u=http://y/?z", "/(a);b=c,d/~'!$*:@"] {
                let answer = try await trial.exchange(trial.request(.get, path))
                try trial.expectEqual(answer.text, path, "The request target")
            }
        },
        Case("A status of 4xx or 5xx is no error") { trial in
            for status: HTTPStatus in [400, 404, 418, 429, 500, 503, 599] {
                let answer = try await trial.get(.text("sorry", status: status))
                try trial.expectEqual(answer.head.status, status, "The status")
                try trial.expectEqual(answer.text, "sorry", "The body of the \(status)")
            }
        },
        Case("A redirect comes back as it is") { trial in
            trial.server.on("/elsewhere", .text("followed"))
            for status: HTTPStatus in [301, 302, 303, 307, 308] {
                let answer = try await trial.get(.redirect(to: "/elsewhere", status: status))
                try trial.expectEqual(answer.head.status, status, "The status")
                try trial.expectEqual(answer.head.headers[.location], "/elsewhere", "The Location")
            }
            try trial.expectEqual(trial.server.requests(to: "/elsewhere").count, 0, "The number of followed redirects")
        },
        Case("401 and 407 come back as they are") { trial in
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
        Case("A response that could be cached is asked for again") { trial in
            trial.server.on(
                "/",
                .text("old", headers: ["Cache-Control": "max-age=3600", "ETag": "\"1\""]),
                .text("new")
            )
            _ = try await trial.exchange(trial.request())
            let answer = try await trial.exchange(trial.request())
            try trial.expectEqual(answer.text, "new", "The second answer")
            try trial.expectEqual(trial.server.requests.last?.headers["If-None-Match"], nil, "The validator sent")
        },
        Case("A status line without a reason and one of HTTP/1.0 are understood") { trial in
            let bare = try await trial.get(.raw("HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok", thenClose: false))
            try trial.expectEqual(bare.text, "ok", "The body")
            let old = try await trial.get(.raw("HTTP/1.0 200 OK\r\nContent-Type: a/b\r\n\r\nold", thenClose: true))
            try trial.expectEqual(old.text, "old", "The body of HTTP/1.0")
            try trial.expectEqual(old.head.version, .http1_0, "The version")
        },
    ]
}
