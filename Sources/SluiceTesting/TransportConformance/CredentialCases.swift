import SluiceFoundation
import SluiceHTTP

extension TransportConformance {
    /// Cases for credentials, which answer only the challenges of their origin.
    static let credentialCases: [Case] = [
        Case("Credentials answer a challenge, which the caller does not see") { trial in
            trial.guardRoot(says: String(repeating: "who? ", count: 50_000))
            let answer = try await trial.exchange(trial.request(), context: trial.credentials())
            try trial.expectEqual(answer.head.status, .ok, "The status")
            try trial.expectEqual(answer.head.headers["X-Challenge"], nil, "A header of the challenge")
            try trial.expectEqual(answer.text, "in", "The body")
            try trial.expectEqual(trial.authorizations, [[], [.ada]], "The credentials sent")
        },
        Case("Credentials for Basic only are sent without a challenge") { trial in
            trial.guardRoot()
            let answer = try await trial.exchange(trial.request(), context: trial.credentials(.basic))
            try trial.expectEqual(answer.text, "in", "The body")
            try trial.expectEqual(trial.authorizations, [[.ada]], "The credentials sent")
        },
        Case("Refused credentials return the 401 response") { trial in
            trial.guardRoot(says: "not you")
            let context = trial.credentials(password: "wrong")
            let answer = try await trial.exchange(trial.request(), context: context)
            try trial.expectEqual(answer.head.status, .unauthorized, "The status")
            try trial.expectEqual(answer.head.headers["X-Challenge"], "1", "A header of the response")
            try trial.expectEqual(answer.text, "not you", "The body")
            try trial.expectEqual(trial.server.requestCount, 2, "The number of requests")
            let alone = trial.credentials(.basic, password: "wrong")
            let refused = try await trial.exchange(trial.request(), context: alone)
            try trial.expectEqual(refused.text, "not you", "The body of the response without a challenge")
            try trial.expectEqual(trial.server.requestCount, 3, "The number of requests")
        },
        Case("A challenge that the credentials do not support is returned") { trial in
            for challenge in ["Bearer", "Negotiate", #"Basic realm="x""#] {
                let headers = HTTPHeaders([(HTTPHeaderName("WWW-Authenticate"), challenge)])
                trial.server.on("/", .text("who?", status: .unauthorized, headers: headers))
                let answer = try await trial.exchange(trial.request(), context: trial.credentials(.digest))
                try trial.expectEqual(answer.text, "who?", "The body")
            }
            try trial.expectEqual(trial.authorizations, [[], [], []], "The credentials sent")
        },
        Case("Credentials are sent only to their own origin") { trial in
            trial.guardRoot()
            for methods: ChallengeCredentials.Methods in [.basic, [.basic, .digest]] {
                let others = trial.credentials(methods, of: HTTPOrigin(scheme: "http", authority: "127.0.0.1:1"))
                let answer = try await trial.exchange(trial.request(), context: others)
                try trial.expectEqual(answer.head.status, .unauthorized, "The status")
            }
            try trial.expectEqual(trial.authorizations, [[], []], "The credentials sent")
        },
        Case("The transport does not keep credentials") { trial in
            trial.guardRoot()
            for context in [trial.credentials(.basic), TransferContext(), trial.credentials(.basic, password: "b")] {
                _ = try await trial.exchange(trial.request(), context: context)
            }
            try trial.expectEqual(trial.authorizations, [[.ada], [], ["Basic YWRhOmI="]], "The credentials sent")
        },
        Case("A request's own Authorization header replaces the credentials") { trial in
            trial.guardRoot()
            let own = trial.request(headers: ["Authorization": "Bearer t"])
            for methods: ChallengeCredentials.Methods in [.basic, [.basic, .digest]] {
                let answer = try await trial.exchange(own, context: trial.credentials(methods))
                try trial.expectEqual(answer.head.status, .unauthorized, "The status")
            }
            try trial.expectEqual(trial.authorizations, [["Bearer t"], ["Bearer t"]], "The credentials sent")
        },
        Case("Credentials that cannot be sent fail with invalidHeader") { trial in
            for user in ["a:b", "a\0b", "a\r\nb", "a\u{7F}"] {
                try await trial.expectFailure(.invalidHeader) {
                    let context = trial.credentials(.basic, user: user)
                    _ = try await trial.exchange(trial.request(), context: context)
                }
            }
            try trial.expectEqual(trial.server.requests(to: "/").count, 0, "The number of requests")
        },
        Case("A replayable body is sent again after a challenge") { trial in
            trial.guardRoot()
            let pattern = Data.pattern(300_000)
            let replayable = RequestBody.stream(
                ScriptedChunks(chunks: Array(repeating: pattern, count: 3)),
                isReplayable: true
            )
            for (body, length) in [
                (RequestBody.data(Data("x".utf8)), 1), (.data(pattern), 300_000), (replayable, 900_000),
            ] {
                let answer = try await trial.exchange(
                    trial.request(.put, body: body),
                    context: trial.credentials()
                )
                try trial.expectEqual(answer.text, "in", "The body")
                try trial.expectEqual(trial.server.requests.last?.body.count, length, "The length of the received body")
            }
            try trial.expectEqual(
                trial.server.requests.last?.body.suffix(300_000),
                pattern,
                "The end of the received body"
            )
        },
        Case("A body that can be read only once fails with bodyNotReplayable after a challenge") { trial in
            trial.guardRoot()
            try await trial.expectFailure(.bodyNotReplayable) {
                let once = RequestBody.stream(ScriptedChunks(chunks: [Data("once".utf8)]))
                _ = try await trial.exchange(trial.request(.put, body: once), context: trial.credentials())
            }
            try trial.expectEqual(trial.authorizations.flatMap { $0 }, [], "The credentials sent")
        },
    ]
}

