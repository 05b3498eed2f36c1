#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An HTTP client as its users would hold it: one value, made once, for all that is measured in a process.
package protocol Competitor: Sendable {
    /// Makes the client.
    init(_ arguments: Arguments) async throws

    /// Gets `/user.json` and decodes it.
    func user() async throws -> User

    /// Gets a URL whose host is one of ``Arguments/hosts`` and decodes a user; nil for a client that cannot be told where hosts are.
    func user(at url: String) async throws -> User?

    /// Gets a path so many times at once, and keeps the connections.
    ///
    /// - Parameters:
    ///   - count: The number of requests, which are all under way at the same time if the server wants it so.
    ///   - path: The path, without a slash in front.
    /// - Returns: The number of connections that the client then has; nil for a client that cannot tell.
    /// - Throws: The error of a request.
    func connect(_ count: Int, path: String) async throws -> Int?

    /// Gets a path into memory, without its content coding.
    ///
    /// - Parameter path: The path, without a slash in front.
    /// - Returns: How many bytes there were.
    /// - Throws: The error of the request.
    func fetch(_ path: String) async throws -> Int

    /// Gets a path and looks at it chunk by chunk, without its content coding.
    ///
    /// - Parameter path: The path, with a slash in front.
    /// - Returns: How many bytes there were.
    /// - Throws: The error of the request.
    func download(_ path: String) async throws -> Int

    /// Puts a body of a known length to `/upload`, chunk by chunk.
    func upload(_ upload: Upload) async throws

    /// Makes a POST to `/search`, the parts of the search in its query and the user as JSON in its body.
    ///
    /// - Parameters:
    ///   - search: What goes into the query.
    ///   - user: What goes into the body.
    ///   - encoder: What encodes the body.
    /// - Returns: How many bytes its URL and body have.
    /// - Throws: What the encoder throws.
    func build(_ search: Search, _ user: User, _ encoder: JSONEncoder) throws -> Int

    /// Posts files as a multipart form to a path; nil for a client that has no such forms.
    func multipart(_ files: [String], path: String) async throws -> Bool?

    /// Gets a path into a file by the client's own means for that, while somebody listens to its progress or not; nil for a client
    /// that has no such means.
    func download(_ path: String, to file: String, isWatched: Bool) async throws -> Bool?

    /// Puts a file to a path by the client's own means for that; nil for a client that has none.
    func upload(file: String, to path: String) async throws -> Bool?

    /// Reads so many events of a stream of server-sent events, or all there are; how many, nil for a client that cannot.
    func events(at path: String, upTo count: Int) async throws -> Int?

    /// Decodes users from JSON whose types are not always the declared ones; nil for a client that has no such decoder.
    func lenient(_ json: Data) throws -> [Reading]?

    /// Keeps so many entries of 4 KiB in a cache in a folder, until they are on disk; whether it did, nil for a client without a cache.
    func store(_ count: Int, in folder: String) async throws -> Bool?

    /// Opens a cache that holds so many entries, which it makes if it does not, and removes some in steps.
    ///
    /// - Parameters:
    ///   - count: How many entries it holds.
    ///   - folder: Where it is.
    /// - Returns: How long it took to open it, and the longest step; nil for a client without a cache.
    /// - Throws: What the cache throws.
    func open(_ count: Int, in folder: String) async throws -> (opening: Duration, step: Duration)?

    /// Has requests wait at one gate until all of them do, and lets them go; nil for a client that has no gates.
    ///
    /// - Parameter count: How many wait.
    /// - Returns: How long it takes until the last one has its outcome, and how often the gate's condition was brought about.
    /// - Throws: What a request throws.
    func release(_ count: Int) async throws -> (time: Duration, satisfactions: Int)?

    /// Sends so many equal requests at once; nil for a client whose requests share no transfer.
    ///
    /// - Parameter count: How many.
    /// - Returns: How long it takes until the last one has its outcome, and how many transfers there were.
    /// - Throws: What a request throws.
    func share(_ count: Int) async throws -> (time: Duration, transfers: Int)?

    /// Makes and runs a graph of so many steps that do nothing but return; nil for a client that has no graphs.
    ///
    /// - Parameter count: How many steps.
    /// - Returns: How long it takes, and how many steps ran.
    /// - Throws: What a step throws.
    func runGraph(_ count: Int) async throws -> (time: Duration, steps: Int)?
}

extension Competitor {
    package func user(at url: String) async throws -> User? { nil }
    package func connect(_ count: Int, path: String) async throws -> Int? { nil }
    package func multipart(_ files: [String], path: String) async throws -> Bool? { nil }
    package func download(_ path: String, to file: String, isWatched: Bool) async throws -> Bool? { nil }
    package func upload(file: String, to path: String) async throws -> Bool? { nil }
    package func events(at path: String, upTo count: Int) async throws -> Int? { nil }
    package func store(_ count: Int, in folder: String) async throws -> Bool? { nil }
    package func open(_ count: Int, in folder: String) async throws -> (opening: Duration, step: Duration)? { nil }
    package func lenient(_ json: Data) throws -> [Reading]? { nil }
    package func release(_ count: Int) async throws -> (time: Duration, satisfactions: Int)? { nil }
    package func share(_ count: Int) async throws -> (time: Duration, transfers: Int)? { nil }
    package func runGraph(_ count: Int) async throws -> (time: Duration, steps: Int)? { nil }
}

/// The parts of a query.
package struct Search: Sendable {
    package let words = "swift http client"
    package let page = 3
    package let sort = "name"
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
