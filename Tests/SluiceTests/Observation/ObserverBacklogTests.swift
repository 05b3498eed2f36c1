import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice

/// The memory of events that wait for a slow observer.
@Suite struct ObserverBacklogTests {
    private typealias Cost = ObserverBacklog.Cost

    @Test func bodiesAreOmittedBeforeEventsAreDropped() {
        var backlog = ObserverBacklog()
        let large = Cost(requestBodies: 1 << 20, responseBodies: 3 << 20, other: 1000)
        #expect((0..<4).map { _ in backlog.add(large) } == [.whole, .whole, .whole, .whole])
        #expect(backlog.bodies == ObserverBacklog.bodyLimit)
        #expect(backlog.add(large) == .withoutBodies)
        #expect(backlog.add(Cost(other: 1000)) == .whole, "It has no body to omit.")
        backlog.remove(large)
        #expect(backlog.add(large) == .whole)
        backlog.remove(large.withoutBodies)
        #expect(backlog.bodies == ObserverBacklog.bodyLimit)
        #expect(backlog.count == 5)
        #expect(backlog.add(Cost(other: ObserverBacklog.otherLimit)) == .dropped)
        #expect(backlog.add(Cost(requestBodies: .max, other: 1)) == .withoutBodies)
        #expect(backlog.add(Cost(other: .max)) == .dropped)
    }

    @Test(arguments: 1...10)
    func randomEventsStayWithinAllLimits(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var backlog = ObserverBacklog()
        var waiting: [Cost] = []
        var answers: Set<ObserverBacklog.Admission> = []
        // Small events reach the number, large ones the bytes.
        let scale = [100, 2000, 100_000][Int(seed % 3)]
        for _ in 0..<100_000 {
            if Int.random(in: 0..<10, using: &random) == 0, !waiting.isEmpty {
                backlog.remove(waiting.removeLast())
                continue
            }
            let cost = Cost(
                requestBodies: .random(in: 0...scale, using: &random),
                responseBodies: .random(in: 0...10 * scale, using: &random),
                other: .random(in: 1...scale, using: &random)
            )
            let answer = backlog.add(cost)
            answers.insert(answer)
            switch answer {
            case .whole: waiting.append(cost)
            case .withoutBodies: waiting.append(cost.withoutBodies)
            case .dropped: break
            }
        }
        #expect(answers == [.whole, .withoutBodies, .dropped])
        #expect(backlog.count == waiting.count && waiting.count <= ObserverBacklog.countLimit)
        #expect(waiting.reduce(0) { $0 + $1.bodies } == backlog.bodies)
        #expect(waiting.reduce(0) { $0 + $1.other } == backlog.other)
        #expect(backlog.bodies <= ObserverBacklog.bodyLimit && backlog.other <= ObserverBacklog.otherLimit)
        while let cost = waiting.popLast() { backlog.remove(cost) }
        #expect(backlog.count == 0 && backlog.bodies == 0 && backlog.other == 0)
    }

    private static let request = HTTPRequest(
        method: .post,
        scheme: "http",
        authority: "a.b",
        path: "/x",
        headers: ["X-A": "1"],
        body: .data(Data(count: 100), contentType: "a/b")
    )
    private static let response = ServerResponse(
        request: request,
        head: HTTPResponse(status: .created, headers: ["X-B": "2"]),
        body: Data(count: 1000)
    )
    private static let error = SluiceError(.timedOut, "Late.", step: .gate, request: request, response: response.head)

    private static let undecodable = SluiceError(
        .decodingFailed,
        "No.",
        underlyingError: DecodingFailure(Int.self, body: Data(count: 1000), cause: CancellationError())
    )

    /// Every event with bodies, and the bytes of its request bodies and response bodies.
    private static let events: [(RequestEvent, Int, Int)] = [
        (.began(request), 100, 0), (.sending(request), 100, 0), (.waiting(gate: "g"), 0, 0),
        (.admitted(gate: "g"), 0, 0),
        (.refused(gate: "g", error), 100, 0), (.redirected(response, to: request), 200, 1000),
        (.informational(response.head), 0, 0), (.received(.success(response)), 100, 1000),
        (.received(.failure(error)), 100, 0), (.cached(response), 100, 1000), (.hedging, 0, 0),
        (.retrying(after: .seconds(1), .success(response)), 100, 1000), (.finished(.success(response)), 100, 1000),
        (.finished(.failure(error)), 100, 0), (.finished(.failure(SluiceError(.timedOut, "Late."))), 0, 0),
        (.finished(.failure(undecodable)), 0, 1000),
    ]

    @Test(arguments: events)
    func everyEventHasItsBytesAndLosesOnlyItsBodies(event: RequestEvent, requests: Int, responses: Int) {
        let cost = event.cost
        #expect(cost.requestBodies == requests && cost.responseBodies == responses)
        #expect(cost.other >= 512 && cost.other < 1024)
        let rest = event.withoutBodies
        #expect(rest.cost == cost.withoutBodies)
        #expect(rest.kind == event.kind)
        switch rest {
        case .began(let request), .sending(let request): Self.expectRest(of: request)
        case .refused(_, let error): Self.expectRest(of: error)
        case .redirected(let response, let next):
            Self.expectRest(of: response)
            Self.expectRest(of: next)
        case .cached(let response): Self.expectRest(of: response)
        case .received(let outcome), .retrying(_, let outcome), .finished(let outcome):
            switch outcome {
            case .success(let response): Self.expectRest(of: response)
            case .failure(let error): Self.expectRest(of: error)
            }
        case .waiting, .admitted, .informational, .hedging: break
        }
    }

