import Foundation
import Testing

@testable import Sluice

@Suite struct TokenStateRecoveryTests {
    typealias Scenario = TokenScenario

    @Test(arguments: [
        (OAuth2.Grant.password(username: "u", password: "p", id: "i"), "request"),
        (Scenario.user, "failed: authorizationRequired"),
        (.refreshToken("r1", id: "i"), "failed: authorizationRequired"),
    ])
    func discardsRefreshTokenAfterInvalidGrant(_ grant: OAuth2.Grant, _ expected: String) {
        var scenario = Scenario(grant)
        #expect(scenario.ask() == "load")
        #expect(scenario.loaded(Scenario.token("a", until: 0, refresh: "r1")) == "refresh by r1")
        #expect(scenario.fails(.invalidGrant) == "forget")
        #expect(scenario.deleted() == expected)
    }

    @Test func prefersStoredRefreshTokenToConfigured() {
        var scenario = Scenario(.refreshToken("given", id: "i"))
        _ = scenario.ask()
        #expect(scenario.loaded(Scenario.token("a", until: 0, refresh: "stored")) == "refresh by stored")
        #expect(scenario.fails(.invalidGrant) == "forget")
        #expect(scenario.deleted() == "refresh by given")
        #expect(scenario.received(Scenario.token("b", refresh: "next")) == "save b and next")
        #expect(scenario.saved() == "admitted with b")
        _ = scenario.refused()
        #expect(scenario.ask() == "refresh by next")
        #expect(scenario.fails(.invalidGrant) == "forget")
        // The refresh token has been used, and is not used again.
        #expect(scenario.deleted() == "failed: authorizationRequired")
        #expect(scenario.ask() == "refused: authorizationRequired")
    }

    @Test(arguments: [OAuth2Error.Code.unreachable, .invalidClient, .invalidResponse, .storeFailed])
    func otherFailuresKeepRefreshTokenForRetry(_ code: OAuth2Error.Code) {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", refresh: "r"))
        _ = scenario.refused()
        #expect(scenario.ask() == "refresh by r")
        #expect(scenario.fails(code) == "failed: \(code)")
        #expect(scenario.ask() == "refresh by r")
    }

    @Test func requestsUseTheTokenDuringARefreshThatTakesLong() {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", until: 3600, refresh: "r"))
        scenario.seconds = 3570
        #expect(scenario.ask() == "refresh by r")
        #expect(scenario.ask() == "waiting")
        #expect(scenario.takesLong() == "admitted with a")
        #expect(scenario.state.waiting == 0)
        // The refresh goes on, also beyond the pause.
        scenario.seconds = 3590
        #expect(scenario.ask() == "admitted with a")
        scenario.seconds = 3600
        #expect(scenario.ask() == "waiting")
        #expect(scenario.takesLong() == "waiting")
        #expect(scenario.received(Scenario.token("b", until: 7200, refresh: "s")) == "save b and s")
        // A received token is used once it is stored.
        #expect(scenario.takesLong() == "waiting")
        #expect(scenario.saved() == "admitted with b")
    }

    @Test func requestsWaitForTheReplacementOfARefusedToken() {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", until: 3600, refresh: "r"))
        _ = scenario.refused()
        #expect(scenario.ask() == "refresh by r")
        #expect(scenario.takesLong() == "waiting")
        #expect(scenario.fails(.unreachable) == "failed: unreachable")
        #expect(scenario.takesLong() == "waiting")
    }

    @Test func usesTokenUntilExpiryIfEarlyRefreshFails() {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", until: 3600, refresh: "r"))
        scenario.seconds = 3570
        #expect(scenario.ask() == "refresh by r")
        #expect(scenario.fails(.unreachable) == "admitted with a")
        // The server may hang, so the next attempt follows after a pause.
        for second in [3570, 3579.9] {
            scenario.seconds = second
            #expect(scenario.ask() == "admitted with a")
        }
        scenario.seconds = 3580
        #expect(scenario.ask() == "refresh by r")
        scenario.seconds = 3600
        #expect(scenario.fails(.unreachable) == "failed: unreachable")
        #expect(scenario.ask() == "refresh by r")
    }

    @Test func pauseAfterAFailedRefreshEndsWithTheTokenAndWithARefusal() {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", until: 3600, refresh: "r"))
        for second in [3570.0, 3595] {
            scenario.seconds = second
            #expect(scenario.ask() == "refresh by r")
            #expect(scenario.fails(.unreachable) == "admitted with a")
        }
        scenario.seconds = 3599.9
        #expect(scenario.ask() == "admitted with a")
        scenario.seconds = 3600
        #expect(scenario.ask() == "refresh by r")
        #expect(scenario.received(Scenario.token("b", until: 7200, refresh: "r2")) == "save b and r2")
        #expect(scenario.saved() == "admitted with b")
        scenario.seconds = 7150
        #expect(scenario.ask() == "refresh by r2")
        #expect(scenario.fails(.unreachable) == "admitted with b")
        #expect(scenario.refused() == true)
        #expect(scenario.ask() == "refresh by r2")
    }

