import SluiceTesting
import Testing

@testable import Sluice

@Suite struct DownloadPlanTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let resource: RemoteResource?
        let completed: [Range<Int64>]
        let segments: Int
        let hasFetched: Bool
        let isPlain: Bool
        let plan: DownloadPlan

        init(
            _ testDescription: String,
            _ resource: RemoteResource? = nil,
            _ completed: [Range<Int64>] = [],
            segments: Int = 1,
            hasFetched: Bool = false,
            isPlain: Bool = false,
            asks plan: DownloadPlan
        ) {
            self.testDescription = testDescription
            self.resource = resource
            self.completed = completed
            self.segments = segments
            self.hasFetched = hasFetched
            self.isPlain = isPlain
            self.plan = plan
        }
    }

    private static func of(
        _ length: Int64?,
        _ validator: ResourceValidator? = .entityTag("\"1\"")
    ) -> RemoteResource {
        RemoteResource(url: "http://h/f", validator: validator, length: length)
    }

    static let cases: [Case] = [
        Case("nothing is known", asks: .whole),
        Case("nothing is known, with segments", segments: 4, asks: .probe(0..<100)),
        Case("without a validator there is no range", of(1000, nil), [0..<10], asks: .whole),
        Case("a beginning", of(1000), [0..<300], asks: .rest(from: 300)),
        Case("a beginning of no known length", of(nil), [0..<300], asks: .rest(from: 300)),
        Case("known, and nothing stored", of(1000), asks: .whole),
        Case("holes are filled one by one", of(1000), [0..<10, 20..<1000], asks: .segments([10..<20])),
        Case("complete from an earlier send", of(1000), [0..<1000], asks: .rest(from: 999)),
        Case("complete by this send", of(1000), [0..<1000], hasFetched: true, asks: .done),
        Case("an empty file", of(0), hasFetched: true, asks: .done),
        Case("an empty file of an earlier send", of(0), asks: .whole),
        Case(
            "in four segments",
            of(1000),
            [0..<100],
            segments: 4,
            hasFetched: true,
            asks: .segments([100..<325, 325..<550, 550..<775, 775..<1000])
        ),
        Case("too small for segments", of(250), [0..<100], segments: 4, hasFetched: true, asks: .rest(from: 100)),
        Case(
            "holes as segments",
            of(1000),
            [0..<100, 400..<900],
            segments: 2,
            hasFetched: true,
            asks: .segments([100..<400, 900..<1000])
        ),
        Case(
            "at most the allowed number",
            of(1000),
            [0..<100, 200..<300, 400..<900],
            segments: 2,
            hasFetched: true,
            asks: .segments([100..<200, 300..<400])
        ),
        Case("without ranges", of(1000), [0..<100], segments: 4, isPlain: true, asks: .whole),
    ]

    @Test(arguments: cases) func planRequestsTheMissingRanges(_ test: Case) {
        var options = DownloadOptions()
        options.segments = test.segments
        options.minimumSegment = 100
        let plan = DownloadPlan(
            test.resource,
            ByteRanges(test.completed),
            options,
            hasFetched: test.hasFetched,
            isPlain: test.isPlain
        )
        #expect(plan == test.plan)
    }

    @Test func segmentsCoverTheMissingRanges() {
        var random = SeededGenerator(seed: 7)
        var count = 0
        for _ in 0..<500 {
            let length = Int64.random(in: 1...10_000, using: &random)
            var completed = ByteRanges()
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let start = Int64.random(in: 0..<length, using: &random)
                completed.insert(start..<Int64.random(in: start...length, using: &random))
            }
            var options = DownloadOptions()
            options.segments = Int.random(in: 2...9, using: &random)
            options.minimumSegment = 100
            let plan = DownloadPlan(Self.of(length), completed, options, hasFetched: true, isPlain: false)
            guard case .segments(let spans) = plan else { continue }
            count += 1
            let missing = completed.missing(upTo: length)
            let all = ByteRanges(spans)
            #expect(spans.count <= options.segments)
            #expect(all.count == spans.reduce(0) { $0 + Int64($1.count) }, "no overlap")
            #expect(spans.allSatisfy { span in missing.contains { $0.clamped(to: span) == span } })
            if missing.count <= options.segments { #expect(all == ByteRanges(missing)) }
        }
        #expect(count > 100)
    }
}
