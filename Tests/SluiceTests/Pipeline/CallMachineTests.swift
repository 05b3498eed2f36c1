import SluiceTesting
import Testing

@testable import Sluice

/// The order of a request's steps.
@Suite struct CallMachineTests {
    typealias Step = CallMachine.Step
    typealias StepResult = CallMachine.StepResult

    private static let pause = Duration.seconds(2)

    /// A path through the steps: each step with its result, in order, and the step reached at the end.
    struct Path: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var machine = CallMachine(hasCache: false)
        let steps: [(Step, StepResult)]
        let last: Step
        var tries = 1
    }

    private static let toTransport: [(Step, StepResult)] = [
        (.admit, .done), (.interceptRequest, .done), (.sign, .done),
    ]
    private static let toRelease: [(Step, StepResult)] = [(.report, .done), (.interceptResponse, .done)]
    private static let sent: [(Step, StepResult)] =
        toTransport + [(.send, .done), (.redirect, .done), (.collect, .done)] + toRelease

    static let paths = [
        Path(
            testDescription: "A request is sent once",
            steps: sent + [(.release, .done), (.decide, .done)],
            last: .end
        ),
        Path(
            testDescription: "The cache replaces the transport",
            machine: CallMachine(hasCache: true),
            steps: toTransport + [(.cache, .done), (.redirect, .done), (.collect, .done)] + toRelease,
            last: .release
        ),
        Path(
            testDescription: "A redirect returns to the transport",
            steps: toTransport + [(.send, .done), (.redirect, .redirected), (.send, .done), (.redirect, .done)],
            last: .collect
        ),
        Path(
            testDescription: "A redirect returns to the cache",
            machine: CallMachine(hasCache: true),
            steps: toTransport + [(.cache, .done), (.redirect, .redirected), (.cache, .done), (.redirect, .done)],
            last: .collect
        ),
        Path(
            testDescription: "A refusal releases the permits without interceptors",
            steps: [(.admit, .refused), (.answerStale, .refused), (.release, .done), (.decide, .done)],
            last: .end
        ),
        Path(
            testDescription: "A stale response passes the response interceptors",
            steps: [(.admit, .refused), (.answerStale, .done), (.interceptResponse, .done)],
            last: .release
        ),
        Path(
            testDescription: "The response interceptors receive the failure of a request interceptor",
            steps: [(.admit, .done), (.interceptRequest, .refused), (.interceptResponse, .done)],
            last: .release
        ),
        Path(testDescription: "A failed transfer", steps: toTransport + [(.send, .failed)] + toRelease, last: .release),
        Path(
            testDescription: "A failed redirect",
            steps: toTransport + [(.send, .done), (.redirect, .failed)] + toRelease,
            last: .release
        ),
        Path(
            testDescription: "A body that breaks off",
            steps: toTransport + [(.send, .done), (.redirect, .done), (.collect, .failed)] + toRelease,
            last: .release
        ),
        Path(
            testDescription: "A failed cache step",
            machine: CallMachine(hasCache: true),
            steps: toTransport + [(.cache, .failed)] + toRelease,
            last: .release
        ),
        Path(
            testDescription: "A request that is not sent is not reported as received",
            steps: toTransport + [(.send, .refused), (.interceptResponse, .done)],
            last: .release
        ),
        Path(
            testDescription: "A cancelled lookup is not reported as received",
            machine: CallMachine(hasCache: true),
            steps: toTransport + [(.cache, .refused), (.interceptResponse, .done)],
            last: .release
        ),
        Path(
            testDescription: "A replay does not count as a try",
            steps: sent + [(.release, .again(.replay)), (.again(.replay), .done)],
            last: .admit
        ),
        Path(
            testDescription: "A retry passes all steps again",
            steps: sent + [
                (.release, .done), (.decide, .again(.retry(after: pause))), (.again(.retry(after: pause)), .done),
            ] + sent,
            last: .release,
            tries: 2
        ),
        Path(
            testDescription: "A resumption without progress keeps the count of tries",
            steps: sent + [
                (.release, .done), (.decide, .again(.retry(after: pause))), (.again(.retry(after: pause)), .done),
            ] + sent + [
                (.release, .done), (.decide, .again(.resume(after: pause))), (.again(.resume(after: pause)), .done),
            ],
            last: .admit,
            tries: 2
        ),
        Path(
            testDescription: "A resumption after progress counts anew",
            steps: sent + [
                (.release, .done), (.decide, .again(.retry(after: pause))), (.again(.retry(after: pause)), .done),
            ] + sent + [
                (.release, .done), (.decide, .again(.resume(after: pause))),
                (.again(.resume(after: pause)), .progressed),
            ],
            last: .admit
        ),
        Path(
            testDescription: "A cancelled pause ends the request",
            steps: sent + [
                (.release, .done), (.decide, .again(.retry(after: pause))), (.again(.retry(after: pause)), .refused),
            ],
            last: .end
        ),
        Path(
            testDescription: "A race replaces the steps of an attempt",
            machine: CallMachine(hasCache: true, isHedged: true),
            steps: [
                (.race, .done), (.decide, .again(.retry(after: pause))), (.again(.retry(after: pause)), .done),
                (.race, .again(.replay)), (.again(.replay), .done), (.race, .done), (.decide, .done),
            ],
            last: .end,
            tries: 2
        ),
        Path(
            testDescription: "A request without other steps ends with its body",
            machine: .transferOnly,
            steps: [
                (.send, .done), (.redirect, .redirected), (.send, .done), (.redirect, .done), (.collect, .done),
            ],
            last: .end
        ),
        Path(
            testDescription: "A request without other steps ends with its failure",
            machine: .transferOnly,
            steps: [(.send, .failed)],
            last: .end
        ),
        Path(
            testDescription: "A request without other steps ends unsent",
            machine: .transferOnly,
            steps: [(.send, .refused)],
            last: .end
        ),
        Path(
            testDescription: "A request without other steps ends with the failure of its redirect",
            machine: .transferOnly,
            steps: [(.send, .done), (.redirect, .failed)],
            last: .end
        ),
    ]

    @Test("Each result leads to its step", arguments: paths)
    func eachResultLeadsToItsStep(_ path: Path) {
        var machine = path.machine
        for (place, (step, result)) in path.steps.enumerated() {
            #expect(machine.next == step, "at \(place)")
            machine.advance(result)
        }
        #expect(machine.next == path.last)
        #expect(machine.tries == path.tries)
    }

    @Test("The end is final", arguments: CallMachineTests.results)
    func endIsFinal(_ result: StepResult) {
        var machine = CallMachine.transferOnly
        machine.advance(.failed)
        machine.advance(result)
        #expect(machine.next == .end)
    }

    @Test("An attempt cut short releases its permits")
    func cutShortReleasesPermits() {
        var machine = CallMachine(hasCache: true)
        for _ in 0..<3 { machine.advance() }
        machine.skipToRelease()
        #expect(machine.next == .release)
    }

    private static let results: [StepResult] = [
        .done, .refused, .failed, .redirected, .progressed, .again(.replay), .again(.retry(after: pause)),
        .again(.resume(after: pause)),
    ]

    @Test("Every attempt releases its permits once, for random results", arguments: 0..<200)
    func randomResultsReleasePermitsOnce(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var machine = CallMachine(hasCache: seed.isMultiple(of: 2))
        var holds = false
        for _ in 0..<500 {
            let step = machine.next
            switch step {
            case .admit:
                #expect(!holds)
                holds = true
            case .release:
                #expect(holds)
                holds = false
            case .decide, .again, .end: #expect(!holds)
            default: #expect(holds)
            }
            if step == .end { return }
            machine.advance(Self.results.randomElement(using: &random) ?? .done)
        }
    }
}
