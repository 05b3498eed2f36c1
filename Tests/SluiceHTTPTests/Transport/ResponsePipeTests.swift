import SluiceHTTP
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(10))) struct ResponsePipeTests {
    @Test func chunksArriveInOrderBeforeTheEnd() async throws {
        let fixture = PipeFixture()
        let reader = ResponsePipe.Reader(fixture.pipe)
        for text in ["a", "b", "c"] { fixture.write(text) }
        #expect(try await reader.text() == "a")
        fixture.write("d")
        fixture.finish()
        for text in ["b", "c", "d", nil, nil] { #expect(try await reader.text() == text) }
    }

    @Test func concurrentReaderReceivesAllChunks() async throws {
        let fixture = PipeFixture(highWater: 64)
        let reader = ResponsePipe.Reader(fixture.pipe)
        let writer = Task.detached {
            for number in 0..<5000 {
                fixture.write("\(number),")
                if number.isMultiple(of: 7) { await Task.yield() }
            }
            fixture.finish()
        }
        var text = ""
        while let chunk = try await reader.text() { text += chunk }
        await writer.value
        #expect(text == (0..<5000).map { "\($0)," }.joined())
    }

    /// A server can send a body in chunks of one byte. Moving the unread chunks for each read would take more than the time limit.
    @Test(.timeLimit(.minutes(1))) func manyUnreadChunksAreReadInLinearTime() async throws {
        let fixture = PipeFixture(highWater: .max)
        let reader = ResponsePipe.Reader(fixture.pipe)
        let count = 500_000
        let chunk = Data([0x61])
        for _ in 0..<count { _ = fixture.pipe.write(chunk) }
        fixture.finish()
        var read = 0
        while try await reader.next() != nil {
            read += 1
            if read.isMultiple(of: 10_000) { await Task.yield() }
        }
        #expect(read == count)
    }

    @Test func errorFollowsTheChunksAndRepeats() async throws {
        let fixture = PipeFixture()
        let reader = ResponsePipe.Reader(fixture.pipe)
        fixture.write("a")
        fixture.write("b")
        fixture.fail(.truncatedBody)
        #expect(try await reader.text() == "a")
        #expect(try await reader.text() == "b")
        for _ in 0..<2 {
            let error = await #expect(throws: SluiceError.self) { try await reader.next() }
            #expect(error?.code == .truncatedBody)
        }
    }

    @Test func onlyTheFirstEndCounts() async throws {
        let fixture = PipeFixture(highWater: 1)
        let reader = ResponsePipe.Reader(fixture.pipe)
        fixture.finish(bytesReceived: 1)
        fixture.fail()
        fixture.finish(bytesReceived: 2)
        #expect(!fixture.write("late"))
        #expect(try await reader.text() == nil)
        #expect(reader.metrics?.bytesReceived == 1)
    }

    @Test func metricsAreAvailableAfterTheEnd() {
        let fixture = PipeFixture()
        let reader = ResponsePipe.Reader(fixture.pipe)
        fixture.write("a")
        #expect(reader.metrics == nil)
        fixture.finish(bytesReceived: 7)
        #expect(reader.metrics?.bytesReceived == 7)
    }

    @Test func failedTransferHasNoMetrics() {
        let fixture = PipeFixture()
        let reader = ResponsePipe.Reader(fixture.pipe)
        fixture.fail()
        #expect(reader.metrics == nil)
    }

    /// Of two concurrent readers, one gets an error. Its error proves that the other waits, and only then is the chunk written.
    @Test func secondConcurrentReaderFails() async throws {
        let fixture = PipeFixture()
        let reader = ResponsePipe.Reader(fixture.pipe)
        let results = await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask { await Result.of { () async throws(SluiceError) in try await reader.text() } }
            }
            var results: [Result<String?, SluiceError>] = []
            for await result in group {
                results.append(result)
                fixture.write("chunk")
            }
            return results
        }
        let error = #expect(throws: SluiceError.self) { try results.first?.get() }
        #expect(error?.code == .unsupported)
        #expect(error?.reason.contains("one task can read it at a time") == true)
        #expect(try results.last?.get() == "chunk")
        #expect(fixture.abandonments.value == 0)
    }
}
