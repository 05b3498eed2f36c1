#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite(.timeLimit(.minutes(10))) struct UploadPipeBackPressureTests {
    /// Half of the maximum buffer size.
    private static let lowWater = UploadPipe.highWater / 2

    private let pipe = UploadPipe(onData: {})
    private let executor = ManualExecutor()

    private func write(bytes: Int) -> Task<Bool, Never> {
        let task = Task(executorPreference: executor) { [pipe] in await pipe.write(Data(count: bytes)) }
        executor.run()
        return task
    }

    @Test(arguments: [UploadPipe.highWater, UploadPipe.highWater + 1000, UploadPipe.highWater * 3])
    func writerWaitsUntilLessThanHalfIsLeft(bytes: Int) async {
        let writer = write(bytes: bytes)
        #expect(pipe.read(bytes - Self.lowWater).piece == .bytes(bytes - Self.lowWater))
        #expect(executor.isIdle)
        #expect(pipe.read(1).piece == .bytes(1))
        #expect(!executor.isIdle)
        executor.run()
        #expect(await writer.value)
    }

    @Test func writerBelowTheMarkDoesNotWait() async {
        #expect(await pipe.write(Data(count: UploadPipe.highWater - 1)))
        pipe.finish(.success(()))
        #expect(pipe.read(UploadPipe.highWater).piece == .bytes(UploadPipe.highWater - 1))
    }

    @Test func closingResumesAWaitingWriter() async {
        let writer = write(bytes: UploadPipe.highWater)
        #expect(executor.isIdle)
        pipe.close()
        executor.run()
        #expect(await !writer.value)
    }

    @Test func closedPipeAcceptsNothingWithoutWaiting() async {
        pipe.close()
        #expect(await !pipe.write(Data(count: 2 << 20)))
        #expect(pipe.read(10).piece == .wait)
    }
}
#endif
