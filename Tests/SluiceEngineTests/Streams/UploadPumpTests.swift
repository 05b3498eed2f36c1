#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite(.timeLimit(.minutes(10))) struct UploadPumpTests {
    private struct Broken: Error {}

    /// A source that returns these chunks and then ends or throws. It counts the requests for a chunk.
    private static func stream(
        _ chunks: [String],
        failure: (any Error)? = nil,
        requested: Locked<Int> = Locked(0)
    ) -> RequestBody.Stream {
        RequestBody.Stream {
            var left = chunks[...]
            return {
                requested.withLock { $0 += 1 }
                if let chunk = left.popFirst() { return Data(chunk.utf8) }
                if let failure { throw failure }
                return nil
            }
        }
    }

    @Test(
        arguments: [
            (["abc"], nil), (["a", "", "bc"], nil), ([], nil), (["abc"], 3), (["ab", "c"], 3),
            (["", "abc", "", ""], 3),
            ([], 0), ([""], 0),
        ] as [([String], Int64?)]
    )
    func bodyOfTheDeclaredLengthIsSent(chunks: [String], length: Int64?) async {
        let pipe = UploadPipe(onData: {})
        await pipe.pump(Self.stream(chunks), length: length)
        if !chunks.joined().isEmpty { #expect(pipe.read(100).text == chunks.joined()) }
        #expect(pipe.read(100).piece == .end)
        #expect(pipe.failure == nil)
    }

    @Test(
        arguments: [
            (["ab"], 3, "only 2"), ([], 3, "only 0"), (["abc", "d"], 3, "more"), (["abcd"], 3, "more"),
            (["ab", "cd"], 3, "more"), (["a"], 0, "more"), (["abc", "", "d"], 3, "more"),
        ] as [([String], Int64, String)]
    )
    func bodyOfAnotherLengthFailsBeforeItIsComplete(chunks: [String], length: Int64, words: String) async {
        let pipe = UploadPipe(onData: {})
        await pipe.pump(Self.stream(chunks), length: length)
        #expect(pipe.read(100).text.utf8.count < max(1, length))
        #expect(pipe.read(100).piece == .failed)
        #expect(pipe.failure?.code == .bodyLengthMismatch)
        #expect(pipe.failure?.reason == "The request's body was announced with \(length) bytes, but has \(words).")
    }

    @Test func sourceIsNotReadBeyondTheDeclaredLength() async {
        let requested = Locked(0)
        let pipe = UploadPipe(onData: {})
        await pipe.pump(Self.stream(Array(repeating: "abc", count: 1000), requested: requested), length: 3)
        #expect(requested.withLock { $0 } == 2)
        #expect(pipe.failure?.code == .bodyLengthMismatch)
    }

    @Test func errorOfTheSourceIsTheUnderlyingError() async {
        let pipe = UploadPipe(onData: {})
        await pipe.pump(Self.stream(["ab"], failure: Broken()), length: nil)
        #expect(pipe.read(100).text == "ab")
        #expect(pipe.read(100).piece == .failed)
        #expect(pipe.failure?.code == .bodyUnavailable)
        #expect(pipe.failure?.underlyingError is Broken)
    }

    @Test func sluiceErrorOfTheSourceIsPassedOn() async {
        let pipe = UploadPipe(onData: {})
        await pipe.pump(Self.stream([], failure: SluiceError(.encodingFailed, "Mine.")), length: 5)
        #expect(pipe.failure?.code == .encodingFailed)
        #expect(pipe.failure?.reason == "Mine.")
    }

    @Test func closedPipeStopsReadingTheSource() async {
        let requested = Locked(0)
        let pipe = UploadPipe(onData: {})
        pipe.close()
        await pipe.pump(Self.stream(["a", "b", "c"], requested: requested), length: nil)
        #expect(requested.withLock { $0 } == 1)
    }

    @Test func closingEndsAWaitingPump() async {
        let big = String(repeating: "x", count: UploadPipe.highWater)
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
        let requested = Locked(0)
        let pipe = UploadPipe(onData: { continuation.yield() })
        #expect(pipe.read(1).piece == .wait)
        let stream = Self.stream([big, big, big], requested: requested)
        let pump = Task.detached { await pipe.pump(stream, length: nil) }
        var iterator = calls.makeAsyncIterator()
        await iterator.next()
        pipe.close()
        await pump.value
        #expect(requested.withLock { $0 } == 1)
    }
}
#endif
