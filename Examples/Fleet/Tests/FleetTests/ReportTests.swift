import Foundation
import Testing

@testable import FleetReport

/// The conditions of the table. Each holds for a run as it should be, and fails if that run is changed.
struct ReportTests {
    @Test func tableOfARunAsItShouldBe() {
        let report = Report(SampleRun().events)
        #expect(report.holds, "\(report.text)")
        #expect(report.text.contains("✓ refresh tokens used twice"))
        #expect(!report.text.contains("✗"))
    }

    /// A change of a run, and the row of the condition that it breaks.
    struct Fault: Sendable, CustomTestStringConvertible {
        let row: String
        let change: @Sendable (inout SampleRun) -> Void

        init(_ row: String, _ change: @escaping @Sendable (inout SampleRun) -> Void) {
            (self.row, self.change) = (row, change)
        }

        var testDescription: String { row }
    }

    private static let faults = [
        Fault("token refreshes") { $0.events.removeAll { $0.kind == .token } },
        Fault("token refreshes") { run in for second in 0..<20 { run.add(.token, at: Double(second)) } },
        Fault("refresh tokens used twice") { $0.add(.reusedToken, at: 3) },
        Fault("orders") { $0.events.removeAll { $0.kind == .order && $0.time > 1008 } },
        Fault("share of the orders that are allowed in 1 s") { run in
            for _ in 0..<60 { run.add(.order, at: 4) }
        },
        Fault("share of the orders that are allowed in 10 s") { run in
            for number in 0..<60 { run.add(.order, at: Double(number) / 6) }
        },
        Fault("pages fetched") { run in for _ in 0..<300 { run.add(.page, at: 5) } },
        Fault("pages served") { $0.change { $0.pages = 0 } },
        Fault("wrong bodies") { $0.change { $0.wrong = 1 } },
        Fault("errors that users saw") { $0.change { $0.errors = ["timedOut": 1] } },
        Fault("orders of a service after its restart") {
            $0.events.removeAll { $0.kind == .counts && $0.service == 2 && $0.time > 1007 }
        },
        Fault("orders while Redis was away") {
            $0.events.removeAll { $0.kind == .order && (1012..<1014).contains($0.time) }
        },
        Fault("time until Redis was used again") { $0.events.removeAll { $0.kind == .fallbackEnded } },
    ]

    @Test(arguments: faults) func conditionsCanFail(_ fault: Fault) {
        var run = SampleRun()
        fault.change(&run)
        let report = Report(run.events)
        #expect(!report.holds)
        #expect(report.rows.first { $0.name == fault.row }?.holds == false, "\(report.text)")
    }

    @Test func runWithoutEventsFails() {
        #expect(!Report([]).holds)
    }

    @Test func lineWithoutItsEndIsIgnored() throws {
        let event = FleetEvent(.counts, at: 1.5, service: 2, counts: ServiceCounts())
        let line = try JSONEncoder().encode(event)
        let newline = Data("\n".utf8)
        #expect(try FleetEvent.events(in: line + newline + line.dropLast(4)) == [event])
        #expect(try FleetEvent.events(in: line) == [])
        #expect(throws: DecodingError.self) { try FleetEvent.events(in: line.dropLast(4) + newline) }
    }
}

struct RateCheckTests {
    private var rules: FleetRules {
        var rules = FleetRules()
        rules.jitter = 0
        return rules
    }

    private static let evenly = (0..<1000).map { Double($0) / 100 }

    @Test(arguments: [
        ([FleetEvent](), 120),
        // One of three services takes a third of the rate, and has a bucket of its own.
        ([FleetEvent(.fallbackStarted, at: 0, service: 1)], 120 + 33 + 7),
        // It stops before the span, or within it.
        ([FleetEvent(.fallbackStarted, at: 0, service: 1), FleetEvent(.fallbackEnded, at: 2, service: 1)], 120),
        ([FleetEvent(.fallbackStarted, at: 0, service: 1), FleetEvent(.serviceKilled, at: 2, service: 1)], 120),
        // Without Redis, the shares are the limit.
        ((1...3).map { FleetEvent(.fallbackStarted, at: 0, service: $0) }, 140),
    ])
    func allowedOrdersOfASecond(_ events: [FleetEvent], _ expected: Int) {
        let check = RateCheck(Self.evenly, events, rules)
        #expect(abs(check.allowed(from: 4, seconds: 1) - expected) <= 2)
    }

    @Test func worstSpan() throws {
        let burst = Array(repeating: 5.0, count: 200)
        let check = RateCheck(Self.evenly + burst, [], rules)
        let worst = try #require(check.worst(seconds: 1))
        #expect(worst.count >= 299 && worst.start > 4 && worst.start <= 5 && worst.share > 1)
        #expect(check.largest(seconds: 1) == 300)
        #expect(RateCheck(Self.evenly, [], rules).worst(seconds: 1)?.share ?? 2 < 1)
        // The run is shorter than the span.
        #expect(check.worst(seconds: 20) == nil)
    }
}
