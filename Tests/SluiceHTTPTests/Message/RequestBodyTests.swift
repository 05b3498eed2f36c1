import SluiceHTTP
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite struct RequestBodyTests {
    private struct Chunks: AsyncSequence, Sendable {
        struct Broken: Error {}

        let texts: [String]
        var isBroken = false

        struct Iterator: AsyncIteratorProtocol {
            var texts: ArraySlice<String>
            let isBroken: Bool

            mutating func next() async throws -> Data? {
                if let text = texts.popFirst() { return Data(text.utf8) }
                if isBroken { throw Broken() }
                return nil
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(texts: texts[...], isBroken: isBroken) }
    }

    private static func reader(_ body: RequestBody) throws -> RequestBody.Reader {
        guard case .stream(let stream) = body.source else { throw NotAStream() }
        return stream.open()
    }

    private struct NotAStream: Error {}

    @Test(
        arguments: [
            (.none, 0, true, true), (.data(Data()), 0, true, false), (.data(Data("four".utf8)), 4, true, false),
            (.data(Data("xfourx".utf8).dropFirst().dropLast()), 4, true, false),
            (.file(URL(filePath: "/no/such")), nil, true, false), (.stream(Chunks(texts: [])), nil, false, false),
            (.stream(Chunks(texts: ["a"]), length: 1), 1, false, false),
            (.stream(Chunks(texts: ["a"]), length: 1, isReplayable: true), 1, true, false),
            (.stream(Chunks(texts: ["a"]), isReplayable: true), nil, true, false),
        ] as [(RequestBody, Int64?, Bool, Bool)]
    )
    func lengthAndReplayabilityFollowFromTheSource(
        body: RequestBody,
        length: Int64?,
        isReplayable: Bool,
        isNone: Bool
    ) {
        #expect(body.length == length)
        #expect(body.isReplayable == isReplayable)
        #expect(body.isNone == isNone)
    }

    @Test func eachOpenedStreamBeginsAtTheStart() async throws {
        let body = RequestBody.stream(Chunks(texts: ["a", "b"]), isReplayable: true)
        let first = try Self.reader(body)
        #expect(try await first() == Data("a".utf8))
        let second = try Self.reader(body)
        #expect(try await second() == Data("a".utf8))
        #expect(try await first() == Data("b".utf8))
        #expect(try await first() == nil)
        #expect(try await second() == Data("b".utf8))
    }

    @Test func streamThrowsTheErrorOfItsSource() async throws {
        let next = try Self.reader(.stream(Chunks(texts: ["a"], isBroken: true)))
        #expect(try await next() == Data("a".utf8))
        await #expect(throws: Chunks.Broken.self) { try await next() }
    }

    @Test func fileBodyKeepsItsURL() throws {
        guard case .file(let url, nil) = RequestBody.file(URL(filePath: "/tmp/a b")).source else {
            Issue.record("The body of a file has another source.")
            return
        }
        #expect(url.path == "/tmp/a b")
    }
}
