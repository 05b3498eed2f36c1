import SluiceHTTP
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Readers that stop: by releasing the reader, or by cancellation.
@Suite(.timeLimit(.minutes(10))) struct ResponsePipeAbandonmentTests {
    @Test func releasingTheReaderAbandonsTheTransferOnce() {
        let fixture = PipeFixture(highWater: 1)
        var readers: [ResponsePipe.Reader] = [ResponsePipe.Reader(fixture.pipe)]
        fixture.write("a")
        #expect(fixture.abandonments.value == 0)
        readers.removeAll()
        #expect(fixture.abandonments.value == 1)
        #expect(!fixture.write("unread"))
        fixture.finish()
        #expect(fixture.abandonments.value == 1)
    }

    @Test(arguments: [true, false])
    func releasingTheReaderAfterTheEndAbandonsNothing(isFailed: Bool) {
        let fixture = PipeFixture()
        var readers = [ResponsePipe.Reader(fixture.pipe)]
        fixture.write("unread")
        if isFailed { fixture.fail() } else { fixture.finish() }
        readers.removeAll()
        #expect(fixture.abandonments.value == 0)
    }

    @Test func releasingTheLastCopyAndIteratorAbandonsTheTransfer() {
        let fixture = PipeFixture()
        var bodies = [ResponseBody(ResponsePipe.Reader(fixture.pipe))]
        bodies += bodies
        var iterators = bodies.map { $0.makeAsyncIterator() }
        bodies.removeAll()
        #expect(fixture.abandonments.value == 0)
        iterators.removeLast()
        #expect(fixture.abandonments.value == 0)
        iterators.removeAll()
        #expect(fixture.abandonments.value == 1)
    }

    /// The error of a second reader proves that the first one waits.
    @Test func cancellingAWaitingReaderAbandonsTheTransfer() async {
        let fixture = PipeFixture()
        let reader = ResponsePipe.Reader(fixture.pipe)
        let codes = await withTaskGroup { group in
            for _ in 0..<2 { group.addTask { await Self.codeOfNext(reader) } }
            var codes: [SluiceError.Code?] = []
            for await code in group {
                codes.append(code)
                group.cancelAll()
            }
            return codes
        }
        #expect(codes == [.unsupported, .cancelled])
        #expect(fixture.abandonments.value == 1)
    }

    @Test func cancelledReaderDoesNotWait() async {
        let fixture = PipeFixture()
        let reader = ResponsePipe.Reader(fixture.pipe)
        #expect(await Self.inCancelledTask { await Self.codeOfNext(reader) } == .cancelled)
        #expect(await Self.inCancelledTask { await Self.codeOfNext(reader) } == .cancelled)
        #expect(fixture.abandonments.value == 1)
        #expect(!fixture.write("late"))
    }

    @Test func cancelledTaskCanReadACompleteBody() async throws {
        let fixture = PipeFixture()
        let reader = ResponsePipe.Reader(fixture.pipe)
        fixture.write("a")
        fixture.finish(bytesReceived: 1)
        let chunks = await Self.inCancelledTask { [try? await reader.text(), try? await reader.text()] }
        #expect(chunks == ["a", nil])
        #expect(reader.metrics?.bytesReceived == 1)
        #expect(fixture.abandonments.value == 0)
    }

    private static func codeOfNext(_ reader: ResponsePipe.Reader) async -> SluiceError.Code? {
        do {
            _ = try await reader.next()
            return nil
        } catch {
            return error.code
        }
    }

    private static func inCancelledTask<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value?
    {
        await withTaskGroup(of: Value.self) { group in
            group.cancelAll()
            group.addTask(operation: work)
            return await group.next()
        }
    }
}
