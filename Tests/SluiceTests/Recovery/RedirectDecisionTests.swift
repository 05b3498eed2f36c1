import Testing

@testable import Sluice

/// Decisions of the user about redirects, and the detection of loops.
@Suite struct RedirectDecisionTests {
    private struct Refused: Error {}

    private static func request(_ url: String = "https://a.b/x") throws -> HTTPRequest {
        try APIClient(baseURL: "").data.request(url).httpRequest()
    }

    private static let head = HTTPResponse(status: 302, headers: [.location: "https://c.d/z"])

    private static func next(
        _ decide: @escaping @Sendable (RedirectProposal) -> RedirectDecision
    ) throws -> HTTPRequest? {
        try RedirectPolicy(decide: decide).next(after: head, to: try request(), visited: ["GET https://a.b/x"])
    }

    @Test func proposalContainsRequestResponseAndCount() throws {
        let seen = Locked<RedirectProposal?>(nil)
        let next = try Self.next { proposal in
            seen.withLock { $0 = proposal }
            return .follow
        }
        let proposal = try #require(seen.withLock { $0 })
        #expect(next?.url == "https://c.d/z")
        #expect(proposal.next.url == "https://c.d/z")
        #expect(proposal.request.url == "https://a.b/x")
        #expect(proposal.response.status == .found)
        #expect(proposal.count == 1)
        #expect(proposal.leavesOrigin)
    }

    @Test func decisionCanSendOtherRequest() throws {
        let next = try Self.next { proposal in
            var next = proposal.next
            next.headers["X-Redirected"] = "\(proposal.count)"
            return .send(next)
        }
        #expect(next?.headers["X-Redirected"] == "1")
        // The closure may even send the request to a URL that it has visited.
        #expect(try Self.next { .send($0.request) }?.url == "https://a.b/x")
    }

    @Test func decisionCanStopAtRedirect() throws {
        #expect(try Self.next { _ in .stop } == nil)
    }

    @Test func decisionCanFailRequest() throws {
        let own = #expect(throws: SluiceError.self) { try Self.next { _ in .fail(Refused()) } }
        #expect(own?.code == .redirectRefused)
        #expect(own?.underlyingError is Refused)
        #expect(own?.response?.status == .found)
        let typed = #expect(throws: SluiceError.self) {
            try Self.next { _ in .fail(SluiceError(.unsupported, "Not there.")) }
        }
        #expect(typed?.code == .unsupported)
        #expect(typed?.step == .recovery)
    }

    @Test(arguments: ["http://a.b/", "ftp://a.b/", "https://a:b@c.d/"])
    func decisionCannotOverrideRefusedLocation(_ location: String) throws {
        let calls = Locked(0)
        let policy = RedirectPolicy { proposal in
            calls.withLock { $0 += 1 }
            return .send(proposal.request)
        }
        let head = HTTPResponse(status: 302, headers: [.location: location])
        let error = #expect(throws: SluiceError.self) {
            try policy.next(after: head, to: try Self.request(), visited: [])
        }
        #expect(error?.code == .redirectRefused)
        #expect(calls.withLock(\.self) == 0)
    }

    @Test func repeatedURLIsLoopOnlyWithoutCookies() throws {
        let head = HTTPResponse(status: 302, headers: [.location: "/x"])
        let request = try Self.request()
        let visited = ["GET https://a.b/x"]
        let error = #expect(throws: SluiceError.self) {
            try RedirectPolicy().next(after: head, to: request, visited: visited)
        }
        #expect(error?.code == .redirectLoop)
        #expect(
            try RedirectPolicy().next(after: head, to: request, visited: visited, keepsCookies: true)?.url
                == "https://a.b/x"
        )
        var post = request
        post.method = .post
        #expect(try RedirectPolicy().next(after: head, to: post, visited: ["POST https://a.b/x"])?.method == .get)
    }

    @Test func limitAppliesWithCookies() throws {
        let visited = Array(repeating: "GET https://a.b/x", count: 3)
        let head = HTTPResponse(status: 302, headers: [.location: "/x"])
        for limit in 1...3 {
            let result = Result {
                try RedirectPolicy(limit: limit)
                    .next(after: head, to: try Self.request(), visited: visited, keepsCookies: true)
            }
            if limit < 3 {
                #expect(throws: SluiceError.self) { try result.get() }
            } else {
                #expect(try result.get()?.url == "https://a.b/x")
            }
        }
        #expect(try RedirectPolicy(limit: -1).next(after: head, to: try Self.request(), visited: visited) == nil)
    }
}
