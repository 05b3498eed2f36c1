import Sluice

// error: Write "withoutGate(OAuth2.self)"
func gateSkippedByAString() {
    show(shop.get("motto", as: String.self).withoutGate("OAuth2"))
}

// error: Write "withoutGate(OAuth2.self)"
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

// Functions of plugins and properties of observers that would never be called.

// error: Write "context: RequestContext" in place of "target"
func preparingForATarget() {
    struct Tracker: Plugin {
        func prepare(_ request: HTTPRequest, target: any Target) async throws -> HTTPRequest { request }
    }
}

// error: Write "context: RequestContext" in place of "target"
func sendingToATarget() {
    struct Tracker: Plugin {
        func willSend(_ request: HTTPRequest, target: any Target) {}
    }
}

// error: Write "context: RequestContext" in place of "target"
func receivingFromATarget() {
    struct Tracker: Plugin {
        func didReceive(_ result: Result<ServerResponse, SluiceError>, target: any Endpoint) {}
    }
}

// error: Write "context: RequestContext" in place of "target"
func processingForATarget() {
    struct Tracker: Plugin {
        func process(_ outcome: TransportOutcome, target: any Target) -> TransportOutcome { outcome }
    }
}

// error: Write "prepare(_ request: HTTPRequest, context: RequestContext)
func preparingInPlace() {
    struct Tracker: Plugin {
        func prepare(_ request: inout HTTPRequest, context: RequestContext) {}
    }
}

// error: Write "process(_ outcome: TransportOutcome
func processingAnyError() {
    struct Tracker: Plugin {
        func process(_ outcome: Result<ServerResponse, any Error>, context: RequestContext) async
            -> Result<ServerResponse, any Error>
        { outcome }
    }
}

// error: Write "didFinish(_ result: Result<any Sendable, any Error>
func finishingWithAnAPIError() {
    struct Tracker: Plugin {
        func didFinish(_ result: Result<any Sendable, APIError>, context: RequestContext) {}
    }
}

// error: Declare "var interests: RequestEvent.Kinds"
func interestsThatAreText() {
    struct Tracker: RequestObserver {
        var interests: Set<String> { ["began"] }
        func observe(_ event: RequestEvent, of request: ObservedRequest) {}
    }
}
