import Synchronization

/// The body of a request or a response: an asynchronous sequence of chunks of bytes.
public final class HTTPBody: Sendable {
    /// A piece of a body.
    public typealias ByteChunk = ArraySlice<UInt8>

    /// The number of times that a body can be iterated.
    public enum IterationBehavior: Sendable {
        /// Once. A second iteration fails.
        case single
        /// Any number of times, for a request that is sent again.
        case multiple
    }

    /// The length of a body.
    public enum Length: Sendable, Equatable {
        /// The length is not known before the end.
        case unknown
        /// The number of bytes.
        case known(Int64)
    }

    /// The number of times that the body can be iterated.
    public let iterationBehavior: IterationBehavior
    /// The length of the body.
    public let length: Length
    private let open: @Sendable () -> Iterator
    private let isOpened = Mutex(false)

    /// Creates a body from a sequence of chunks.
    ///
    /// - Parameters:
    ///   - sequence: The chunks.
    ///   - length: The length of all chunks together.
    ///   - iterationBehavior: The number of times that the sequence can be iterated.
    public init<Bytes: AsyncSequence>(_ sequence: Bytes, length: Length, iterationBehavior: IterationBehavior)
    where Bytes: Sendable, Bytes.Element == ByteChunk {
        self.length = length
        self.iterationBehavior = iterationBehavior
        open = {
            var iterator = sequence.makeAsyncIterator()
            return Iterator { try await iterator.next() }
        }
    }
}

extension HTTPBody: AsyncSequence {
    /// A piece of the body.
    public typealias Element = ByteChunk

    /// An iterator over the chunks.
    public struct Iterator: AsyncIteratorProtocol {
        private let produce: () async throws -> ByteChunk?

        init(produce: @escaping () async throws -> ByteChunk?) {
            self.produce = produce
        }

        /// Returns the next chunk; nil at the end.
        public mutating func next() async throws -> ByteChunk? { try await produce() }
    }

    /// Returns an iterator. The second one of a body that can be iterated once fails with the first chunk.
    public func makeAsyncIterator() -> Iterator {
        let wasOpened = isOpened.withLock { isOpened in
            defer { isOpened = true }
            return isOpened
        }
        if wasOpened && iterationBehavior == .single { return Iterator { throw TooManyIterationsError() } }
        return open()
    }
}

/// The error of a second iteration of a body that can be iterated once.
struct TooManyIterationsError: Error, CustomStringConvertible {
    let description = "The body can be iterated only once."
}