    @Test func tokenIsUsedDuringFurtherAttemptsToReplaceIt() {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", until: 3600, refresh: "r"))
        scenario.seconds = 3545
        #expect(scenario.ask() == "refresh by r")
        #expect(scenario.ask() == "waiting")
        #expect(scenario.fails(.unreachable) == "admitted with a")
        scenario.seconds = 3555
        #expect(scenario.ask() == "refresh by r")
        #expect(scenario.ask() == "admitted with a")
        // A refused token is of no use, unless the attempt fails.
        #expect(scenario.refused() == true)
        #expect(scenario.ask() == "waiting")
        #expect(scenario.received(Scenario.token("b", until: 7200, refresh: "r2")) == "save b and r2")
        #expect(scenario.ask() == "waiting")
        #expect(scenario.saved() == "admitted with b")
    }

    @Test(arguments: [OAuth2.Grant.clientCredentials(id: "i", secret: "s"), Scenario.user])
    func tokenIsUsedWhileAnAttemptTakesLongerThanItsRequest(_ grant: OAuth2.Grant) {
        var scenario = Scenario(grant)
        scenario.hold(Scenario.token("a", until: 3600, refresh: "r"))
        scenario.seconds = 3545
        #expect(["request", "refresh by r"].contains(scenario.ask()))
        #expect(scenario.ask() == "waiting")
        #expect(scenario.leave() == false)
        // The attempt continues without the requests that have left.
        #expect(scenario.leave() == false)
        #expect(scenario.ask() == "admitted with a")
        scenario.seconds = 3599
        #expect(scenario.ask() == "admitted with a")
        #expect(scenario.received(Scenario.token("b", until: 7200)).hasPrefix("save b"))
        #expect(scenario.saved() == "admitted with b")
    }

    @Test func limitOfRefreshesDoesNotHideTheFailure() {
        var scenario = Scenario(Scenario.user, limit: .init(count: 1, per: .seconds(30)))
        scenario.hold(Scenario.token("a", until: 3600, refresh: "r"))
        scenario.seconds = 3545
        #expect(scenario.ask() == "refresh by r")
        #expect(scenario.fails(.unreachable) == "admitted with a")
        scenario.seconds = 3560
        #expect(scenario.ask() == "admitted with a")
        #expect((scenario.state.lastFailure)?.code == .unreachable)
    }

    @Test func refusedEarlyRefreshKeepsAccessToken() {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", until: 3600, refresh: "r"))
        scenario.seconds = 3570
        #expect(scenario.ask() == "refresh by r")
        #expect(scenario.fails(.invalidGrant) == "forget")
        #expect(scenario.deleted() == "admitted with a")
        #expect(scenario.ask() == "admitted with a")
        scenario.seconds = 3600
        #expect(scenario.ask() == "refused: authorizationRequired")
    }

    @Test func limitsRefreshesPerInterval() {
        var scenario = Scenario(limit: .init(count: 2, per: .seconds(30)))
        _ = scenario.ask()
        #expect(scenario.loaded(nil) == "request")
        #expect(scenario.fails(.invalidClient) == "failed: invalid_client")
        scenario.seconds = 10
        #expect(scenario.ask() == "request")
        #expect(scenario.fails(.invalidClient) == "failed: invalid_client")
        #expect(scenario.ask() == "refused: tooManyRefreshes")
        #expect((scenario.state.lastFailure)?.code == .invalidClient)
        scenario.seconds = 29.9
        #expect(scenario.ask() == "refused: tooManyRefreshes")
        scenario.seconds = 30
        #expect(scenario.ask() == "request")
        #expect(scenario.fails(.invalidClient) == "failed: invalid_client")
        #expect(scenario.ask() == "refused: tooManyRefreshes")
    }

    @Test(arguments: [
        OAuth2Error(.unreachable), OAuth2Error(.invalidResponse, status: .serviceUnavailable),
    ])
    func asksUnavailableServerEveryTwoSecondsBeyondTheLimit(_ error: OAuth2Error) {
        var scenario = Scenario(limit: .init(count: 2, per: .seconds(30)))
        _ = scenario.ask()
        #expect(scenario.loaded(nil) == "request")
        _ = scenario.fails(error)
        #expect(scenario.ask() == "request")
        _ = scenario.fails(error)
        for seconds in [2.0, 4, 6] {
            scenario.seconds = seconds - 0.1
            #expect(scenario.ask() == "refused: tooManyRefreshes")
            scenario.seconds = seconds
            #expect(scenario.ask() == "request")
            _ = scenario.fails(error)
        }
        scenario.seconds = 8
        #expect(scenario.ask() == "request")
        // The server is back, and the limit applies anew.
        _ = scenario.fails(.invalidClient)
        #expect(scenario.ask() == "request")
        _ = scenario.fails(.invalidClient)
        scenario.seconds = 12
        #expect(scenario.ask() == "refused: tooManyRefreshes")
    }

