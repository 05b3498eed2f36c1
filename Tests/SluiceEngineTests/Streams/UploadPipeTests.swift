#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension UploadPipe {
    /// Reads up to a number of bytes as the engine does.
    func read(_ count: Int) -> (piece: Piece, text: String) {
        var bytes = [UInt8](repeating: 0, count: count)
        let piece = bytes.withUnsafeMutableBytes { read(into: $0) }
        guard case .bytes(let filled) = piece else { return (piece, "") }
        return (piece, String(decoding: bytes.prefix(filled), as: UTF8.self))
    }
}

@Suite(.timeLimit(.minutes(10))) struct UploadPipeTests {
    private static func data(_ text: String) -> Data { Data(text.utf8) }

    private static func pipe(_ chunks: String...) async -> UploadPipe {
        let pipe = UploadPipe(onData: {})
        for chunk in chunks { #expect(await pipe.write(data(chunk))) }
        return pipe
    }

    @Test(arguments: [
        (1, ["a", "b", "c", "d", "e", "f", "g"]), (2, ["ab", "cd", "ef", "g"]), (3, ["abc", "def", "g"]),
        (5, ["abcde", "fg"]), (7, ["abcdefg"]), (100, ["abcdefg"]),
    ])
    func readsAreFilledAcrossChunks(size: Int, pieces: [String]) async {
        let pipe = await Self.pipe("abc", "", "defg")
        pipe.finish(.success(()))
        for piece in pieces { #expect(pipe.read(size).text == piece) }
        #expect(pipe.read(size).piece == .end)
    }

    @Test func errorFollowsTheBytesBeforeIt() async {
        let pipe = await Self.pipe("abc")
        pipe.finish(.failure(SluiceError(.bodyUnavailable, "First.")))
        pipe.finish(.success(()))
        #expect(pipe.read(10).text == "abc")
        #expect(pipe.read(10).piece == .failed)
        #expect(pipe.failure?.reason == "First.")
    }

    @Test func onlyBytesCountAsRead() async {
        let pipe = await Self.pipe("")
        #expect(pipe.read(10).piece == .wait)
        #expect(pipe.isUnread)
        _ = await pipe.write(Self.data("a"))
        #expect(pipe.read(10).piece == .bytes(1))
        #expect(!pipe.isUnread)
        #expect(pipe.failure == nil)
    }

    /// The callback runs once for the first event after a read that had to wait.
    @Test func waitingReaderIsCalledOnce() async {
        let calls = Locked(0)
        let pipe = UploadPipe(onData: { calls.withLock { $0 += 1 } })
        _ = await pipe.write(Self.data("a"))
        #expect(calls.withLock { $0 } == 0)
        #expect(pipe.read(10).piece == .bytes(1))
        #expect(pipe.read(10).piece == .wait)
        #expect(pipe.read(10).piece == .wait)
        _ = await pipe.write(Self.data("b"))
        _ = await pipe.write(Self.data("c"))
        #expect(calls.withLock { $0 } == 1)
        #expect(pipe.read(10).text == "bc")
        #expect(pipe.read(10).piece == .wait)
        pipe.finish(.success(()))
        pipe.finish(.success(()))
        #expect(calls.withLock { $0 } == 2)
        #expect(pipe.read(10).piece == .end)
    }

    @Test func concurrentReaderReceivesAllBytes() async {
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
        let pipe = UploadPipe(onData: { continuation.yield() })
        let writer = Task.detached {
            for number in 0..<3000 { #expect(await pipe.write(Data("\(number),".utf8))) }
            pipe.finish(.success(()))
        }
        var text = ""
        var sizes = SeededGenerator(seed: 1)
        var iterator = calls.makeAsyncIterator()
        loop: while true {
            let (piece, read) = pipe.read(Int.random(in: 1...20, using: &sizes))
            switch piece {
            case .bytes: text += read
            case .wait: await iterator.next()
            case .end, .failed: break loop
            }
        }
        await writer.value
        #expect(text == (0..<3000).map { "\($0)," }.joined())
    }
}
#endif
