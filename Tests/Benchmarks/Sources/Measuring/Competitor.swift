/// An HTTP client as its users would hold it: one value, made once, for all that is measured in a process.
package protocol Competitor: Sendable {
    /// Makes the client.
    init(_ arguments: Arguments) throws

    /// Gets `/user.json` and decodes it.
    func user() async throws -> User

    /// Gets `/file`, looks at it chunk by chunk and returns how many bytes there were.
    func download() async throws -> Int

    /// Puts a body of a known length to `/upload`, chunk by chunk.
    func upload(_ upload: Upload) async throws
}

/// A body to be sent: the same chunk, as often as it takes.
package struct Upload: Sendable {
    /// Where it goes: a path that begins with a slash.
    package let path: String
    /// Bytes in all.
    package let length: Int
    /// Bytes in one chunk; a divisor of `length`.
    package let chunkLength = 128 << 10
    /// A file of just that length, for clients that cannot take the body from an asynchronous sequence.
    package let file: String

    /// The body as an asynchronous sequence of whatever type the client takes.
    package func chunks<Chunk: Sendable>(of chunk: Chunk) -> Chunks<Chunk> {
        Chunks(chunk: chunk, count: length / chunkLength)
    }
}

/// The same chunk, over and over.
package struct Chunks<Chunk: Sendable>: AsyncSequence, Sendable {
    package typealias Failure = Never

    package let chunk: Chunk
    package let count: Int

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let chunk: Chunk
        fileprivate var left: Int

        package mutating func next() async -> Chunk? {
            if left == 0 { return nil }
            left -= 1
            return chunk
        }
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(chunk: chunk, left: count)
    }
}
