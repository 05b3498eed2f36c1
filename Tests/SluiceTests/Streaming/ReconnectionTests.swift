import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice

@Suite struct ReconnectionTests {
    /// An event of a connection, or the decision that follows.
    enum Step: Sendable {
        case event
        case end
        case lost(SluiceError.Code)
        case status(HTTPStatus)
    }

    struct Case: Sendable {
        var policy = Reconnection(backoff: Backoff(base: .seconds(1), hasJitter: false), maximumAttempts: 3)
        var retry: Duration?
        var timeLeft: Duration?
        let steps: [Step]
        let decisions: [String]
    }

    static let cases = [
        Case(steps: [.event, .end, .event, .end], decisions: ["wait 3.0 seconds", "wait 3.0 seconds"]),
        Case(retry: .seconds(1), steps: [.event, .end], decisions: ["wait 1.0 seconds"]),
        // A floor and a ceiling for the server's value, not for the policy's.
        Case(retry: .zero, steps: [.end], decisions: ["wait 0.5 seconds"]),
        Case(retry: .seconds(86_400), steps: [.event, .end], decisions: ["wait 300.0 seconds"]),
        Case(
            policy: Reconnection(delay: .milliseconds(1), delayLimits: .zero ... .seconds(1)),
            steps: [.end],
            decisions: ["wait 0.001 seconds"]
        ),
        Case(
            policy: Reconnection(delayLimits: .seconds(-2) ... .seconds(-1)),
            retry: .seconds(5),
            steps: [.end],
            decisions: ["wait 0.0 seconds"]
        ),
        // A server that sends no event and ends its responses has not failed.
        Case(steps: .init(repeating: .end, count: 20), decisions: .init(repeating: "wait 3.0 seconds", count: 20)),
        Case(
            steps: [.lost(.cannotConnect), .lost(.connectionLost), .event, .lost(.truncatedBody)],
            decisions: ["wait 4.0 seconds", "wait 5.0 seconds", "wait 4.0 seconds"]
        ),
        Case(
            steps: [.lost(.idleTimedOut), .end, .lost(.timedOut), .lost(.cannotResolveHost)],
            decisions: ["wait 4.0 seconds", "wait 3.0 seconds", "wait 4.0 seconds", "wait 5.0 seconds"]
        ),
        Case(
            steps: [.lost(.timedOut), .lost(.timedOut), .lost(.connectionLost), .lost(.cannotResolveHost)],
            decisions: ["wait 4.0 seconds", "wait 5.0 seconds", "wait 7.0 seconds", "fail cannotResolveHost"]
        ),
        Case(steps: [.lost(.elementTooLarge)], decisions: ["fail elementTooLarge"]),
        Case(steps: [.lost(.cancelled)], decisions: ["fail cancelled"]),
        Case(steps: [.lost(.tlsFailed)], decisions: ["fail tlsFailed"]),
        Case(steps: [.lost(.unacceptableContentType)], decisions: ["fail unacceptableContentType"]),
        Case(steps: [.status(.serviceUnavailable)], decisions: ["fail unacceptableStatus"]),
        Case(
            policy: Reconnection(delay: .seconds(-1), backoff: .constant(.zero), statuses: [.serviceUnavailable]),
            steps: [.status(.serviceUnavailable), .status(.unauthorized)],
            decisions: ["wait 0.0 seconds", "fail unacceptableStatus"]
        ),
        Case(policy: .none, steps: [.event, .end], decisions: ["finish"]),
        Case(policy: .none, timeLeft: .zero, steps: [.event, .end], decisions: ["finish"]),
        Case(timeLeft: .seconds(4), steps: [.lost(.connectionLost)], decisions: ["fail connectionLost"]),
        Case(timeLeft: .milliseconds(4001), steps: [.lost(.connectionLost)], decisions: ["wait 4.0 seconds"]),
        Case(timeLeft: .zero, steps: [.lost(.timedOut)], decisions: ["fail timedOut"]),
        Case(timeLeft: .seconds(2), steps: [.event, .end], decisions: ["fail timedOut"]),
        Case(policy: .none, steps: [.event, .lost(.connectionLost)], decisions: ["fail connectionLost"]),
        Case(policy: Reconnection(maximumAttempts: -1), steps: [.end], decisions: ["finish"]),
    ]

