import SluiceHTTP

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
