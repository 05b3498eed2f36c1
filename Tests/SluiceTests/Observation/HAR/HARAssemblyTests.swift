import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct HARAssemblyTests {
    private let start = ContinuousClock.now
    private let date = Date(timeIntervalSince1970: 1_767_225_600)
    private let request = HTTPRequest(scheme: "http", authority: "a.example", path: "/one")

    private func observed(_ milliseconds: Int, _ attempt: Int = 1, id: UInt64 = 7) -> ObservedRequest {
        ObservedRequest(
            id: RequestID(rawValue: id),
            attempt: attempt,
            route: "one",
            elapsed: .milliseconds(milliseconds),
            began: start,
            beganDate: date
        )
    }

    private func response(_ status: HTTPStatus = .ok, _ headers: HTTPHeaders = [:]) -> ServerResponse {
        ServerResponse(request: request, head: HTTPResponse(status: status, headers: headers), body: Data())
    }

    private func entries(_ events: [(Int, Int, RequestEvent)], maximumEntries: Int = 100) -> [HAR.Entry] {
        var assembly = HARAssembly(
            HARTranscript(redaction: .standard, maximumBodyBytes: 100),
            maximumEntries: maximumEntries
        )
        for (time, attempt, event) in events { assembly.record(event, of: observed(time, attempt)) }
        return assembly.entries
    }

    @Test func recordsRequestAsOneEntryWithGateTimes() throws {
        let entries = entries([
            (0, 0, .began(request)), (1, 1, .waiting(gate: "Gate")), (4, 1, .admitted(gate: "Gate")),
            (5, 1, .sending(request)),
            (30, 1, .received(.success(response()))), (31, 0, .finished(.success(response()))),
        ])
        let entry = try #require(entries.first)
        #expect(entries.count == 1)
        #expect(entry.startedDateTime == date)
        #expect(entry.timings == HAR.Timings(blocked: 5, wait: 25) && entry.time == 30)
        #expect(entry.requestID == 7 && entry.attempt == 1 && entry.redirectCount == 0 && entry.route == "one")
        #expect(entry.waits == [HAR.Entry.Wait(name: "Gate", time: 3)])
        #expect(entry.gates.first?.name == "Gate" && entry.gates.first?.milliseconds == 3)
        #expect(entry.isFromRetry == nil && entry.error == nil)
    }

    @Test func recordsEachRedirectHop() {
        let next = HTTPRequest(scheme: "http", authority: "b.example", path: "/two")
        let entries = entries([
            (0, 0, .began(request)), (1, 1, .sending(request)), (10, 1, .redirected(response(.found), to: next)),
            (12, 1, .sending(next)), (20, 1, .received(.success(response()))), (20, 0, .finished(.success(response()))),
        ])
        #expect(entries.map(\.response.status) == [302, 200])
        #expect(entries.map(\.response.redirectURL) == ["http://b.example/two", ""])
        #expect(entries.map(\.request.url) == ["http://a.example/one", "http://b.example/two"])
        #expect(entries.map(\.redirectCount) == [0, 1])
        #expect(entries.map { ($0.startedDateTime.timeIntervalSince(date) * 1000).rounded() } == [0, 10])
        #expect(entries.map(\.time) == [10, 10])
    }

    @Test func recordsEachAttemptAfterItsDelay() {
        let failure = TransportOutcome.failure(SluiceError(.connectionLost, "It was lost."))
        let entries = entries([
            (0, 0, .began(request)), (1, 1, .sending(request)), (10, 1, .received(failure)),
            (10, 1, .retrying(after: .milliseconds(100), failure)), (112, 2, .sending(request)),
            (130, 2, .received(.success(response()))), (130, 0, .finished(.success(response()))),
        ])
        #expect(entries.map(\.response.status) == [0, 200])
        #expect(entries.map(\.error) == ["connectionLost: It was lost.", nil])
        #expect(entries.map(\.attempt) == [1, 2] && entries.map(\.isFromRetry) == [nil, true])
        #expect(entries.last?.startedDateTime == date.addingTimeInterval(0.11))
        #expect(entries.last?.timings == HAR.Timings(blocked: 2, wait: 18))
    }

    @Test func recordsHedgeAndCancelledAttempt() {
        let entries = entries([
            (0, 0, .began(request)), (0, 1, .sending(request)), (50, 2, .hedging), (51, 2, .sending(request)),
            (60, 2, .received(.success(response()))), (60, 0, .finished(.success(response()))),
        ])
        #expect(entries.map(\.attempt) == [2, 1] && entries.map(\.isHedged) == [true, nil])
        #expect(entries.last?.error?.hasPrefix("cancelled") == true)
    }

    @Test func recordsUnsentRequestWithReason() throws {
        let error = SluiceError(.gateFailed, "Sign in first.")
        let refused = entries([
            (0, 0, .began(request)), (1, 1, .waiting(gate: "Gate")), (9, 1, .refused(gate: "Gate", error)),
            (10, 0, .finished(.failure(error))),
        ])
        let entry = try #require(refused.first)
        #expect(refused.count == 1 && entry.response.status == 0 && entry.error == "gateFailed: Sign in first.")
        #expect(entry.timings == HAR.Timings(blocked: 10) && entry.request.url == "http://a.example/one")
        #expect(entries([(0, 0, .finished(.failure(SluiceError(.invalidURL, ""))))]).isEmpty)
        let made = SluiceError(.encodingFailed, "", request: request)
        #expect(entries([(0, 0, .finished(.failure(made)))]).count == 1)
    }

    @Test func recordsErrorOfRejectedResponseUnlessStatusExplainsIt() {
        let error = SluiceError(.decodingFailed, "The body is not a user.")
        let status = SluiceError(.unacceptableStatus, "It is 404.")
        let got = { (status: HTTPStatus, error: SluiceError) in
            entries([
                (0, 0, .began(request)), (0, 1, .sending(request)), (5, 1, .received(.success(response(status)))),
                (5, 0, .finished(.failure(error))),
            ])
        }
        #expect(got(.ok, error).map(\.error) == ["decodingFailed: The body is not a user."])
        #expect(got(.notFound, status).map(\.error) == [nil])
    }

    @Test func recordsReasonOfStoppedTransfer() {
        let timeout = SluiceError(.timedOut, "It took too long.")
        let entries = entries([
            (0, 0, .began(request)), (0, 1, .sending(request)), (5, 1, .received(.failure(.cancelled))),
            (5, 0, .finished(.failure(timeout))),
        ])
        #expect(entries.map(\.error) == ["timedOut: It took too long."])
    }

    @Test func cancellationBetweenAttemptsKeepsLastEntry() {
        let busy = TransportOutcome.success(response(.serviceUnavailable))
        let entries = entries([
            (0, 0, .began(request)), (0, 1, .sending(request)), (5, 1, .received(busy)),
            (5, 1, .retrying(after: .seconds(1), busy)), (9, 0, .finished(.failure(.cancelled))),
        ])
        #expect(entries.map(\.response.status) == [503] && entries.map(\.error) == [nil])
    }

    @Test(arguments: [(0, []), (-1, []), (1, [9]), (3, [7, 8, 9]), (10, Array(0...9)), (50, Array(0...9))])
    func keepsNewestEntries(_ maximum: Int, _ kept: [Int]) {
        var assembly = HARAssembly(HARTranscript(redaction: .none, maximumBodyBytes: 0), maximumEntries: maximum)
        for number in 0..<10 {
            assembly.record(.sending(request), of: observed(number, id: UInt64(number)))
            assembly.record(.received(.success(response())), of: observed(number, id: UInt64(number)))
            assembly.record(
                .finished(.failure(SluiceError(.decodingFailed, ""))),
                of: observed(number, 0, id: UInt64(number))
            )
        }
        #expect(assembly.entries.map(\.requestID) == kept)
        #expect(assembly.entries.allSatisfy { $0.error != nil })
        #expect(assembly.droppedEntries == (maximum > 0 ? 10 - kept.count : 0))
        assembly.reset()
        #expect(assembly.entries.isEmpty && assembly.droppedEntries == 0)
    }

    @Test func eventsInAnyOrderDoNotTrap() {
        let error = SluiceError(.timedOut, "")
        let events: [RequestEvent] = [
            .received(.failure(error)), .redirected(response(), to: request), .admitted(gate: "x"), .hedging,
            .retrying(after: .seconds(-1), .failure(error)), .sending(request), .finished(.success(response())),
            .refused(gate: "y", error), .finished(.failure(error)), .began(request),
        ]
        var entries: [HAR.Entry] = []
        for first in events.indices {
            for second in events.indices {
                let order = [events[first], events[second]] + events
                entries += self.entries(order.map { (-5, 3, $0) }, maximumEntries: 2)
            }
        }
        #expect(!entries.isEmpty && entries.allSatisfy { $0.time >= 0 })
    }

    @Test func clampsIDBeyondInt() {
        var assembly = HARAssembly(HARTranscript(redaction: .none, maximumBodyBytes: 0), maximumEntries: 1)
        assembly.record(.sending(request), of: observed(0, id: .max))
        assembly.record(.received(.success(response())), of: observed(1, id: .max))
        #expect(assembly.entries.map(\.requestID) == [Int.max])
    }
}
