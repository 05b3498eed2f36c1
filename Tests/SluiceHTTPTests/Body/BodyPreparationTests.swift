import SluiceHTTP
import SluiceTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(10))) struct BodyPreparationTests {
    private struct Broken: Error {}

    private static func reader(_ body: RequestBody) throws -> RequestBody.Reader {
        guard case .stream(let stream) = body.source else { throw Broken() }
        return stream.open()
    }

    private static func text(_ body: RequestBody) async throws -> String {
        let next = try reader(body)
        var data = Data()
        while let chunk = try await next() { data.append(chunk) }
        return String(decoding: data, as: UTF8.self)
    }

    @Test(arguments: [RequestBody.none, .data(Data("a".utf8)), .stream(AsyncStream<Data> { nil }, length: 0)])
    func bodiesInMemoryAndStreamsNeedNoPreparation(body: RequestBody) async throws {
        #expect(!body.needsPreparation)
        #expect(try await body.prepared(within: .zero).length == body.length)
    }

    @Test func fileBecomesAStreamOfItsLength() async throws {
        let file = try TemporaryFile(Data("from a file".utf8))
        defer { file.remove() }
        let body = RequestBody.file(file.url)
        #expect(body.needsPreparation)
        let prepared = try await body.prepared(within: nil)
        #expect(!prepared.needsPreparation)
        #expect(prepared.length == 11)
        #expect(try await Self.text(prepared) == "from a file")
        #expect(try await Self.text(prepared) == "from a file", "The second reader must begin at the start")
    }

    @Test func fileThatGrowsIsReadBeyondItsLength() async throws {
        let file = try TemporaryFile(Data("abc".utf8))
        defer { file.remove() }
        let prepared = try await RequestBody.file(file.url).prepared(within: nil)
        #expect(try await Self.text(prepared) == "abc")
        try file.write(Data("abcde".utf8))
        #expect(try await Self.text(prepared).hasPrefix("abcd"))
        #expect(prepared.length == 3)
    }

    @Test(arguments: [0..<4, 4..<11, 10..<11, 3..<3, 0..<0, 11..<11])
    func partOfAFileIsRead(range: Range<Int>) async throws {
        let content = "from a file"
        let file = try TemporaryFile(Data(content.utf8))
        defer { file.remove() }
        let body = RequestBody.file(file.url, range: range)
        #expect(body.needsPreparation && body.isReplayable)
        let prepared = try await body.prepared(within: nil)
        #expect(prepared.length == Int64(range.count))
        for _ in 0..<2 {
            #expect(try await Self.text(prepared) == String(content.dropFirst(range.lowerBound).prefix(range.count)))
        }
    }

    @Test func partOfSeveralPiecesIsRead() async throws {
        let piece = FileReader.pieceSize
        let data = Data((0..<piece * 3).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        let file = try TemporaryFile(data)
        defer { file.remove() }
        for range in [1..<piece + 1, piece - 1..<piece * 3, 7..<piece * 2 + 9] {
            let prepared = try await RequestBody.file(file.url, range: range).prepared(within: nil)
            #expect(try await prepared.collect(upTo: .max) == data[range])
        }
    }

    @Test(arguments: [(0..<12, "0..<12"), (11..<12, "11..<12"), (50..<50, "50..<50"), (-1..<3, "-1..<3")])
    func partBeyondTheFileFails(range: Range<Int>, text: String) async throws {
        let file = try TemporaryFile(Data("from a file".utf8))
        defer { file.remove() }
        let error = await #expect(throws: SluiceError.self) {
            try await RequestBody.file(file.url, range: range).prepared(within: nil)
        }
        #expect(error?.code == .bodyUnavailable)
        #expect(error?.reason == "The file “\(file.url.path)” has 11 bytes and does not contain the range \(text).")
    }

    @Test func deferredBodyIsCreatedForEachPreparation() async throws {
        let count = Locked(0)
        let body = RequestBody.deferred(isReplayable: true) {
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .deferred(isReplayable: true) { .data(Data(count: number)) }
        }
        #expect(body.needsPreparation && body.isReplayable && body.length == nil && !body.isNone)
        #expect(try await body.prepared(within: nil).length == 1)
        #expect(try await body.prepared(within: nil).length == 2)
    }

    @Test func wrapsForeignErrorsAndPassesOnSluiceErrors() async {
        let broken = RequestBody.deferred(isReplayable: false) { throw Broken() }
        let error = await #expect(throws: SluiceError.self) { try await broken.prepared(within: nil) }
        #expect(error?.code == .bodyUnavailable)
        #expect(error?.underlyingError is Broken)
        let own = RequestBody.deferred(isReplayable: false) { throw SluiceError(.encodingFailed, "Mine.") }
        let ownError = await #expect(throws: SluiceError.self) { try await own.prepared(within: nil) }
        #expect(ownError?.reason == "Mine.")
    }

    /// Creates a body whose preparation ignores time-outs and cancellation, like a read from a failed disk.
    private func hangingBody(_ begun: @escaping @Sendable () -> Void) -> (RequestBody, release: @Sendable () -> Void) {
        let waiting = Locked<UnsafeContinuation<Void, Never>?>(nil)
        let body = RequestBody.deferred(isReplayable: false) {
            await withUnsafeContinuation { continuation in
                waiting.withLock { $0 = continuation }
                begun()
            }
            return .none
        }
        return (body, { waiting.withLock { $0.take() }?.resume() })
    }

    @Test func preparationThatHangsTimesOut() async {
        let (body, release) = hangingBody {}
        let error = await #expect(throws: SluiceError.self) { try await body.prepared(within: .milliseconds(20)) }
        #expect(error?.code == .timedOut)
        release()
    }

    @Test func cancellationEndsPreparationThatHangs() async {
        let (moments, moment) = AsyncStream<Void>.makeStream()
        let (body, release) = hangingBody { moment.yield() }
        let task = Task { try await body.prepared(within: .seconds(3600)) }
        for await _ in moments { break }
        task.cancel()
        let error = await #expect(throws: SluiceError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        release()
    }

    @Test func cancelledTaskDoesNotStartPreparation() async {
        let begun = Locked(false)
        let body = RequestBody.deferred(isReplayable: false) {
            begun.withLock { $0 = true }
            return .none
        }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await body.prepared(within: nil)
        }
        let error = await #expect(throws: SluiceError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(!begun.withLock { $0 })
    }

    @Test func acceptsTheLongestTimeout() async throws {
        let body = RequestBody.deferred(isReplayable: false) { .data(Data(count: 1)) }
        #expect(try await body.prepared(within: .seconds(Int64.max)).length == 1)
    }

    #if os(Linux)
    @Test func fileIsClosedAtItsEndWhileTheBodyIsHeld() async throws {
        let file = try TemporaryFile(Data("abc".utf8))
        defer { file.remove() }
        let prepared = try await RequestBody.file(file.url).prepared(within: nil)
        #expect(file.openDescriptors == 1)
        let next = try Self.reader(prepared)
        while try await next() != nil {}
        #expect(file.openDescriptors == 0)
        #expect(prepared.length == 3)
    }

    @Test func fileIsClosedWhenItsReaderOrUnreadBodyIsReleased() async throws {
        let file = try TemporaryFile(Data(count: 1 << 20))
        defer { file.remove() }
        let prepared = try await RequestBody.file(file.url).prepared(within: nil)
        do {
            let next = try Self.reader(prepared)
            _ = try await next()
            #expect(file.openDescriptors == 1)
            _ = try await next()
        }
        #expect(file.openDescriptors == 0)
        #expect(prepared.length == 1 << 20)
        do { _ = try await RequestBody.file(file.url).prepared(within: nil) }
        #expect(file.openDescriptors == 0)
    }
    #endif
}
