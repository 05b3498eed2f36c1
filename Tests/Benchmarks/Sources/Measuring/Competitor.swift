#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An HTTP client as its users hold it: one value, created once for all measurements of a process.
package protocol Competitor: Sendable {
    /// Creates the client.
    init(_ arguments: Arguments) async throws

    /// Gets `/user.json` and decodes it.
    func user() async throws -> User

    /// Gets a URL whose host is one of ``Arguments/hosts`` and decodes a user; nil if the client has no option for host
    /// addresses.
    func user(at url: String) async throws -> User?

    /// Gets a path several times concurrently, and keeps the connections open.
    ///
    /// - Parameters:
    ///   - count: The number of requests. The server may hold them so that all run at the same time.
    ///   - path: The path, without a leading slash.
    /// - Returns: The number of connections of the client; nil if the client does not report it.
    /// - Throws: The error of a request.
    func connect(_ count: Int, path: String) async throws -> Int?

    /// Gets a path into memory, with its content coding removed.
    ///
    /// - Parameter path: The path, without a leading slash.
    /// - Returns: The number of bytes.
    /// - Throws: The error of the request.
    func fetch(_ path: String) async throws -> Int

    /// Gets a path and reads it chunk by chunk, with its content coding removed.
    ///
    /// - Parameter path: The path, with a leading slash.
    /// - Returns: The number of bytes.
    /// - Throws: The error of the request.
    func download(_ path: String) async throws -> Int

    /// Puts a body of a known length to `/upload`, chunk by chunk.
    func upload(_ upload: Upload) async throws

    /// Creates a POST to `/search` with a query and a JSON body.
    ///
    /// - Parameters:
    ///   - search: The parameters of the query.
    ///   - user: The content of the body.
    ///   - encoder: The encoder of the body.
    /// - Returns: The number of bytes of the URL and the body.
    /// - Throws: The error of the encoder.
    func build(_ search: Search, _ user: User, _ encoder: JSONEncoder) throws -> Int

    /// Posts files as a multipart form to a path; nil if the client does not support multipart forms.
    func multipart(_ files: [String], path: String) async throws -> Bool?

    /// Downloads a path to a file, with or without a progress listener; nil if the client has no file downloads.
    func download(_ path: String, to file: String, isWatched: Bool) async throws -> Bool?

    /// Uploads a file with PUT; nil if the client has no file uploads.
    func upload(file: String, to path: String) async throws -> Bool?

    /// Reads server-sent events up to a count or the end, and returns their number; nil if the client does not support them.
    func events(at path: String, upTo count: Int) async throws -> Int?

    /// Decodes users from JSON whose types may differ from the declared ones; nil if the client has no such decoder.
    func lenient(_ json: Data) throws -> [Reading]?

    /// Stores entries of 4 KiB in a cache in a folder, and waits until they are on disk; nil if the client has no cache.
    func store(_ count: Int, in folder: String) async throws -> Bool?

    /// Opens a cache with a number of entries, creates it if it does not exist, and removes some entries in steps.
    ///
    /// - Parameters:
    ///   - count: The number of entries.
    ///   - folder: The folder of the cache.
    /// - Returns: The time to open the cache, and the longest step; nil if the client has no cache.
    /// - Throws: The error of the cache.
    func open(_ count: Int, in folder: String) async throws -> (opening: Duration, step: Duration)?

    /// Lets requests wait at one gate and then opens it; nil if the client has no gates.
    ///
    /// - Parameter count: The number of requests.
    /// - Returns: The time until the last request has its outcome, and the number of times that the gate's condition was
    ///   satisfied.
    /// - Throws: The error of a request.
    func release(_ count: Int) async throws -> (time: Duration, satisfactions: Int)?

    /// Sends equal requests concurrently; nil if the client does not share transfers.
    ///
    /// - Parameter count: The number of requests.
    /// - Returns: The time until the last request has its outcome, and the number of transfers.
    /// - Throws: The error of a request.
    func share(_ count: Int) async throws -> (time: Duration, transfers: Int)?

    /// Creates and runs a graph of empty steps; nil if the client has no graphs.
    ///
    /// - Parameter count: The number of steps.
    /// - Returns: The duration, and the number of steps that ran.
    /// - Throws: The error of a step.
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

/// The parameters of a query.
package struct Search: Sendable {
    package let words = "swift http client"
    package let page = 3
    package let sort = "name"
}

/// A body to send: one chunk, repeated.
package struct Upload: Sendable {
    /// The path of the target, with a leading slash.
    package let path: String
    /// The total number of bytes.
    package let length: Int
    /// The number of bytes in a chunk; a divisor of `length`.
    package let chunkLength = 128 << 10
    /// The path of a file of the same length, for clients that cannot send an asynchronous sequence.
    package let file: String

    /// Returns the body as an asynchronous sequence of the client's chunk type.
    package func chunks<Chunk: Sendable>(of chunk: Chunk) -> Chunks<Chunk> {
        Chunks(chunk: chunk, count: length / chunkLength)
    }
}

/// One chunk, repeated.
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
