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