    @Test(arguments: [(Duration.seconds(20), 20.0), (.seconds(3600), 300)])
    func sendsNothingWhileTheServerAsksToWait(_ wait: Duration, _ end: Double) {
        var scenario = Scenario(limit: .init(count: 5, per: .seconds(30)))
        _ = scenario.ask()
        #expect(scenario.loaded(nil) == "request")
        var error = OAuth2Error(.invalidResponse, status: .tooManyRequests)
        error.retryAfter = wait
        #expect(scenario.fails(error) == "failed: invalidResponse")
        for seconds in [0, 2, end - 0.1] {
            scenario.seconds = seconds
            #expect(scenario.ask() == "refused: invalidResponse")
        }
        scenario.seconds = end
        #expect(scenario.ask() == "request")
        // An error without the field ends the wait.
        #expect(scenario.fails(.invalidClient) == "failed: invalid_client")
        #expect(scenario.ask() == "request")
    }

    @Test func failedSignInDoesNotChangeTheCountedRequests() {
        var scenario = Scenario(limit: .init(count: 1, per: .seconds(30)))
        _ = scenario.ask()
        #expect(scenario.loaded(nil) == "request")
        _ = scenario.fails(.invalidClient)
        let signIn = scenario.state.beginExclusiveWork() ?? 0
        _ = scenario.state.received(.failure(OAuth2Error(.unreachable)), work: signIn, at: scenario.moment)
        scenario.seconds = 10
        #expect(scenario.ask() == "refused: tooManyRefreshes")
    }

    @Test func keepsLastTokenWhenRefreshLimitIsReached() {
        var scenario = Scenario(limit: .init(count: 3, per: .seconds(30)))
        _ = scenario.ask()
        _ = scenario.loaded(nil)
        _ = scenario.received(Scenario.token("0"))
        _ = scenario.saved()
        for name in ["1", "2"] {
            #expect(scenario.refused() == true)
            #expect(scenario.ask() == "request")
            _ = scenario.received(Scenario.token(name))
            #expect(scenario.saved() == "admitted with \(name)")
        }
        #expect(scenario.refused() == false)
        #expect(scenario.ask() == "admitted with 2")
    }

    @Test func abandonsRequestWhenLastWaiterLeaves() {
        var scenario = Scenario(limit: .init(count: 1, per: .seconds(30)))
        _ = scenario.ask()
        _ = scenario.ask()
        #expect(scenario.loaded(nil) == "request")
        #expect(scenario.leave() == false)
        #expect(scenario.leave() == true)
        #expect(scenario.received(Scenario.token("a")) == "stop")
        // An abandoned attempt does not count.
        #expect(scenario.ask() == "request")
    }

    @Test func refreshContinuesWithoutWaitersAndLaterCallerJoins() {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", refresh: "r1"))
        _ = scenario.refused()
        #expect(scenario.ask() == "refresh by r1")
        #expect(scenario.leave() == false)
        #expect(scenario.ask() == "waiting")
        #expect(scenario.received(Scenario.token("b", refresh: "r2")) == "save b and r2")
        #expect(scenario.leave() == false)
        #expect(scenario.saved() == "admitted with b")
    }

    @Test func turnMakesRequestsWaitOnceTokenHasExpired() {
        var scenario = Scenario(Scenario.user)
        scenario.hold(Scenario.token("a", until: 10, refresh: "r"))
        let turn = scenario.state.beginExclusiveWork()
        #expect(turn != nil)
        #expect(scenario.ask() == "admitted with a")
        scenario.seconds = 10
        #expect(scenario.ask() == "waiting")
        #expect(scenario.state.beginExclusiveWork() == nil)
        let isJoined = scenario.state.join()
        #expect(isJoined)
        #expect(scenario.leave() == false)
        #expect(scenario.leave() == false)
        scenario.state.endExclusiveWork(turn ?? 0)
        #expect(scenario.ask() == "refresh by r")
    }

    @Test func signOutDiscardsAllTokens() {
        var scenario = Scenario(.refreshToken("given", id: "i"))
        _ = scenario.ask()
        _ = scenario.loaded(nil)
        _ = scenario.received(Scenario.token("a", refresh: "r"))
        _ = scenario.saved()
        let known = scenario.state.signOut()
        #expect(known.access == "a")
        #expect(known.refresh == "r")
        #expect(scenario.ask() == "refused: authorizationRequired")
    }
}
