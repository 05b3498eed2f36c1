import Sluice

// error: Skip a gate by its type
func gateSkippedByAString() {
    show(shop.get("motto", as: String.self).withoutGate("OAuth2"))
}

// error: Skip a gate by its type
func gatesSkippedByStrings() {
    show(shop.get("motto", as: String.self).withoutGate("OAuth2", "RateLimit"))
}

// error: 'target' has been renamed to 'endpoint'
func targetOfAContext() {
    struct Analytics: Plugin {
        func willSend(_ request: HTTPRequest, context: RequestContext) { print(context.target) }
    }
    show(Analytics())
}

// error: does not conform to the 'Sendable' protocol
func modelThatIsANonFinalClass() async throws {
    class Animal: Codable { var name = "" }
    let animal = try await shop.get("animals/1", as: Animal.self).sender().value
    print(animal.name)
}

// error: does not conform to the 'Sendable' protocol
func modelsThatAreNonFinalClasses() async throws {
    class Animal: Codable { var name = "" }
    let animals: [Animal] = try await shop.get("animals").sender().value
    print(animals.count)
}

// error: does not conform to protocol 'WebService'
func serviceWithAStaticClient() {
    enum Service: WebService {
        static let client = shop
    }
}

// error: Set one body
func bodyOfABodilessRequestInABatch() async throws {
    _ = try await shop.batch([shop.get("users/1", as: User.self).json(["id": 1])])
}

// error: does not conform to the 'Sendable' protocol
func userInfoThatIsAClass() {
    class Screen { var name = "" }
    show(shop.get("users/1", as: User.self).userInfo("screen", Screen()))
}

// error: does not conform to protocol 'Target'
func targetWithoutAPath() {
    enum Incomplete: Target {
        case user
        var baseURL: String { "https://shop.example" }
    }
}

// error: cannot convert value of type 'Int' to expected argument type 'Duration'
func timeoutAsANumber() {
    struct Reports: RequestAdapter {
        func adapt(_ request: inout HTTPRequest, context: RequestContext) { request.setTimeouts(total: 5) }
    }
    show(Reports())
}

// error: cannot convert value of type 'String' to specified type 'DataSource
func cachingOfATargetAsAString() {
    struct Feed: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "feed" }
        var dataSource: DataSource? = "cacheElseServer"
    }
    show(Feed())
}
