import SluiceFoundation
import SluiceHTTP

/// A parser that makes elements from a body that arrives in chunks.
///
/// The reader appends a chunk, calls ``next()`` until it returns nil, and then appends the next chunk. A parser
/// therefore holds at most one incomplete element and the rest of one chunk. The result must not depend on the
/// boundaries of the chunks.
///
/// ```swift
/// struct Records: StreamParser {
///     private var bytes = Data()
///
///     mutating func append(_ chunk: Data) { bytes.append(chunk) }
///     mutating func finish() {}
///     var unread: Data { bytes }
///     mutating func next() throws(SluiceError) -> Data? {
///         guard bytes.count >= 16 else { return nil }
///         defer { bytes = Data(bytes.dropFirst(16)) }
///         return Data(bytes.prefix(16))
///     }
/// }
/// ```
public protocol StreamParser<Element>: Sendable {
    /// The type of the elements.
    associatedtype Element: Sendable

    /// Appends the next bytes.
    mutating func append(_ chunk: Data)

    /// Signals the end of the body.
    mutating func finish()

    /// The bytes that have been appended and that no returned element contains.
    ///
    /// Another loop over the same ``StreamedResponse`` begins with them.
    var unread: Data { get }

    /// Returns the next element, or nil if it is incomplete or there is none.
    ///
    /// - Returns: The next element.
    /// - Throws: A ``SluiceError``, which ends the stream.
    mutating func next() throws(SluiceError) -> Element?
}

extension SluiceError.Code {
    /// A line or an event of a stream exceeds its size limit.
    public static let elementTooLarge = SluiceError.Code("elementTooLarge")
}

/// A parser that continues the numbering of another one.
protocol ContinuingParser: StreamParser {
    mutating func resume(after other: any StreamParser)
}

/// A parser that may have read the first half of a line ending.
protocol LineFeedExpectingParser: StreamParser {
    /// True if a line feed at the beginning of the next chunk belongs to the bytes that have been read.
    var expectsLineFeed: Bool { get }
}

/// The parser of a loop over a response. The parser of another loop can take over the bytes that it has not returned.
protocol SharedParsing: AnyObject, Sendable {
    /// True if a line feed at the beginning of the next chunk belongs to the bytes that have been read.
    var expectsLineFeed: Bool { get }

    /// Takes over the unread bytes of another parser.
    func takeOver(from other: any SharedParsing)

    /// Removes the unread bytes. Returns them with the parser that had them.
    func takeUnread() -> (Data, any StreamParser)
}

final class SharedParser<Element: Sendable>: SharedParsing {
    private struct State {
        var parser: any StreamParser<Element>
        var isFinished = false
    }

    private let initial: any StreamParser<Element>
    private let state: Locked<State>

    /// Creates a shared parser.
    ///
    /// - Parameter parser: A parser to which nothing has been appended.
    init(_ parser: any StreamParser<Element>) {
        initial = parser
        state = Locked(State(parser: parser))
    }

    var isFinished: Bool { state.withLock { $0.isFinished } }

    var expectsLineFeed: Bool {
        state.withLock { ($0.parser as? any LineFeedExpectingParser)?.expectsLineFeed ?? false }
    }

    func append(_ chunk: Data) {
        state.withLock { $0.parser.append(chunk) }
    }

    func finish() {
        state.withLock { state in
            state.parser.finish()
            state.isFinished = true
        }
    }

    func next() throws(SluiceError) -> Element? {
        let result = state.withLock { state in
            Result { () throws(SluiceError) in try state.parser.next() }
        }
        return try result.get()
    }

    func takeOver(from other: any SharedParsing) {
        let (unread, parser) = other.takeUnread()
        state.withLock { state in
            if var continuing = state.parser as? any ContinuingParser {
                continuing.resume(after: parser)
                if let continued = continuing as? any StreamParser<Element> { state.parser = continued }
            }
            if !unread.isEmpty { state.parser.append(unread) }
        }
    }

    func takeUnread() -> (Data, any StreamParser) {
        state.withLock { state in
            defer { state = State(parser: initial) }
            return (state.parser.unread, state.parser)
        }
    }
}

/// Reads chunks and returns the elements that a parser makes from them, one at a time. Waits only if the next element
/// is not complete yet.
struct ElementReader<Chunks: AsyncIteratorProtocol, Element: Sendable>
where Chunks.Element == Data, Chunks.Failure == SluiceError {
    /// The source of chunks. Set to nil once the stream is over, so that the sender can stop.
    private var chunks: Chunks?
    private let parser: SharedParser<Element>
    /// The body whose unread bytes come first; nil if there is no other reader.
    private var body: StreamedBody?

    init(_ chunks: Chunks, _ parser: any StreamParser<Element>, sharing body: StreamedBody? = nil) {
        self.chunks = chunks
        self.parser = SharedParser(parser)
        self.body = body
    }

    /// Returns the next element, or nil at the end and after an error.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Element? {
        do {
            while chunks != nil {
                body?.activate(parser)
                if let element = try parser.next() { return element }
                if parser.isFinished { break }
                let chunk = try await chunks?.next(isolation: actor)
                // Another loop may have read in the meantime.
                body?.activate(parser)
                if let chunk { parser.append(chunk) } else { parser.finish() }
            }
        } catch {
            (chunks, body) = (nil, nil)
            throw error
        }
        (chunks, body) = (nil, nil)
        return nil
    }
}