    @Test(arguments: cases) func decidesByPolicyAfterEachConnection(_ test: Case) {
        var state = ReconnectionState(test.policy)
        var decisions: [String] = []
        for step in test.steps {
            let failure: SluiceError?
            switch step {
            case .event:
                state.signalArrived()
                continue
            case .end: failure = nil
            case .lost(let code): failure = SluiceError(code, "It failed.")
            case .status(let status):
                failure = SluiceError(.unacceptableStatus, "No.", response: HTTPResponse(status: status))
            }
            switch state.decision(after: failure, retry: test.retry, random: 0, timeLeft: test.timeLeft) {
            case .wait(let delay): decisions.append("wait \(delay)")
            case .finish: decisions.append("finish")
            case .fail(let error): decisions.append("fail \(error.code)")
            }
        }
        #expect(decisions == test.decisions)
    }

    /// Another connection would be refused too, and may lock the account.
    @Test func credentialsThatAProxyRefusesAreSentOnce() {
        struct Cause: LastingCause {
            let isLasting: Bool
        }
        for isLasting in [false, true] {
            var state = ReconnectionState(Reconnection())
            let failure = SluiceError(.proxyFailed, "It failed.", underlyingError: Cause(isLasting: isLasting))
            let decision = state.decision(after: failure, retry: nil, random: 0)
            if case .fail = decision { #expect(isLasting) } else { #expect(!isLasting) }
        }
    }

    @Test func delayOfAFailedResponseIsRespected() {
        let policy = Reconnection(
            delay: .seconds(3),
            delayLimits: .seconds(1) ... .seconds(60),
            backoff: .constant(.seconds(1)),
            statuses: [.serviceUnavailable]
        )
        let failure = SluiceError(.unacceptableStatus, "No.", response: HTTPResponse(status: .serviceUnavailable))
        for (requested, expected) in [(nil, 4), (1, 4), (20, 21), (600, 61)] as [(Int?, Int)] {
            var state = ReconnectionState(policy)
            let retryAfter = requested.map { Duration.seconds($0) }
            let decision = state.decision(after: failure, retry: nil, retryAfter: retryAfter, random: 0)
            guard case .wait(.seconds(expected)) = decision else {
                Issue.record("\(String(describing: requested)) gives \(decision).")
                continue
            }
        }
    }

    @Test func refusalsOfGatesAreTemporary() {
        var state = ReconnectionState(Reconnection(delay: .seconds(1), backoff: .constant(.seconds(1))))
        let refusal = GateRefusal(gate: "circuit breaker", retryAfter: .seconds(20))
        let open = SluiceError(.circuitOpen, "It is open.", step: .gate, underlyingError: refusal)
        guard case .wait(.seconds(21)) = state.decision(after: open, retry: nil, random: 0) else {
            Issue.record("A refusal for a time ends the events, or is not waited for.")
            return
        }
        for (code, isTemporary) in [
            (.unreachable, true), (.storeFailed, true), (.tooManyRefreshes, true), (.invalidGrant, false),
            (.authorizationRequired, false),
        ] as [(OAuth2Error.Code, Bool)] {
            let decision = state.decision(after: SluiceError(OAuth2Error(code)), retry: nil, random: 0)
            if case .fail = decision { #expect(!isTemporary, "\(code)") } else { #expect(isTemporary, "\(code)") }
        }
    }

    /// Whatever a server sends as `retry`, the delay stays within the policy's limits.
    @Test func anyDelayOfAServerIsWithinTheLimits() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<1000 {
            let digits = String(
                (0..<Int.random(in: 1...30, using: &random)).map { _ in
                    "0123456789".randomElement(using: &random) ?? "0"
                }
            )
            var parser = ServerSentEventParser()
            parser.append(Data("retry: \(digits)\n\n".utf8))
            #expect(try parser.next() == nil)
            let retry = try #require(parser.reconnectionTime)
            var state = ReconnectionState(.standard)
            guard case .wait(let delay) = state.decision(after: nil, retry: retry, random: 0) else {
                Issue.record("The reconnection does not wait.")
                return
            }
            #expect(delay >= .milliseconds(500) && delay <= .seconds(300), "\(digits)")
            #expect(delay == retry || delay == .milliseconds(500) || delay == .seconds(300))
        }
    }

    @Test func jitterKeepsMinimumDelayOfServer() {
        for random in [0, UInt64.max / 2, UInt64.max] {
            var state = ReconnectionState(.standard)
            let lost = SluiceError(.connectionLost, "It failed.")
            guard case .wait(let delay) = state.decision(after: lost, retry: .seconds(2), random: random) else {
                Issue.record("The reconnection does not wait.")
                return
            }
            #expect(delay >= .seconds(2) && delay <= .seconds(3))
        }
    }
}
