#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP
import Testing

@testable import SluiceCurl

@Suite(.timeLimit(.minutes(1))) struct UploadPipeBackPressureTests {
    /// Half of what may wait: 256 KiB.
    private static let lowWater = 256 << 10

    /// A writer that has written more than may wait, and waits itself for certain.
    private struct WaitingWriter {
        let pipe: UploadPipe
        let task: Task<Bool, Never>
        let hasReturned = Locked(false)

        init(bytes: Int) async {
            let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
            let pipe = UploadPipe(onData: { continuation.yield() })
            // The call that this read asks for comes when the writer has been made to wait.
            #expect(pipe.read(1).piece == .wait)
            task = Task.detached { [hasReturned] in
                let isWanted = await pipe.write(Data(count: bytes))
                hasReturned.withLock { $0 = true }
                return isWanted
            }
            self.pipe = pipe
            var iterator = calls.makeAsyncIterator()
            await iterator.next()
        }
    }

    @Test(arguments: [512 << 10, 600_000, 2_000_000])
    func aWriterWaitsUntilLessThanHalfIsLeft(bytes: Int) async {
        let writer = await WaitingWriter(bytes: bytes)
        #expect(writer.pipe.read(bytes - Self.lowWater).piece == .bytes(bytes - Self.lowWater))
        #expect(!writer.hasReturned.withLock { $0 })
        #expect(writer.pipe.read(1).piece == .bytes(1))
        #expect(await writer.task.value)
    }

    @Test func aWriterBelowTheMarkDoesNotWait() async {
        let pipe = UploadPipe(onData: {})
        #expect(await pipe.write(Data(count: (512 << 10) - 1)))
        pipe.finish(.success(()))
        #expect(pipe.read(1 << 20).piece == .bytes((512 << 10) - 1))
    }

    @Test func closingLetsAWaitingWriterGoAndTellsIt() async {
        let writer = await WaitingWriter(bytes: 600_000)
        writer.pipe.close()
        #expect(await !writer.task.value)
    }

    @Test func aClosedPipeTakesNothingAndDoesNotMakeAnybodyWait() async {
        let pipe = UploadPipe(onData: {})
        pipe.close()
        #expect(await !pipe.write(Data(count: 2 << 20)))
        #expect(pipe.read(10).piece == .wait)
    }
}
#endif
