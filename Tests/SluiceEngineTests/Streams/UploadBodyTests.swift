#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite(.timeLimit(.minutes(10))) struct UploadBodyTests {
    private static func read(_ body: inout UploadBody, _ count: Int) -> (piece: UploadPipe.Piece, text: String) {
        var bytes = [UInt8](repeating: 0, count: count)
        let piece = bytes.withUnsafeMutableBytes { body.read(into: $0) }
        guard case .bytes(let filled) = piece else { return (piece, "") }
        return (piece, String(decoding: bytes.prefix(filled), as: UTF8.self))
    }

    /// The second argument is a slice whose first index is not 0.
    @Test(arguments: [Data("abcde".utf8), Data("xxabcdexx".utf8)[2..<7]])
    func dataIsReadInPiecesAndCanBeRewound(data: Data) {
        var body = UploadBody(.data(data), onData: {})
        #expect(Self.read(&body, 3).text == "abc")
        #expect(Self.read(&body, 3).text == "de")
        #expect(Self.read(&body, 3).piece == .end)
        #expect(body.rewind() == true)
        #expect(Self.read(&body, 10).text == "abcde")
    }

    @Test(arguments: [UploadSource.none, .data(Data())])
    func emptyBodyIsAtItsEnd(source: UploadSource) {
        var body = UploadBody(source, onData: {})
        #expect(Self.read(&body, 3).piece == .end)
        #expect(body.rewind() == true)
        #expect(body.failure == nil)
    }

    @Test func streamCanBeRewoundUntilBytesAreRead() async {
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
        let (gate, opener) = AsyncStream.makeStream(of: Data.self)
        let stream = RequestBody.Stream {
            var iterator = gate.makeAsyncIterator()
            return { await iterator.next() }
        }
        var body = UploadBody(.stream(stream, length: nil), onData: { continuation.yield() })
        #expect(Self.read(&body, 10).piece == .wait)
        #expect(body.rewind() == true)
        opener.yield(Data("abc".utf8))
        var iterator = calls.makeAsyncIterator()
        await iterator.next()
        #expect(body.rewind() == true)
        #expect(Self.read(&body, 2).text == "ab")
        #expect(body.rewind() == false)
        body.close()
    }

    private enum Sender {
        @TaskLocal static var name = "none"
    }

    /// A connection opens the body on the thread of a loop, and opens it again for another attempt.
    @Test func streamIsReadWithTheTaskLocalValuesOfTheSender() async throws {
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
        let stream = RequestBody.Stream {
            var isOver = false
            return {
                if isOver { return nil }
                isOver = true
                return Data("\(Sender.name) \(Task.currentPriority == .low)".utf8)
            }
        }
        let source = await Task(priority: .low) {
            Sender.$name.withValue("Ada") { UploadSource.stream(stream, length: nil, isReplayable: true) }
        }.value
        var iterator = calls.makeAsyncIterator()
        var body = UploadBody(source, onData: { continuation.yield() })
        for _ in 0..<2 {
            var (piece, text) = Self.read(&body, 100)
            while piece == .wait {
                await iterator.next()
                (piece, text) = Self.read(&body, 100)
            }
            #expect(text == "Ada true")
            #expect(body.rewind() == true)
        }
        body.close()
    }

    @Test func replayableStreamIsOpenedAgain() async throws {
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
        var iterator = calls.makeAsyncIterator()
        let opened = Locked(0)
        let stream = RequestBody.Stream {
            var chunks = ["ab", "c"].map { Data($0.utf8) }[...]
            opened.withLock { $0 += 1 }
            return { chunks.popFirst() }
        }
        var body = UploadBody(
            .stream(stream, length: 3, isReplayable: true),
            onData: { continuation.yield() }
        )
        for count in 1...3 {
            var text = ""
            while text.utf8.count < 3 {
                let next = Self.read(&body, 10)
                text += next.text
                if next.piece == .wait { await iterator.next() }
            }
            #expect(text == "abc")
            #expect(body.rewind() == true)
            // Nothing has been read since, so the same iterator is kept.
            #expect(body.rewind() == true)
            #expect(opened.withLock { $0 } <= count + 1)
        }
        body.close()
    }

    @Test func closingCancelsTheReaderOfAStream() async {
        let (ended, continuation) = AsyncStream.makeStream(of: Bool.self)
        let (silence, opener) = AsyncStream.makeStream(of: Data.self)
        let stream = RequestBody.Stream {
            var iterator = silence.makeAsyncIterator()
            return {
                let chunk = await iterator.next()
                continuation.yield(Task.isCancelled)
                return chunk
            }
        }
        let body = UploadBody(.stream(stream, length: nil), onData: {})
        body.close()
        var iterator = ended.makeAsyncIterator()
        #expect(await iterator.next() == true)
        opener.finish()
    }
}
#endif
