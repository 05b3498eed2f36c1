import Foundation
import Testing

@testable import Sluice

/// A token state and its events, described as text.
struct TokenScenario {
    typealias Token = OAuth2.Token

    var state: TokenState
    var seconds = 0.0
    private(set) var work = 0
    private(set) var version = 0
    private let start = ContinuousClock.now

    init(
        _ grant: OAuth2.Grant = .clientCredentials(id: "i", secret: "s"),
        limit: OAuth2.RefreshLimit = .init(),
        isShared: Bool = false,
        allowsUnsavedTokens: Bool = false
    ) {
        var rules = TokenState.Rules(
            sharesStore: isShared,
            allowsUnsavedTokens: allowsUnsavedTokens,
            limit: limit
        )
        var seed: Secret?
        switch grant.kind {
        case .clientCredentials:
            rules.isRepeatable = true
            rules.usesRefreshTokens = false
        case .password: rules.isRepeatable = true
        case .refreshToken(let token): seed = token
        case .authorizationCode: break
        }
        state = TokenState(rules, initialRefreshToken: seed)
    }

    static let user = OAuth2.Grant.authorizationCode(
        id: "i",
        authorizationURL: "https://id.example/authorize",
        redirectURL: "https://app.example/back"
    )

    var moment: ClockReading {
        ClockReading(now: start + .seconds(seconds), date: Date(timeIntervalSince1970: seconds))
    }

    /// Returns a token that expires a number of seconds after the start.
    static func token(_ access: String, until end: Double? = nil, refresh: String? = nil) -> Token {
        Token(accessToken: access, expiresAt: end.map(Date.init(timeIntervalSince1970:)), refreshToken: refresh)
    }

    mutating func ask() -> String {
        switch state.credentialRequested(at: moment) {
        case .admitted(let credential):
            version = credential.version
            return "admitted with \(credential.token.accessToken)"
        case .waiting: return "waiting"
        case .refused(let error): return "refused: \(error.code)"
        case .begin(let id, let step):
            work = id
            return text(step)
        }
    }

    mutating func loaded(_ token: Token?) -> String { text(state.loaded(.success(token), work: work, at: moment)) }
    mutating func loadFails() -> String {
        text(state.loaded(.failure(OAuth2Error(.storeFailed)), work: work, at: moment))
    }
    mutating func locked(_ token: Token?) -> String { text(state.locked(.success(token), work: work, at: moment)) }
    mutating func lockFails() -> String {
        text(state.locked(.failure(OAuth2Error(.storeFailed)), work: work, at: moment))
    }
    mutating func received(_ token: Token) -> String {
        text(state.received(.success(token), work: work, at: moment))
    }
    mutating func fails(_ code: OAuth2Error.Code) -> String { fails(OAuth2Error(code)) }
    mutating func fails(_ error: OAuth2Error) -> String {
        text(state.received(.failure(error), work: work, at: moment))
    }
    mutating func saved() -> String { text(state.saved(.success(()), work: work, at: moment)) }
    mutating func saveFails(_ cause: (any Error)? = nil) -> String {
        text(state.saved(.failure(OAuth2Error(.storeFailed, underlyingError: cause)), work: work, at: moment))
    }
    mutating func deleted() -> String { text(state.deleted(.success(()), work: work, at: moment)) }
    mutating func deleteFails(_ cause: (any Error)? = nil) -> String {
        text(state.deleted(.failure(OAuth2Error(.storeFailed, underlyingError: cause)), work: work, at: moment))
    }
    mutating func notSent(_ code: OAuth2Error.Code, _ cause: (any Error)? = nil) -> String {
        text(state.notSent(OAuth2Error(code, underlyingError: cause), work: work, at: moment))
    }
    mutating func lockEnds() -> String { text(state.lockEnds(work: work)) }
    mutating func leave() -> Bool { state.leave(at: moment.date) }
    mutating func takesLong() -> String {
        state.endWait(for: work, at: moment.date).map { "admitted with \($0.token.accessToken)" } ?? "waiting"
    }
    mutating func refused(_ version: Int? = nil) -> Bool {
        state.refused(version: version ?? self.version, at: moment)
    }

    /// Loads a token into the state.
    mutating func hold(_ token: Token) {
        _ = ask()
        _ = loaded(token)
        _ = ask()
    }

    private mutating func text(_ step: TokenState.Step) -> String {
        switch step {
        case .load: return "load"
        case .lock: return "lock"
        case .save(let token): return "save \(token.accessToken)" + (token.refreshToken.map { " and \($0)" } ?? "")
        case .refresh(let token): return "refresh by \(token.reveal())"
        case .request: return "request"
        case .delete: return "forget"
        case .stop: return "stop"
        case .finish(.failure(let error)): return "failed: \(error.code)"
        case .finish(.success(let credential)):
            version = credential.version
            return "admitted with \(credential.token.accessToken)"
        }
    }
}

@Suite struct TokenStateTests {
    typealias Scenario = TokenScenario

    @Test func firstRequestStartsWorkAndOthersWait() {
        var scenario = Scenario()
        #expect(scenario.ask() == "load")
        #expect(scenario.ask() == "waiting")
        #expect(scenario.loaded(nil) == "request")
        #expect(scenario.ask() == "waiting")
        #expect(scenario.received(Scenario.token("a", until: 3600)) == "save a")
        #expect(scenario.ask() == "waiting")
        #expect(scenario.saved() == "admitted with a")
        #expect(scenario.ask() == "admitted with a")
        #expect(scenario.state.waiting == 0)
    }

