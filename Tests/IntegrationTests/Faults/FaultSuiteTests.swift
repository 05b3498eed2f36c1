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

    private let responses: [FaultExchange] = [
        .plain, .chunked, .compressed, .compressedChunks, .untilClose, .compressedUntilClose, .empty, .head, .hinted,
    ]

    private func cases(_ exchanges: [FaultExchange], _ faults: (FaultExchange) -> [WireFault]) -> [FaultCase] {
        exchanges.flatMap { exchange in
            faults(exchange).map { FaultCase(exchange: exchange, fault: $0, sender: .transport) }
        }
    }

    /// Runs the cases, and checks for leaked descriptors.
    ///
    /// Idle connections of other tests may remain or close meanwhile, because XCTest keeps some servers until the end.
    private func run(_ cases: [FaultCase], line: UInt = #line) async throws {
        // Starts the engine and both APIs first, since they keep descriptors.
        for sender in [FaultSender.transport, .client] {
            _ = try await FaultSuite.requestLength(of: .plain, by: sender)
        }
        let before = try FaultSuite.openDescriptors()
        let problems = try await FaultSuite.run(cases)
        for problem in problems.prefix(20) { XCTFail(problem, line: line) }
        XCTAssertEqual(problems.count, 0, "of \(cases.count) cases", line: line)
        let statistics = SocketTransport.statistics()
        XCTAssertEqual(statistics.activeTransfers, 0, line: line)
        XCTAssertEqual(statistics.queuedTransfers, 0, line: line)
        try await waitUntil("all descriptors that were not open before are closed", within: .seconds(600)) {
            try FaultSuite.openDescriptors().allSatisfy { $0.value <= before[$0.key, default: 0] }
        }
    }

    func testReferenceReaderReadsIntendedResponses() throws {
        for exchange in responses + FaultExchange.uploads {
            var response = try WireReader.read(exchange.wire, isEnded: true, isHead: exchange.method == .head).get()
            if response.isGzip {
                XCTAssertEqual(response.body, FaultExchange.gzip, exchange.name)
                response.isGzip = false
                response.body = FaultExchange.text
            }
            XCTAssertEqual(response, exchange.intended, exchange.name)
        }
    }

    func testTruncatedResponseIsNeverAccepted() async throws {
        try await run(cases(responses + FaultExchange.uploads) { $0.cuts })
    }

    func testReadsSlowResponses() async throws {
        try await run(cases(responses + responses.map(\.onReusedConnection) + FaultExchange.uploads) { $0.slow })
    }

    func testDamagedResponseIsReadByTheRFCOrRejected() async throws {
        let kept = [FaultExchange.plain, .chunked, .compressed].map(\.onReusedConnection)
        try await run(cases(responses + FaultExchange.uploads + kept) { $0.garbage(seed: 1) })
    }

    func testInterruptedRequestFails() async throws {
        var all: [FaultCase] = []
        for exchange in [.plain] + FaultExchange.uploads {
            let length = try await FaultSuite.requestLength(of: exchange, by: .transport)
            all += cases([exchange]) { $0.requestCuts(length) }
        }
        all += cases(FaultExchange.uploads.filter { if case .expectingContinue = $0.upload { true } else { false } }) {
            _ in
            FaultExchange.continueFaults
        }
        try await run(all)
    }

    func testResendsOnlySafeRequestsAfterReusedConnectionFails() async throws {
        let reused = ([.plain, .chunked, .compressed] + FaultExchange.uploads).map(\.onReusedConnection)
        var all = cases(reused) { $0.cuts + [.endWhileIdle(.close), .endWhileIdle(.reset)] }
        for exchange in reused {
            let length = try await FaultSuite.requestLength(of: exchange, by: .transport)
            all += cases([exchange]) { $0.requestCuts(length) }
        }
        try await run(all)
    }

    func testExcessBytesAreNotTheNextResponse() async throws {
        let open = responses.filter { !$0.isEndedByClose }
        try await run(cases(open + open.map(\.onReusedConnection)) { _ in FaultExchange.excesses })
    }

    /// Tests a sample of all cases. Its stride does not divide the number of kinds.
    func testClientHandlesSampleOfAllFaults() async throws {
        let exchanges = responses + FaultExchange.uploads
        var all: [(FaultExchange, WireFault)] = exchanges.flatMap { exchange in
            (exchange.cuts + exchange.garbage(seed: 2) + exchange.slow).map { (exchange, $0) }
        }
        for exchange in exchanges + FaultExchange.uploads.map(\.onReusedConnection) {
            let length = try await FaultSuite.requestLength(of: exchange, by: .client)
            all += exchange.requestCuts(length).map { (exchange, $0) }
        }
        let sample = stride(from: 0, to: all.count, by: 13).map { all[$0] }
        try await run(sample.map { FaultCase(exchange: $0.0, fault: $0.1, sender: .client) })
    }
}
#endif
