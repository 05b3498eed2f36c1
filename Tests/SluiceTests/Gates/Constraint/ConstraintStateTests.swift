import Testing

@testable import Sluice

@Suite struct ConstraintStateTests {
    enum Event: Sendable {
        case arrived(Int)
        case checked(Int, Bool)
        case checkTimedOut(Int)
        case satisfied
        case failed
        case cancelled(Int)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let promise: String
        let steps: [(Event, [ConstraintState.Action])]

        init(_ promise: String, _ steps: (Event, [ConstraintState.Action])...) {
            self.promise = promise
            self.steps = steps
        }

        var testDescription: String { promise }
    }

    static let rows = [
        Row(
            "a satisfied constraint admits at once, one question at a time",
            (.arrived(1), [.check(1)]),
            (.arrived(2), []),
            (.checked(1, true), [.admit([1]), .check(2)]),
            (.checked(2, true), [.admit([2])])
        ),
        Row(
            "one satisfaction is for all who wait",
            (.arrived(1), [.check(1)]),
            (.arrived(2), []),
            (.checked(1, false), [.satisfy, .check(2)]),
            (.checked(2, false), []),
            (.satisfied, [.admit([1, 2])])
        ),
        Row(
            "who needs no satisfaction passes those who wait for it",
            (.arrived(1), [.check(1)]),
            (.checked(1, false), [.satisfy]),
            (.arrived(2), [.check(2)]),
            (.checked(2, true), [.admit([2])]),
            (.satisfied, [.admit([1])])
        ),
        Row(
            "an error fails all who wait, and the next one tries again",
            (.arrived(1), [.check(1)]),
            (.arrived(2), []),
            (.checked(1, false), [.satisfy, .check(2)]),
            (.checked(2, false), []),
            (.failed, [.fail([1, 2])]),
            (.arrived(3), [.check(3)]),
            (.checked(3, false), [.satisfy]),
            (.satisfied, [.admit([3])])
        ),
        Row(
            "an answer of before the satisfaction is not believed",
            (.arrived(1), [.check(1)]),
            (.checked(1, false), [.satisfy]),
            (.arrived(2), [.check(2)]),
            (.satisfied, [.admit([1])]),
            (.arrived(3), []),
            (.checked(2, false), [.check(2)]),
            (.checked(2, true), [.admit([2]), .check(3)])
        ),
        Row(
            "an answer of during a satisfaction that failed begins another",
            (.arrived(1), [.check(1)]),
            (.checked(1, false), [.satisfy]),
            (.arrived(2), [.check(2)]),
            (.failed, [.fail([1])]),
            (.checked(2, false), [.satisfy])
        ),
        Row(
            "one who leaves does not stop the others",
            (.arrived(1), [.check(1)]),
            (.arrived(2), []),
            (.arrived(3), []),
            (.cancelled(2), []),
            (.checked(1, false), [.satisfy, .check(3)]),
            (.checked(3, false), []),
            (.cancelled(1), []),
            (.satisfied, [.admit([3])])
        ),
        Row(
            "the last one who leaves cancels the satisfaction",
            (.arrived(1), [.check(1)]),
            (.checked(1, false), [.satisfy]),
            (.cancelled(1), [.cancelSatisfaction]),
            (.failed, [])
        ),
        Row(
            "one who comes while a cancelled satisfaction ends has another begun after it",
            (.arrived(1), [.check(1)]),
            (.checked(1, false), [.satisfy]),
            (.cancelled(1), [.cancelSatisfaction]),
            (.arrived(2), [.check(2)]),
            (.checked(2, false), []),
            (.failed, [.satisfy]),
            (.satisfied, [.admit([2])])
        ),
        Row(
            "a cancelled satisfaction that succeeds all the same is good enough",
            (.arrived(1), [.check(1)]),
            (.checked(1, false), [.satisfy]),
            (.cancelled(1), [.cancelSatisfaction]),
            (.arrived(2), [.check(2)]),
            (.checked(2, false), []),
            (.satisfied, [.admit([2])])
        ),
        Row(
            "who leaves while being asked holds nobody up once the answer is there",
            (.arrived(1), [.check(1)]),
            (.arrived(2), []),
            (.cancelled(1), [.cancelCheck(1)]),
            (.checked(1, false), [.check(2)]),
            (.checked(2, true), [.admit([2])])
        ),
        Row(
            "a question that is not checked fails that request only",
            (.arrived(1), [.check(1)]),
            (.arrived(2), []),
            (.checkTimedOut(1), [.fail([1]), .check(2)]),
            (.checked(1, false), []),
            (.checked(2, true), [.admit([2])])
        ),
        Row(
            "one who leaves while being asked is not failed as well",
            (.arrived(1), [.check(1)]),
            (.cancelled(1), [.cancelCheck(1)]),
            (.checkTimedOut(1), [])
        ),
        Row(
            "what nobody waits for changes nothing",
            (.satisfied, []),
            (.failed, []),
            (.cancelled(7), []),
            (.checked(7, true), []),
            (.checkTimedOut(7), [])
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
        case .checked(let id, let isSatisfied): checked(id, isSatisfied)
        case .checkTimedOut(let id): checkTimedOut(id)
        case .satisfied: satisfied()
        case .failed: failed()
        case .cancelled(let id): cancelled(id)
        }
    }
}