    private static func expectRest(of request: HTTPRequest) {
        #expect(request.url == "http://a.b/x" && request.headers == ["X-A": "1"] && request.method == .post)
        #expect(request.body.length == 100 && request.body.contentType == "a/b")
    }

    private static func expectRest(of response: ServerResponse) {
        expectRest(of: response.request)
        #expect(response.head.status == .created && response.head.headers == ["X-B": "2"] && response.body.isEmpty)
    }

    private static func expectRest(of error: SluiceError) {
        let isUndecodable = error.code == .decodingFailed
        #expect(isUndecodable || error.code == .timedOut)
        #expect(error.reason == (isUndecodable ? "No." : "Late."))
        if let request = error.request {
            expectRest(of: request)
            #expect(error.step == .gate && error.response?.status == .created)
        }
    }

    @Test func requestsOfEventsDoNotKeepTheBodyOfTheDraft() {
        var draft = RequestDraft(method: .post, path: "/x")
        draft.body = .data(Data(count: 1 << 20))
        let subject = ObservedRequest.Subject(
            id: RequestID(rawValue: 1),
            draft: draft,
            began: .now,
            beganDate: Date(),
            secretHeaders: []
        )
        #expect(subject.draft.body == nil || subject.draft.body?.length == 0)
    }

    @Test func observersOfSingleRequestsShareTheLimits() async {
        final class Counter: RequestObserver {
            let bytes = Shared((bodies: 0, omitted: 0))

            func observe(_ event: RequestEvent, of request: ObservedRequest) {
                guard case .cached(let response) = event else { return }
                bytes.change {
                    $0.bodies += response.body.count
                    $0.omitted += request.omittedBodyBytes
                }
            }
        }
        let (counter, shared) = (Counter(), Locked(ObserverBacklog()))
        let response = ServerResponse(
            request: HTTPRequest(scheme: "http", authority: "a.b", path: "/"),
            head: HTTPResponse(status: .ok),
            body: Data(count: 1 << 20)
        )
        for round in 1...2 {
            let mailboxes = (0..<40).map { _ in ObserverMailbox(counter, sharing: shared) }
            // Nothing is delivered at once, so the bodies of all requests wait together.
            let posted = mailboxes.map { mailbox in
                let observed = ObservedRequest(id: RequestID(rawValue: 1))
                var message: ObserverMailbox.Message?
                mailbox.post(.cached(response), observed, &message)
                return shared.withLock { $0.bodies <= ObserverBacklog.bodyLimit }
            }
            #expect(posted.allSatisfy { $0 })
            for mailbox in mailboxes { await mailbox.deliverAll() }
            let bytes = counter.bytes.read
            #expect(bytes.bodies + bytes.omitted == round * 40 << 20)
            #expect(bytes.bodies >= round * ObserverBacklog.bodyLimit)
            let rest = shared.withLock { ($0.count, $0.bodies, $0.other) }
            #expect(rest == (0, 0, 0))
        }
    }

    /// The last event of a request finds the limits of all exhausted, and its observer idle.
    @Test func eventThatIsDroppedAloneIsReported() async throws {
        final class Counter: RequestObserver {
            let dropped = Shared(0)

            func observe(_ event: RequestEvent, of request: ObservedRequest) {}
            func didDrop(_ count: Int) { dropped.change { $0 += count } }
        }
        let (counter, shared) = (Counter(), Locked(ObserverBacklog()))
        _ = shared.withLock { $0.add(Cost(other: ObserverBacklog.otherLimit)) }
        let mailbox = ObserverMailbox(counter, sharing: shared)
        var message: ObserverMailbox.Message?
        mailbox.post(.began(Self.request), ObservedRequest(id: RequestID(rawValue: 1)), &message)
        try await waitUntil("the event is reported") { counter.dropped.read == 1 }
    }

    @Test func logAndArchiveTellTheLengthOfOmittedBodies() {
        let observed = ObservedRequest(id: RequestID(rawValue: 1))
        func event(_ event: RequestEvent) -> (RequestEvent, ObservedRequest) {
            (event.withoutBodies, observed.omitting(event.cost))
        }
        let lines = Shared<[String]>([])
        var log = RequestLog { line in lines.change { $0.append(line) } }
        log.level = .full
        let recorder = HARRecorder()
        let events = [
            event(.began(Self.request)), event(.sending(Self.request)), event(.received(.success(Self.response))),
            event(.finished(.success(Self.response))),
        ]
        for (event, request) in events {
            #expect(request.omittedBodyBytes > 0)
            log.observe(event, of: request)
            recorder.observe(event, of: request)
        }
        let text = lines.read.joined(separator: "\n")
        #expect(text.contains("a body of 100 B, omitted because the log was written too slowly"))
        #expect(text.components(separatedBy: "omitted because").count == 3)
        let entry = recorder.har().entries.first
        #expect(entry?.response.content.size == 1000)
        #expect(entry?.response.content.comment?.contains("1000 bytes") == true)
        #expect(entry?.request.bodySize == 100)
    }
}
