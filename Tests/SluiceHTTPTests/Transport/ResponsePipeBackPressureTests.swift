import SluiceHTTP
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(10))) struct ResponsePipeBackPressureTests {
    @Test(arguments: [
        (100, [99], [false]), (100, [100], [true]), (100, [50, 49, 1, 1], [false, false, true, true]),
        (1, [1], [true]), (100, [5000], [true]),
    ])
    func writerMustPauseAtTheHighWaterMark(highWater: Int, chunks: [Int], pauses: [Bool]) {
        let fixture = PipeFixture(highWater: highWater)
        let reader = ResponsePipe.Reader(fixture.pipe)
        #expect(chunks.map { fixture.write(bytes: $0) } == pauses)
        #expect(fixture.demands.value == 0)
        withExtendedLifetime(reader) {}
    }

    /// The number of calls after each read.
    @Test(arguments: [
        (100, [25, 25, 25, 25], [0, 1, 1, 1]), (100, [25, 25, 25, 25, 25], [0, 0, 1, 1, 1]),
        (100, [49, 51], [0, 1]), (100, [50, 50], [1, 1]), (100, [5000], [1]), (1, [1, 1], [0, 1]),
        (100, [30, 30, 30], [0, 0, 0]),
    ])
    func demandIsSignalledOnceHalfOfTheMarkIsLeft(highWater: Int, chunks: [Int], calls: [Int]) async throws {
        let fixture = PipeFixture(highWater: highWater)
        let reader = ResponsePipe.Reader(fixture.pipe)
        for chunk in chunks { _ = fixture.write(bytes: chunk) }
        for (chunk, count) in zip(chunks, calls) {
            #expect(try await reader.next()?.count == chunk)
            #expect(fixture.demands.value == count)
        }
    }

    /// An HTTP/2 server continues until its window is exhausted.
    @Test func demandIsSignalledToAWriterThatDidNotPause() async throws {
        let fixture = PipeFixture(highWater: 100)
        let reader = ResponsePipe.Reader(fixture.pipe)
        #expect(!fixture.write(bytes: 40))
        #expect(fixture.write(bytes: 60))
        _ = try await reader.next()
        #expect(fixture.demands.value == 0)
        #expect(fixture.write(bytes: 5))
        _ = try await reader.next()
        #expect(fixture.demands.value == 1)
        #expect(!fixture.write(bytes: 5))
    }

    @Test func everyPauseGetsOneDemandSignal() async throws {
        let fixture = PipeFixture(highWater: 100)
        let reader = ResponsePipe.Reader(fixture.pipe)
        for round in 1...3 {
            #expect(fixture.write(bytes: 100))
            _ = try await reader.next()
            #expect(fixture.demands.value == round)
        }
    }

    @Test func demandIsNotSignalledAfterTheEnd() async throws {
        let fixture = PipeFixture(highWater: 100)
        let reader = ResponsePipe.Reader(fixture.pipe)
        #expect(fixture.write(bytes: 100))
        fixture.finish()
        while try await reader.next() != nil {}
        #expect(fixture.demands.value == 0)
    }

    /// A writer that pauses and resumes as told delivers all its bytes, and few bytes wait at any time.
    @Test(arguments: [(1, 1), (100, 1), (100, 99), (100, 250), (4096, 1000)])
    func pausingWriterNeitherStallsNorExceedsTheMark(highWater: Int, chunk: Int) async throws {
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
        let pipe = ResponsePipe(highWater: highWater, onDemand: { continuation.yield() }, onAbandon: {})
        let reader = ResponsePipe.Reader(pipe)
        let (written, read) = (Locked(0), Locked(0))
        let writer = Task.detached {
            var calls = calls.makeAsyncIterator()
            for _ in 0..<500 {
                let ahead = written.withLock { written in
                    written += chunk
                    return written
                }
                let mustPause = pipe.write(Data(count: chunk))
                // The reader may have one chunk that is not counted yet.
                #expect(ahead - read.withLock { $0 } <= highWater + 2 * chunk)
                if mustPause { await calls.next() }
            }
            pipe.finish(.success(TransferMetrics()))
        }
        while let data = try await reader.next() { read.withLock { $0 += data.count } }
        await writer.value
        #expect(read.withLock { $0 } == 500 * chunk)
    }
}
