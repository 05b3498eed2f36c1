import SluiceTesting
import Testing

@testable import Sluice

@Suite struct GraphPlanTests {
    /// Parses steps: `a`, or `b: a c` for a step that needs two others.
    private static func steps(_ lines: String) -> [GraphPlan.Step] {
        lines.split(separator: ",").map { line in
            let parts = line.split(separator: ":")
            let needs = parts.dropFirst().flatMap { $0.split(separator: " ") }.map(String.init)
            return GraphPlan.Step(
                name: parts[0].filter { $0 != " " },
                output: GraphType(Int.self),
                needs: needs.map { GraphPlan.Need(name: $0, type: GraphType(Int.self)) }
            )
        }
    }

    /// Returns the steps in waves. Each wave has the steps that can run after all earlier ones.
    private static func waves(_ steps: [GraphPlan.Step]) throws -> [String] {
        var frontier = GraphFrontier(try GraphPlan(steps))
        var waves: [String] = []
        while true {
            var wave: [Int] = []
            while let step = frontier.next() { wave.append(step) }
            if wave.isEmpty { return waves }
            waves.append(wave.map { steps[$0].name }.joined(separator: " "))
            for step in wave { frontier.finish(step) }
        }
    }

    @Test(
        arguments: [
            ("", []),
            ("a", ["a"]),
            ("a, b, c", ["a b c"]),
            ("a, b: a, c: b", ["a", "b", "c"]),
            ("c: b, b: a, a", ["a", "b", "c"]),
            ("a, b: a, c: a, d: b c", ["a", "b c", "d"]),
            ("a, b: a a", ["a", "b"]),
            ("a, x, b: a, y: x b", ["a x", "b", "y"]),
        ]
    )
    func stepsRunInWaves(_ lines: String, _ expected: [String]) throws {
        #expect(try Self.waves(Self.steps(lines)) == expected)
    }

    @Test(
        arguments: [
            ("a: a", ["Steps depend on each other in a cycle: “a” → “a”."]),
            ("a: b, b: a", ["Steps depend on each other in a cycle: “a” → “b” → “a”."]),
            ("x, a: c x, b: a, c: b, d: c", ["Steps depend on each other in a cycle: “a” → “c” → “b” → “a”."]),
            (
                "a: b, b: a, c: d, d: c",
                [
                    "Steps depend on each other in a cycle: “a” → “b” → “a”.",
                    "Steps depend on each other in a cycle: “c” → “d” → “c”.",
                ]
            ),
            ("d: c, c: c", ["Steps depend on each other in a cycle: “c” → “c”."]),
            ("a: b", ["The step “a” depends on “b”, which is not in the graph."]),
            ("a, b, a", ["More than one step is named “a”."]),
            (
                "a, a: z, b: b",
                [
                    "More than one step is named “a”.", "The step “a” depends on “z”, which is not in the graph.",
                    "Steps depend on each other in a cycle: “b” → “b”.",
                ]
            ),
        ] as [(String, [String])]
    )
    func allDefectsAreReportedWithTheirSteps(_ lines: String, _ expected: [String]) {
        do throws(GraphFailure) {
            _ = try GraphPlan(Self.steps(lines))
            Issue.record("\(lines) was accepted.")
        } catch {
            #expect(error.defects == expected)
            #expect((error.error as? SluiceError)?.code == .invalidGraph)
            for defect in expected { #expect(error.description.contains(defect)) }
        }
    }

    @Test func mismatchedTypeIsReportedWithStepsAndTypes() {
        var steps = Self.steps("a")
        let need = GraphPlan.Need(name: "a", type: GraphType(String.self))
        steps.append(GraphPlan.Step(name: "b", output: GraphType(Int.self), needs: [need]))
        do throws(GraphFailure) {
            _ = try GraphPlan(steps)
            Issue.record("The graph was accepted.")
        } catch {
            #expect(error.defects.count == 1)
            #expect(error.description == "The step “b” expects String from “a”, which gives Int.")
        }
    }

    @Test(
        arguments: [
            ("a, b: a, c: b, d", "a", ["b", "c"]), ("a, b: a, c: a b", "b", ["c"]), ("a, b", "a", []),
            ("a, b: a, c: a, d: b c", "a", ["b", "c", "d"]),
        ]
    )
    func dependentsOfAFailedStepAreSkippedOnce(_ lines: String, _ failed: String, _ expected: [String]) throws {
        let steps = Self.steps(lines)
        let plan = try GraphPlan(steps)
        var frontier = GraphFrontier(plan)
        let position = try #require(plan.positions[failed])
        #expect(frontier.fail(position).map { steps[$0].name }.sorted() == expected)
        #expect(frontier.fail(position).isEmpty)
    }

    @Test func randomGraphRunsStepsAfterTheirDependencies() throws {
        for seed in 0..<50 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let count = 60
            // Each step needs some steps with smaller numbers. They are added in random order.
            let steps = (0..<count).map { number in
                let needs = (0..<number).filter { _ in Int.random(in: 0..<10, using: &random) == 0 }
                return GraphPlan.Step(
                    name: "\(number)",
                    output: GraphType(Int.self),
                    needs: needs.map { GraphPlan.Need(name: "\($0)", type: GraphType(Int.self)) }
                )
            }.shuffled(using: &random)
            let plan = try GraphPlan(steps)
            var frontier = GraphFrontier(plan)
            var done: Set<Int> = []
            while let step = frontier.next() {
                #expect(plan.needs[step].allSatisfy(done.contains))
                #expect(done.insert(step).inserted)
                frontier.finish(step)
            }
            #expect(done.count == count)
        }
    }

    @Test func chainOfAHundredThousandStepsIsPlanned() throws {
        // A chain, which would take minutes if the planner examined all steps for each step.
        let steps = (0..<100_000).map { number in
            let needs = number == 0 ? [] : [GraphPlan.Need(name: "\(number - 1)", type: GraphType(Int.self))]
            return GraphPlan.Step(name: "\(number)", output: GraphType(Int.self), needs: needs)
        }
        #expect(try GraphPlan(steps).needs.count == 100_000)
    }
}
