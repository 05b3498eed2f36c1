#if os(Linux)
import Foundation
import Sluice
import SluiceEngine
import SluiceTesting
import XCTest

/// Injects every fault at every byte of an exchange. Each ends with a typed error or the right response, and the client remains
/// usable.
final class FaultSuiteTests: XCTestCase {
    override class func tearDown() {
        let count = FaultSuite.cases.withLock { $0 }
        print("fault suite: \(count) cases")
        super.tearDown()
    }

    private let answers: [FaultExchange] = [
        .plain, .chunked, .compressed, .compressedChunks, .untilClose, .compressedUntilClose, .empty, .head, .hinted,
    ]

    private func cases(_ exchanges: [FaultExchange], _ faults: (FaultExchange) -> [WireFault]) -> [FaultCase] {
        exchanges.flatMap { exchange in
            faults(exchange).map { FaultCase(exchange: exchange, fault: $0, door: .transport) }
        }
    }

    /// Runs the cases, and checks for leaked descriptors.
    ///
    /// Idle connections of other tests may remain or close meanwhile, because XCTest keeps some servers until the end.
    private func run(_ cases: [FaultCase], line: UInt = #line) async throws {
        // Starts the engine and both APIs first, since they keep descriptors.
        for door in [FaultDoor.transport, .client] { _ = try await FaultSuite.requestLength(of: .plain, by: door) }
        let before = try FaultSuite.openDescriptors()
        let complaints = try await FaultSuite.run(cases)
        for complaint in complaints.prefix(20) { XCTFail(complaint, line: line) }
        XCTAssertEqual(complaints.count, 0, "of \(cases.count) cases", line: line)
        let statistics = await SocketTransport.statistics()
        XCTAssertEqual(statistics.activeTransfers, 0, line: line)
        XCTAssertEqual(statistics.queuedTransfers, 0, line: line)
        try await waitUntil("all descriptors that were not open before are closed", within: .seconds(600)) {
            try FaultSuite.openDescriptors().allSatisfy { $0.value <= before[$0.key, default: 0] }
        }
    }

    func testTheReferenceReadsWhatIsMeant() throws {
        for exchange in answers + FaultExchange.uploads {
            var response = try WireReader.read(exchange.wire, isEnded: true, isHead: exchange.method == .head).get()
            if response.isGzip {
                XCTAssertEqual(response.body, FaultExchange.gzip, exchange.name)
                response.isGzip = false
                response.body = FaultExchange.text
            }
            XCTAssertEqual(response, exchange.meant, exchange.name)
        }
    }

    func testAnAnswerThatBreaksOffIsNeverTakenForWhole() async throws {
        try await run(cases(answers + FaultExchange.uploads) { $0.cuts })
    }

    func testAnAnswerThatComesSlowlyIsRight() async throws {
        try await run(cases(answers + answers.map(\.second) + FaultExchange.uploads) { $0.slow })
    }

    func testGarbageIsReadAsItStandsOrNotAtAll() async throws {
        let kept = [FaultExchange.plain, .chunked, .compressed].map(\.second)
        try await run(cases(answers + FaultExchange.uploads + kept) { $0.garbage(seed: 1) })
    }

    func testARequestThatBreaksOffFails() async throws {
        var all: [FaultCase] = []
        for exchange in [.plain] + FaultExchange.uploads {
            let length = try await FaultSuite.requestLength(of: exchange, by: .transport)
            all += cases([exchange]) { $0.requestCuts(length) }
        }
        all += cases(FaultExchange.uploads.filter { if case .asking = $0.upload { true } else { false } }) { _ in
            FaultExchange.continueFaults
        }
        try await run(all)
    }

    func testAKeptConnectionThatBreaksOffSendsAgainOnlyWhatMayBe() async throws {
        let seconds = ([.plain, .chunked, .compressed] + FaultExchange.uploads).map(\.second)
        var all = cases(seconds) { $0.cuts + [.endWhileIdle(.close), .endWhileIdle(.reset)] }
        for exchange in seconds {
            let length = try await FaultSuite.requestLength(of: exchange, by: .transport)
            all += cases([exchange]) { $0.requestCuts(length) }
        }
        try await run(all)
    }

    func testWhatIsLeftBehindAnAnswerIsNotTheNextOne() async throws {
        let open = answers.filter { !$0.isEndedByClose }
        try await run(cases(open + open.map(\.second)) { _ in FaultExchange.excesses })
    }

    /// Tests a sample of all cases. Its stride does not divide the number of kinds.
    func testTheSameHoldsForAClient() async throws {
        let exchanges = answers + FaultExchange.uploads
        var all: [(FaultExchange, WireFault)] = exchanges.flatMap { exchange in
            (exchange.cuts + exchange.garbage(seed: 2) + exchange.slow).map { (exchange, $0) }
        }
        for exchange in exchanges + FaultExchange.uploads.map(\.second) {
            let length = try await FaultSuite.requestLength(of: exchange, by: .client)
            all += exchange.requestCuts(length).map { (exchange, $0) }
        }
        let sample = stride(from: 0, to: all.count, by: 13).map { all[$0] }
        try await run(sample.map { FaultCase(exchange: $0.0, fault: $0.1, door: .client) })
    }
}
#endif