extension String {
    /// The credentials of user “ada” with the password “pw”.
    fileprivate static let ada = "Basic YWRhOnB3"
}

extension ConformanceTrial {
    fileprivate func credentials(
        _ methods: ChallengeCredentials.Methods = [.basic, .digest],
        user: String = "ada",
        password: String = "pw",
        of origin: HTTPOrigin? = nil
    ) -> TransferContext {
        let origin = origin ?? HTTPOrigin(scheme: "http", authority: server.authority)
        return TransferContext(
            credentials: ChallengeCredentials(user: user, password: password, methods: methods, origin: origin)
        )
    }

    /// Answers requests to `/` with 200 if they have Ada's credentials, and with 401 otherwise.
    fileprivate func guardRoot(says text: String = "who?") {
        let headers: HTTPHeaders = ["WWW-Authenticate": #"Basic realm="x""#, "X-Challenge": "1"]
        server.on("/") { request in
            request.headers[.authorization] == .ada
                ? .text("in") : .text(text, status: .unauthorized, headers: headers)
        }
    }

    /// The `Authorization` field values of each request to `/`.
    fileprivate var authorizations: [[String]] {
        server.requests(to: "/").map { $0.headers.values(for: .authorization) }
    }
}

// MARK: - Cookie cases

extension TransportConformance {
    /// Cases for cookies, which are stored and sent only with a cookie jar in the context.
    static let cookieCases: [Case] = [
        Case("No cookies are stored without a jar") { trial in
            try trial.expectEqual(try await trial.cookies(settingIn: nil, sendingFrom: nil), [], "The cookies")
        },
        Case("A jar's cookies are sent to the hosts and paths they are for") { trial in
            let jar = CookieJar()
            let sent = try await trial.cookies(settingIn: jar, sendingFrom: jar)
            try trial.expectEqual(sent, ["a=1"], "The cookies")
        },
        Case("A jar's cookies are not sent with another jar or without one") { trial in
            let jar = CookieJar()
            let none = try await trial.cookies(settingIn: jar, sendingFrom: nil)
            try trial.expectEqual(none, [], "The cookies without a jar")
            let other = try await trial.cookies(settingIn: jar, sendingFrom: CookieJar())
            try trial.expectEqual(other, [], "The other jar's cookies")
            let own = try await trial.cookies(settingIn: nil, sendingFrom: jar)
            try trial.expectEqual(own, ["a=1"], "The jar's own cookies")
        },
        Case("An expired cookie is removed from the jar") { trial in
            let jar = CookieJar()
            _ = try await trial.cookies(settingIn: jar, sendingFrom: jar)
            let sent = try await trial.cookies(
                "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/",
                settingIn: jar,
                sendingFrom: jar
            )
            try trial.expectEqual(sent, [], "The cookies")
        },
        Case("A host cannot set cookies for another") { trial in
            let jar = CookieJar()
            let sent = try await trial.cookies("a=1; Domain=example.com; Path=/", settingIn: jar, sendingFrom: jar)
            try trial.expectEqual(sent, [], "The cookies")
        },
        Case("A request's own Cookie header replaces the jar's cookies") { trial in
            let jar = CookieJar()
            trial.server.on("/", .text("", headers: ["Set-Cookie": "a=1; Path=/"]))
            let own = trial.request(headers: ["Cookie": "own=1"])
            for _ in 0..<2 { _ = try await trial.exchange(own, context: TransferContext(cookies: jar)) }
            let sent = trial.server.requests.map { $0.headers.values(for: .cookie) }
            try trial.expectEqual(sent, [["own=1"], ["own=1"]], "The cookies")
        },
    ]
}

extension ConformanceTrial {
    /// Returns the cookies of a second request, after the server has set two in the first, one of them for another path.
    fileprivate func cookies(
        _ first: String = "a=1; Path=/",
        settingIn setting: CookieJar?,
        sendingFrom sending: CookieJar?
    ) async throws -> [String] {
        server.on("/set", .text("", headers: ["Set-Cookie": first, "Set-Cookie": "b=2; Path=/elsewhere"]))
        server.on("/", .text(""))
        _ = try await exchange(request(.get, "/set"), context: TransferContext(cookies: setting))
        _ = try await exchange(request(), context: TransferContext(cookies: sending))
        try expectEqual(server.requestCount > 1, true, "The arrival of both requests")
        return server.requests.last?.headers.values(for: .cookie) ?? []
    }
}