    @Test func usesStoredToken() {
        var scenario = Scenario(Scenario.user)
        #expect(scenario.ask() == "load")
        #expect(scenario.loaded(Scenario.token("a", until: 3600)) == "admitted with a")
    }

    @Test(arguments: [
        (0.0, "admitted with a"), (3539.9, "admitted with a"), (3540, "refresh by r"), (9999, "refresh by r"),
    ])
    func replacesTokenOneMinuteBeforeExpiry(_ second: Double, _ expected: String) {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", until: 3600, refresh: "r"))
        scenario.seconds = second
        #expect(scenario.ask() == expected)
    }

    @Test(arguments: [(0.0, "admitted with a"), (89.9, "admitted with a"), (90, "refresh by r")])
    func marginIsAtMostTenthOfLifetime(_ second: Double, _ expected: String) {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", until: 100, refresh: "r"))
        scenario.seconds = second
        #expect(scenario.ask() == expected)
    }

    @Test(arguments: [(0.0, "admitted with a"), (99.9, "admitted with a"), (100, "refused: authorizationRequired")])
    func usesIrreplaceableTokenUntilExpiry(_ second: Double, _ expected: String) {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", until: 100))
        scenario.seconds = second
        #expect(scenario.ask() == expected)
    }

    @Test func usesTokenWithoutExpiryUntilRefused() {
        var scenario = Scenario()
        scenario.hold(Scenario.token("a"))
        scenario.seconds = 1e9
        #expect(scenario.ask() == "admitted with a")
        #expect(scenario.refused() == true)
        #expect(scenario.ask() == "request")
    }

    @Test func ignoresRefusalOfOlderToken() {
        var scenario = Scenario()
        scenario.hold(Scenario.token("a"))
        let old = scenario.version
        #expect(scenario.refused() == true)
        #expect(scenario.refused() == true)
        _ = scenario.ask()
        _ = scenario.received(Scenario.token("b"))
        #expect(scenario.saved() == "admitted with b")
        #expect(scenario.refused(old) == true)
        #expect(scenario.ask() == "admitted with b")
    }

    @Test func reissuedRefusedTokenIsUsedAndNotRenewedForAWhile() {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", refresh: "r1"))
        #expect(scenario.refused() == true)
        #expect(scenario.ask() == "refresh by r1")
        #expect(scenario.received(Scenario.token("a", refresh: "r2")) == "save a and r2")
        #expect(scenario.saved() == "admitted with a")
        // Another refusal has another reason than the token.
        #expect(scenario.refused() == false)
        #expect(scenario.ask() == "admitted with a")
        scenario.seconds += 11
        #expect(scenario.refused() == true)
        #expect(scenario.ask() == "refresh by r2")
    }

    // Within its margin, a token that no API has refused since is requested again, too.
    @Test func tokenThatIsReissuedTwiceIsStillNotRefused() {
        var scenario = Scenario()
        scenario.hold(Scenario.token("a", until: 3600))
        scenario.seconds = 3590
        #expect(scenario.refused() == true)
        for second in [3590, 3599.2] {
            scenario.seconds = second
            #expect(scenario.ask() == "request")
            #expect(scenario.received(Scenario.token("a", until: 3600)) == "save a")
            #expect(scenario.saved() == "admitted with a")
            #expect(scenario.refused() == false)
        }
    }

    @Test func expiredNewTokenFailsAndKeepsRefreshToken() {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", until: 10, refresh: "r1"))
        scenario.seconds = 20
        #expect(scenario.ask() == "refresh by r1")
        #expect(scenario.received(Scenario.token("b", until: 20, refresh: "r2")) == "save b and r2")
        #expect(scenario.saved() == "failed: expiredToken")
        #expect(scenario.ask() == "refresh by r2")
    }

    @Test func responseWithoutRefreshTokenKeepsOldOne() {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", until: 0, refresh: "r"))
        #expect(scenario.ask() == "waiting")
        #expect(scenario.received(Scenario.token("b")) == "save b and r")
    }

    @Test func clientCredentialsIgnoreRefreshToken() {
        var scenario = Scenario()
        scenario.hold(Scenario.token("a", until: 0, refresh: "r"))
        #expect(scenario.ask() == "waiting")
        #expect(scenario.received(Scenario.token("b")) == "save b")
    }

    @Test func usesTokenOnlyAfterItIsSaved() {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", refresh: "r1"))
        _ = scenario.refused()
        _ = scenario.ask()
        #expect(scenario.received(Scenario.token("b", refresh: "r2")) == "save b and r2")
        #expect(scenario.saveFails() == "failed: storeFailed")
        #expect(scenario.ask() == "save b and r2")
        #expect(scenario.saveFails() == "failed: storeFailed")
        #expect(scenario.ask() == "save b and r2")
        #expect(scenario.saved() == "admitted with b")
    }

    @Test func savesExpiredUnsavedTokenBeforeReplacingIt() {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", refresh: "r1"))
        _ = scenario.refused()
        _ = scenario.ask()
        _ = scenario.received(Scenario.token("b", until: 10, refresh: "r2"))
        _ = scenario.saveFails()
        scenario.seconds = 60
        #expect(scenario.ask() == "save b and r2")
        #expect(scenario.saved() == "refresh by r2")
    }

    @Test func retriesLoadAfterStoreFailure() {
        var scenario = Scenario()
        #expect(scenario.ask() == "load")
        #expect(scenario.loadFails() == "failed: storeFailed")
        #expect(scenario.ask() == "load")
    }
}
