import Sluice

/// Requests through gates, with cookies and with credentials.
enum GateKinds {
    static func all(_ clients: Clients) -> [Kind] {
        [
            Kind("OAuth 2") {
                let text = try await clients.authorized.string.get("private").sender().value
                try expect(text == "secret", text)
            },
            Kind("rate limit") {
                let text = try await clients.limited.string.get("chunked").sender().value
                try expect(text == "one two three", text)
            },
            Kind("circuit breaker", .either([.unacceptableStatus, .circuitOpen])) {
                let text = try await clients.protected.string.get("flaky").sender().value
                try expect(text == "ok", text)
            },
            Kind("cookie") {
                _ = try await clients.signedIn.data.get("login").sender().value
                let text = try await clients.signedIn.string.get("account").sender().value
                try expect(text == "ada", text)
            },
            Kind("challenge") {
                let text = try await clients.signedIn.string.get("challenge").sender().value
                try expect(text == "welcome", text)
            },
        ]
    }
}
