import Sluice
import SluiceHTTP
import SluiceTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(10))) struct MultipartReaderTests {
    private static let pieceSize = 256 << 10

    private static func error(_ form: MultipartForm) async -> SluiceError? {
        await #expect(throws: SluiceError.self) { try await form.body().pieces() }
    }

    @Test func smallPartsAreJoinedIntoPieces() async throws {
        var form = MultipartForm()
        for number in 0..<10_000 { form.append(.text("value \(number)", name: "field \(number)")) }
        let body = try form.body()
        let pieces = try await body.pieces()
        #expect(Int64(pieces.reduce(0) { $0 + $1.count }) == body.length)
        #expect(pieces.dropLast().allSatisfy { (Self.pieceSize / 2...Self.pieceSize).contains($0.count) })
        #expect(pieces.count < 20)
    }

    @Test func smallFilesAreJoinedIntoPieces() async throws {
        let file = try TemporaryFile(Data("file".utf8))
        defer { file.remove() }
        var form = MultipartForm()
        for number in 0..<1000 { form.append(.file(file.url, name: "\(number)")) }
        let pieces = try await form.body().pieces()
        #expect(pieces.count == 2)
        #expect(pieces.allSatisfy { $0.count <= Self.pieceSize })
    }

    @Test func largePartsAreSplitIntoPieces() async throws {
        let data = Data((0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        let file = try TemporaryFile(data)
        defer { file.remove() }
        var chunks = Chunks()
        chunks.chunks = [data]
        for part: MultipartForm.Part in [.data(data), .file(file.url), .stream(chunks)] {
            let form = MultipartForm(.mixed, boundary: "b").adding(part, .text("behind"))
            let pieces = try await form.body().pieces()
            #expect(pieces.allSatisfy { $0.count <= Self.pieceSize && !$0.isEmpty })
            #expect(pieces.count <= 7)
            let whole = pieces.reduce(Data(), +)
            let head = try #require(whole.firstRange(of: Data("\r\n\r\n".utf8)))
            #expect(whole[head.upperBound...].prefix(data.count) == data)
            #expect(whole[head.upperBound...].dropFirst(data.count) == Data("\r\n--b\r\n\r\nbehind\r\n--b--\r\n".utf8))
        }
    }

    /// Available bytes must not wait for a slow stream.
    @Test func availableBytesAreSentBeforeTheNextChunkOfAStream() async throws {
        let form = MultipartForm(.mixed, boundary: "b")
            .adding(.text("before"), .stream(Chunks("one", "two"), contentType: "a/b"), .text("behind"))
        let pieces = try await form.body().pieces().map { String(decoding: $0, as: UTF8.self) }
        #expect(
            pieces == [
                "--b\r\n\r\nbefore\r\n--b\r\nContent-Type: a/b\r\n\r\n", "one", "two",
                "\r\n--b\r\n\r\nbehind\r\n--b--\r\n",
            ]
        )
    }

    @Test(
        arguments: [
            (Chunks("ab"), 3, "only 2"), (Chunks(), 3, "only 0"), (Chunks("abc", "", "d"), 3, "more"),
            (Chunks("abcd"), 3, "more"), (Chunks("a"), 0, "more"),
        ] as [(Chunks, Int64, String)]
    )
    func aStreamWithADifferentLengthFails(chunks: Chunks, length: Int64, given: String) async {
        let inner = MultipartForm(.mixed).adding(.stream(chunks, length: length, name: "s"), .text("a"))
        // The length of both together is correct.
        let other = Chunks(String(repeating: "x", count: 10))
        let form = MultipartForm().adding(.nested(inner, name: "n"), .stream(other, name: "o"))
        let error = await Self.error(form)
        #expect(error?.code == .bodyLengthMismatch)
        #expect(error?.reason == "The part “n/s” was expected to have \(length) bytes, but had \(given).")
    }

    @Test func anErrorOfAStreamIsTheUnderlyingError() async {
        let error = await Self.error([.stream(Chunks("a", isBroken: true), name: "s")])
        #expect(error?.code == .bodyUnavailable)
        #expect(error?.reason == "The part “s” could not be read.")
        #expect(error?.underlyingError is Chunks.Broken)
    }

    @Test func aStreamThatEndsWithTheCancelledTaskIsCancelled() async {
        let stream = AsyncThrowingStream<Data, any Error> {
            withUnsafeCurrentTask { $0?.cancel() }
            throw CancellationError()
        }
        let error = await Task { await Self.error([.stream(stream, name: "s")]) }.value
        #expect(error?.code == .cancelled)
    }

    @Test(arguments: [(Data?.none, "cannot be sent"), (Data(count: 2), "2 now"), (Data(count: 4), "4 now")])
    func aFileThatChangesBeforeItIsReadFails(changed: Data?, words: String) async throws {
        let file = try TemporaryFile(Data(count: 3))
        defer { file.remove() }
        let chunks = Chunks("a") {
            if let changed { try? file.write(changed) } else { file.remove() }
        }
        let error = await Self.error([.stream(chunks, name: "s"), .file(file.url, name: "f")])
        #expect(error?.code == (changed == nil ? .bodyUnavailable : .bodyLengthMismatch))
        #expect(error?.reason.contains("“f”") == true && error?.reason.contains(words) == true)
    }

    @Test(arguments: [(900_000, "more"), (500_000, "500000")])
    func aFileThatChangesWhileItIsReadFails(count: Int, words: String) async throws {
        let file = try TemporaryFile(Data(count: 800_000))
        defer { file.remove() }
        let body = try await MultipartForm().adding(.file(file.url, name: "f")).body().prepared(within: nil)
        guard case .stream(let stream) = body.source else {
            Issue.record("A form with a file is no stream.")
            return
        }
        let next = stream.open()
        _ = try await next()
        try file.write(Data(count: count))
        let error = await #expect(throws: SluiceError.self) { while try await next() != nil {} }
        #expect(error?.code == .bodyLengthMismatch)
        #expect(error?.reason.hasSuffix("had 800000 bytes when the request started, but has \(words) now.") == true)
    }

    @Test func aReplayableBodyCanBeReadTwice() async throws {
        let file = try TemporaryFile(Data("file".utf8))
        defer { file.remove() }
        let form = MultipartForm().adding(
            .stream(Chunks("s"), name: "s", isReplayable: true),
            .file(file.url, name: "f")
        )
        let body = try form.body()
        #expect(try await body.text() == (try await body.text()))
        #expect(try await body.prepared(within: nil).isReplayable)
    }

    #if os(Linux)
    @Test func filesAreOpenedOneAtATime() async throws {
        let files = try (0..<3).map { _ in try TemporaryFile(Data(count: 300_000)) }
        defer { for file in files { file.remove() } }
        var form = MultipartForm()
        for file in files { form.append(.file(file.url, name: "f")) }
        let body = try await form.body().prepared(within: nil)
        #expect(files.map(\.openDescriptors) == [0, 0, 0])
        guard case .stream(let stream) = body.source else {
            Issue.record("A form with a file is no stream.")
            return
        }
        let next = stream.open()
        var most = 0
        while try await next() != nil { most = max(most, files.reduce(0) { $0 + $1.openDescriptors }) }
        #expect(most == 1)
        #expect(files.map(\.openDescriptors) == [0, 0, 0])
    }
    #endif
}
