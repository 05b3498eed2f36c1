import Testing

@testable import Sluice

@Suite struct CredentialFieldTests {
    private static func value(
        _ interceptor: any RequestInterceptor,
        _ url: String = "https://a.b/x",
        header: HTTPHeaderName = .authorization,
        baseURL: String = "https://a.b/v1",
        tags: Set<String> = []
    ) async throws -> String? {
        try await Attempts(.get, url, tags: tags, baseURL: baseURL).next(interceptor).headers[header]
    }

    @Test func writesEachScheme() async throws {
        #expect(try await Self.value(BearerToken("t")) == "Bearer t")
        #expect(try await Self.value(CustomToken("t", scheme: "Token")) == "Token t")
        #expect(try await Self.value(CustomToken("t")) == "t")
        #expect(try await Self.value(CustomToken("t", header: "X-Key"), header: "x-key") == "t")
        #expect(try await Self.value(SuppliedToken { _ in "t" }) == "Bearer t")
        #expect(try await Self.value(SuppliedToken(scheme: nil, header: "X-Key") { _ in "t" }, header: "X-Key") == "t")
        // RFC 7617 §2 and §2.1
        let aladdin = BasicCredentials(user: "Aladdin", password: "open sesame")
        #expect(try await Self.value(aladdin) == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(try await Self.value(BasicCredentials(user: "test", password: "123£")) == "Basic dGVzdDoxMjPCow==")
        #expect(try await Self.value(BasicCredentials(user: "", password: "a:b")) == "Basic OmE6Yg==")
    }

    @Test(
        arguments: [
            ("https://a.b", "https://a.b/x", true), ("https://a.b/v1", "https://a.b:443/x", true),
            ("https://A.b", "https://a.B/x", true), ("http://a.b:80", "http://a.b/", true),
            ("https://a.b", "http://a.b/x", false), ("https://a.b", "https://a.b:8443/x", false),
            ("https://a.b", "https://c.a.b/x", false), ("https://a.b", "https://b/x", false),
            ("https://a.b", "https://a.b.c/x", false), ("https://[::1]:80", "https://[::1]/", false),
        ]
    )
    func sendsTokenToOriginOfBaseURLOnly(_ baseURL: String, _ url: String, _ isSent: Bool) async throws {
        for interceptor: any RequestInterceptor in [
            BearerToken("t"), CustomToken("t"), SuppliedToken { _ in "t" }, BasicCredentials(user: "a", password: "b"),
        ] {
            #expect((try await Self.value(interceptor, url, baseURL: baseURL) != nil) == isSent)
        }
    }

    @Test func sendsTokenToOriginsOfItsScope() async throws {
        let token = BearerToken("t", scope: .origins("https://a.b/any/path", "http://c.d:8080"))
        for (url, isSent) in [
            ("https://a.b/x", true), ("http://c.d:8080/", true), ("http://c.d/", false), ("https://e.f/", false),
        ] {
            #expect((try await Self.value(token, url, baseURL: "https://e.f") != nil) == isSent, "\(url)")
        }
        #expect(try await Self.value(BearerToken("t", scope: .origins([]))) == nil)
    }

    @Test(arguments: ["a.b", "", "ftp://a.b", "https://u:p@a.b", "https://"])
    func rejectsInvalidScope(_ url: String) async throws {
        let token = BearerToken("t", scope: .origins("https://a.b", url))
        let error = await #expect(throws: SluiceError.self) { try await Self.value(token) }
        #expect(error?.code == .invalidURL || error?.code == .unsupportedScheme)
    }

    @Test func requiresOriginsWithoutBaseURL() async throws {
        let error = await #expect(throws: SluiceError.self) { try await Self.value(BearerToken("t"), baseURL: "") }
        #expect(error?.code == .unsupported)
        let conditional = BearerToken("t") { !$0.tags.contains("public") }
        #expect(try await Self.value(conditional, baseURL: "", tags: ["public"]) == nil)
        #expect(try await Self.value(BearerToken("t", scope: .origins("https://a.b")), baseURL: "") == "Bearer t")
    }

    @Test func conditionOnTagsSelectsRequests() async throws {
        for (tags, expected) in [(["public"], nil), (["private"], "Bearer t"), ([], "Bearer t")]
            as [([String], String?)]
        {
            let token = BearerToken("t") { !$0.tags.contains("public") }
            #expect(try await Self.value(token, tags: Set(tags)) == expected)
        }
    }

    @Test func keepsHeaderOfRequest() async throws {
        let attempts = try Attempts(headers: ["authorization": "own", "X-Key": ""])
        let request = try await attempts.next(
            BearerToken("t"),
            BasicCredentials(user: "a", password: "b"),
            CustomToken("t", header: "x-key"),
            SuppliedToken { _ in
                Issue.record("The token was requested.")
                return "t"
            }
        )
        #expect(request.headers == ["authorization": "own", "X-Key": ""])
    }

    @Test func addsNoHeaderWithoutToken() async throws {
        for interceptor: any RequestInterceptor in [
            BearerToken(""), BearerToken { _ in nil }, CustomToken { _ in nil },
            CustomToken(scheme: "Token") { _ in "" },
            SuppliedToken { _ in nil }, SuppliedToken { _ in "" },
        ] {
            #expect(try await Self.value(interceptor) == nil)
        }
    }

    @Test(arguments: ["a:b", "a\u{0}", "a\r\nX: y", "\u{7F}"])
    func rejectsUserInvalidForBasic(_ user: String) async throws {
        let error = await #expect(throws: SluiceError.self) {
            try await Self.value(BasicCredentials(user: user, password: "p"))
        }
        #expect(error?.code == .invalidHeader)
    }

    @Test func readsTokenForEachRequest() async throws {
        let count = Locked(0)
        let token = BearerToken { _ in
            count.withLock { count in
                count += 1
                return "t\(count)"
            }
        }
        #expect(try await Self.value(token) == "Bearer t1")
        #expect(try await Self.value(token) == "Bearer t2")
    }
}
