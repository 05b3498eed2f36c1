import SluiceHTTP
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(10))) struct ResponseBodyTests {
    /// The arrival of a body's chunks: as one piece, all of them already in a pipe, or still being written.
    enum Arrival: CaseIterable, Sendable {
        case whole, waiting, arriving

        func body(_ chunks: [String]) -> ResponseBody {
            if self == .whole { return ResponseBody(Data(chunks.joined().utf8)) }
            let fixture = PipeFixture()
            let write = { @Sendable in
                for chunk in chunks { fixture.write(chunk) }
                fixture.finish()
            }
            if self == .waiting { write() } else { Task.detached(operation: write) }
            return ResponseBody(ResponsePipe.Reader(fixture.pipe))
        }
    }

    private static func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

    @Test(arguments: Arrival.allCases, [nil, 6, 7, Int64.max])
    func collectReturnsAllBytesWithinTheLimit(arrival: Arrival, limit: Int64?) async throws {
        let body = arrival.body(["abc", "d", "ef"])
        #expect(Self.text(try await body.collect(upTo: limit)) == "abcdef")
    }

    @Test(arguments: Arrival.allCases, [5, 3, 0] as [Int64])
    func collectFailsBeyondTheLimit(arrival: Arrival, limit: Int64) async throws {
        let body = arrival.body(["abc", "d", "ef"])
        let error = await #expect(throws: SluiceError.self) { try await body.collect(upTo: limit) }
        #expect(error?.code == .bodyTooLarge)
        #expect(error?.reason.contains("\(limit) bytes") == true)
    }

    @Test(arguments: Arrival.allCases, [nil, 0] as [Int64?])
    func emptyBodyIsWithinAnyLimitAndHasNoChunk(arrival: Arrival, limit: Int64?) async throws {
        #expect(try await arrival.body([]).collect(upTo: limit).isEmpty)
        var iterator = arrival.body([]).makeAsyncIterator()
        #expect(try await iterator.next() == nil)
    }

    @Test(arguments: Arrival.allCases)
    func iterationReturnsAllBytesInOrder(arrival: Arrival) async throws {
        var text = ""
        for try await chunk in arrival.body(["abc", "d", "ef"]) {
            #expect(!chunk.isEmpty)
            text += Self.text(chunk)
        }
        #expect(text == "abcdef")
    }

    @Test(arguments: [Arrival.waiting, .arriving])
    func readersOfOneBodyShareItsPosition(arrival: Arrival) async throws {
        let body = arrival.body(["a", "b", "c", "d"])
        var first = body.makeAsyncIterator()
        var second = body.makeAsyncIterator()
        #expect(try await first.next().map(Self.text) == "a")
        #expect(try await second.next().map(Self.text) == "b")
        #expect(Self.text(try await body.collect()) == "cd")
        #expect(try await first.next() == nil)
        #expect(try await body.collect().isEmpty)
    }

    @Test func bodyInMemoryEndsAfterOneChunk() async throws {
        var iterator = ResponseBody(Data("a".utf8)).makeAsyncIterator()
        #expect(try await iterator.next().map(Self.text) == "a")
        #expect(try await iterator.next() == nil)
    }

    @Test func collectingATruncatedBodyThrows() async throws {
        let fixture = PipeFixture()
        let body = ResponseBody(ResponsePipe.Reader(fixture.pipe))
        fixture.write("half")
        fixture.fail(.truncatedBody)
        let error = await #expect(throws: SluiceError.self) { try await body.collect() }
        #expect(error?.code == .truncatedBody)
    }

    @Test func metricsOfABodyInMemoryAreAvailableAtOnce() {
        var metrics = TransferMetrics()
        metrics.bytesReceived = 3
        #expect(ResponseBody(Data("abc".utf8), metrics: metrics).metrics == metrics)
        #expect(ResponseBody().metrics == TransferMetrics())
    }

    @Test func metricsOfAStreamedBodyFollowItsEnd() async throws {
        let fixture = PipeFixture()
        let body = ResponseBody(ResponsePipe.Reader(fixture.pipe))
        fixture.write("a")
        #expect(body.metrics == nil)
        fixture.finish(bytesReceived: 1)
        _ = try await body.collect()
        #expect(body.metrics?.bytesReceived == 1)
    }

    @Test func trailersOfABodyInMemoryAreAvailableAtOnce() {
        let trailers: HTTPHeaders = ["Server-Timing": "db;dur=5", "Server-Timing": "app;dur=7"]
        #expect(ResponseBody(Data("abc".utf8), trailers: trailers).trailers == trailers)
        #expect(ResponseBody().trailers == [:])
    }

    @Test func trailersOfAStreamedBodyFollowItsEnd() async throws {
        let fixture = PipeFixture()
        let body = ResponseBody(ResponsePipe.Reader(fixture.pipe)).tapped { _ in }
        fixture.write("a")
        #expect(body.trailers == nil)
        fixture.finish(trailers: ["Digest": "x"])
        _ = try await body.collect()
        #expect(body.trailers == ["Digest": "x"])
    }

    @Test func failedBodyHasNoTrailersAlsoAfterASecondEnd() async throws {
        let failed = PipeFixture()
        let body = ResponseBody(ResponsePipe.Reader(failed.pipe))
        failed.fail(.truncatedBody)
        failed.finish(trailers: ["Digest": "x"])
        await #expect(throws: SluiceError.self) { try await body.collect() }
        #expect(body.trailers == nil)
    }
}
