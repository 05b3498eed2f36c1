import Testing

@testable import UserService

@Suite struct ServiceOptionsTests {
    private static let environment = [
        "UPSTREAM_URL": "https://users.example.com", "TOKEN_URL": "https://id.example.com/token",
        "CLIENT_ID": "service",
        "CLIENT_SECRET": "s3cret",
    ]

    @Test func whatIsLeftOutHasDefaults() throws {
        let options = try ServiceOptions(environment: Self.environment)
        #expect(options.upstreamURL == "https://users.example.com")
        #expect(options.clientSecret == "s3cret")
        #expect(options.host == "127.0.0.1")
        #expect(options.port == 8080)
        #expect(options.cacheDirectory == nil)
        #expect(options.maximumTimeout == .seconds(10))
        #expect(options.warmUpTimeout == .seconds(5))
        #expect(options.shutdownDelay == .zero)
    }

    @Test func allOfThemAreRead() throws {
        let others = [
            "HOST": "0.0.0.0", "PORT": "0", "CACHE_DIRECTORY": "/var/cache", "MAXIMUM_TIMEOUT": "2.5",
            "WARM_UP_TIMEOUT": "1", "SHUTDOWN_DELAY": "0.5",
        ]
        let options = try ServiceOptions(environment: Self.environment.merging(others) { $1 })
        #expect(options.host == "0.0.0.0")
        #expect(options.port == 0)
        #expect(options.cacheDirectory == "/var/cache")
        #expect(options.maximumTimeout == .milliseconds(2_500))
        #expect(options.warmUpTimeout == .seconds(1))
        #expect(options.shutdownDelay == .milliseconds(500))
    }

    @Test func waitsCanBeLeftOut() throws {
        let others = ["WARM_UP_TIMEOUT": "0", "SHUTDOWN_DELAY": "0"]
        let options = try ServiceOptions(environment: Self.environment.merging(others) { $1 })
        #expect(options.warmUpTimeout == .zero)
        #expect(options.shutdownDelay == .zero)
    }

    @Test(arguments: environment.keys.sorted(), ["", nil])
    func whatHasNoDefaultIsMissed(_ name: String, _ value: String?) {
        var environment = Self.environment
        environment[name] = value
        let error = #expect(throws: InvalidOption.self) { try ServiceOptions(environment: environment) }
        #expect(error?.description == "The environment variable \(name) is missing.")
    }

    @Test(arguments: [
        ("PORT", "70000"), ("PORT", "http"), ("MAXIMUM_TIMEOUT", "0"), ("MAXIMUM_TIMEOUT", "-1"),
        ("WARM_UP_TIMEOUT", "soon"), ("SHUTDOWN_DELAY", "-2"),
    ])
    func whatMakesNoSenseIsNamedWithoutItsValue(_ name: String, _ value: String) {
        let environment = Self.environment.merging([name: value]) { $1 }
        let error = #expect(throws: InvalidOption.self) { try ServiceOptions(environment: environment) }
        #expect(error?.name == name)
        #expect(error?.description.contains(value) == false)
    }
}
