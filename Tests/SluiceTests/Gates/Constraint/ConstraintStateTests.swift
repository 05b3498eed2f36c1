import Testing

@testable import Sluice

@Suite struct ConstraintStateTests {
    enum Event: Sendable {
        case arrived(Int)
        case answered(Int, Bool)
        case unanswered(Int)
        case satisfied
        case failed
        case left(Int)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let summary: String
        let steps: [(Event, [ConstraintState.Action])]

        init(_ summary: String, _ steps: (Event, [ConstraintState.Action])...) {
            self.summary = summary
            self.steps = steps
        }

        var testDescription: String { summary }
    }

    static let rows = [
        Row(
            "a satisfied constraint admits requests, with one check at a time",
            (.arrived(1), [.ask(1)]),
            (.arrived(2), []),
            (.answered(1, true), [.admit([1]), .ask(2)]),
            (.answered(2, true), [.admit([2])])
        ),
        Row(
            "one satisfaction admits all waiting requests",
            (.arrived(1), [.ask(1)]),
            (.arrived(2), []),
            (.answered(1, false), [.satisfy, .ask(2)]),
            (.answered(2, false), []),
            (.satisfied, [.admit([1, 2])])
        ),
        Row(
            "a request that is satisfied overtakes requests that wait",
            (.arrived(1), [.ask(1)]),
            (.answered(1, false), [.satisfy]),
            (.arrived(2), [.ask(2)]),
            (.answered(2, true), [.admit([2])]),
            (.satisfied, [.admit([1])])
        ),
        Row(
            "an error fails all waiting requests, and the next request retries",
            (.arrived(1), [.ask(1)]),
            (.arrived(2), []),
            (.answered(1, false), [.satisfy, .ask(2)]),
            (.answered(2, false), []),
            (.failed, [.fail([1, 2])]),
            (.arrived(3), [.ask(3)]),
            (.answered(3, false), [.satisfy]),
            (.satisfied, [.admit([3])])
        ),
        Row(
            "a check that began before the satisfaction is repeated",
            (.arrived(1), [.ask(1)]),
            (.answered(1, false), [.satisfy]),
            (.arrived(2), [.ask(2)]),
            (.satisfied, [.admit([1])]),
            (.arrived(3), []),
            (.answered(2, false), [.ask(2)]),
            (.answered(2, true), [.admit([2]), .ask(3)])
        ),
        Row(
            "a check during a failed satisfaction starts another one",
            (.arrived(1), [.ask(1)]),
            (.answered(1, false), [.satisfy]),
            (.arrived(2), [.ask(2)]),
            (.failed, [.fail([1])]),
            (.answered(2, false), [.satisfy])
        ),
        Row(
            "a cancelled request does not stop the others",
            (.arrived(1), [.ask(1)]),
            (.arrived(2), []),
            (.arrived(3), []),
            (.left(2), []),
            (.answered(1, false), [.satisfy, .ask(3)]),
            (.answered(3, false), []),
            (.left(1), []),
            (.satisfied, [.admit([3])])
        ),
        Row(
            "the last request to leave cancels the satisfaction",
            (.arrived(1), [.ask(1)]),
            (.answered(1, false), [.satisfy]),
            (.left(1), [.cancelSatisfaction]),
            (.failed, [])
        ),
        Row(
            "a request that arrives during cancellation starts another satisfaction",
            (.arrived(1), [.ask(1)]),
            (.answered(1, false), [.satisfy]),
            (.left(1), [.cancelSatisfaction]),
            (.arrived(2), [.ask(2)]),
            (.answered(2, false), []),
            (.failed, [.satisfy]),
            (.satisfied, [.admit([2])])
        ),
        Row(
            "a cancelled satisfaction that succeeds admits new requests",
            (.arrived(1), [.ask(1)]),
            (.answered(1, false), [.satisfy]),
            (.left(1), [.cancelSatisfaction]),
            (.arrived(2), [.ask(2)]),
            (.answered(2, false), []),
            (.satisfied, [.admit([2])])
        ),
        Row(
            "a request cancelled during its check does not block the next check",
            (.arrived(1), [.ask(1)]),
            (.arrived(2), []),
            (.left(1), [.cancelQuestion(1)]),
            (.answered(1, false), [.ask(2)]),
            (.answered(2, true), [.admit([2])])
        ),
        Row(
            "a check without an answer fails its request only",
            (.arrived(1), [.ask(1)]),
            (.arrived(2), []),
            (.unanswered(1), [.fail([1]), .ask(2)]),
            (.answered(1, false), []),
            (.answered(2, true), [.admit([2])])
        ),
        Row(
            "a request cancelled during its check does not also fail",
            (.arrived(1), [.ask(1)]),
            (.left(1), [.cancelQuestion(1)]),
            (.unanswered(1), [])
        ),
        Row(
            "results without a waiting request have no effect",
            (.satisfied, []),
            (.failed, []),
            (.left(7), []),
            (.answered(7, true), []),
            (.unanswered(7), [])
        ),
    ]

    @Test(arguments: rows)
    func eventsProduceExpectedActions(_ row: Row) {
        var state = ConstraintState()
        for (number, (event, actions)) in row.steps.enumerated() {
            #expect(state.take(event) == actions, "step \(number + 1): \(event)")
        }
    }
}

extension ConstraintState {
    mutating func take(_ event: ConstraintStateTests.Event) -> [Action] {
        switch event {
        case .arrived(let id): arrived(id)
        case .answered(let id, let isSatisfied): answered(id, isSatisfied)
        case .unanswered(let id): unanswered(id)
        case .satisfied: satisfied()
        case .failed: failed()
        case .left(let id): cancelled(id)
        }
    }
}
